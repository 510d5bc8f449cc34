/* Datatypes: made of others, sent, packed, taken apart again. */
#include "report.h"
#include <stddef.h>

static int out[400], in[400];
static char packed[8000];

static void fill(void) {
    for (int i = 0; i < 400; i++) out[i] = rank * 1000 + i;
    memset(in, 0, sizeof in);
}

/* Sends values of a datatype around, and packs them. */
static long around(MPI_Datatype type, int count) {
    MPI_Aint low, extent;
    int bytes, at = 0, room;
    fill();
    MPI_Type_commit(&type);
    MPI_Sendrecv(out, count, type, after(1), 0, in, count, type, before(1), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    long total = sum_of(in, 400);
    MPI_Type_size(type, &bytes);
    MPI_Type_get_extent(type, &low, &extent);
    MPI_Pack_size(count, type, MPI_COMM_WORLD, &room);
    check(room >= bytes * count && room <= (int)sizeof packed, "room for what is packed");
    MPI_Pack(out, count, type, packed, sizeof packed, &at, MPI_COMM_WORLD);
    memset(in, 0, sizeof in);
    int end = at;
    at = 0;
    MPI_Unpack(packed, end, &at, in, count, type, MPI_COMM_WORLD);
    check(at == end, "all is unpacked");
    total += sum_of(in, 400) + bytes * 7 + (long)low * 3 + (long)extent;
    MPI_Aint place = 0;
    MPI_Pack_external("external32", out, count, type, packed, sizeof packed, &place);
    for (int i = 0; i < place; i++) total = total * 3 % 1000003 + (unsigned char)packed[i];
    MPI_Type_free(&type);
    return total;
}

/* In external32 a long has four bytes: what is more is cut off. */
static void longs(void) {
    long mine[4] = {1, -2, rank, 0x123456789aL}, back[3];
    unsigned char bytes[64];
    MPI_Aint place = 0;
    MPI_Pack_external("external32", mine, 4, MPI_LONG, bytes, sizeof bytes, &place);
    char text[3 * sizeof bytes + 1] = "";
    for (int i = 0; i < place; i++) sprintf(text + 3 * i, " %02x", bytes[i]);
    printf("longs %d: %ld bytes%s\n", rank, (long)place, text);
    place = 0;
    MPI_Unpack_external("external32", bytes, sizeof bytes, &place, back, 3, MPI_LONG);
    check(back[0] == 1 && back[1] == -2 && back[2] == rank && place == 12, "longs from external32");
}

static void made(void) {
    MPI_Datatype type, part;
    int lengths[3] = {2, 1, 3}, places[3] = {0, 5, 10};
    MPI_Type_contiguous(10, MPI_INT, &type);
    printf("contiguous %d: %ld\n", rank, around(type, 3));
    MPI_Type_vector(4, 2, 5, MPI_INT, &type);
    printf("vector %d: %ld\n", rank, around(type, 2));
    MPI_Type_create_hvector(3, 1, 24, MPI_INT, &type);
    printf("hvector %d: %ld\n", rank, around(type, 2));
    MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
    printf("indexed %d: %ld\n", rank, around(type, 3));
    MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &type);
    printf("indexed block %d: %ld\n", rank, around(type, 3));
    int sizes[2] = {6, 8}, some[2] = {2, 3}, first[2] = {1, 2};
    MPI_Type_create_subarray(2, sizes, some, first, MPI_ORDER_C, MPI_INT, &type);
    printf("subarray %d: %ld\n", rank, around(type, 2));
    MPI_Type_create_subarray(2, sizes, some, first, MPI_ORDER_FORTRAN, MPI_INT, &type);
    printf("subarray of Fortran %d: %ld\n", rank, around(type, 2));
    int all[1] = {24}, how[1] = {MPI_DISTRIBUTE_CYCLIC}, by[1] = {2}, grid[1] = {3};
    MPI_Type_create_darray(3, 1, 1, all, how, by, grid, MPI_ORDER_C, MPI_INT, &type);
    printf("darray %d: %ld\n", rank, around(type, 2));
    MPI_Type_vector(2, 1, 3, MPI_INT, &part);
    MPI_Type_create_resized(part, 0, 8 * sizeof(int), &type);
    MPI_Type_free(&part);
    printf("resized %d: %ld\n", rank, around(type, 4));
}

struct record {
    char letter;
    double weight;
    int numbers[3];
};

static void records(void) {
    struct record mine[5], theirs[5];
    MPI_Datatype plain, type, types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
    int lengths[3] = {1, 1, 3}, integers, addresses, count, kind;
    MPI_Aint places[3] = {offsetof(struct record, letter), offsetof(struct record, weight), offsetof(struct record, numbers)};
    MPI_Type_create_struct(3, lengths, places, types, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(struct record), &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 5; i++) mine[i] = (struct record){'a' + rank, rank + i / 2.0, {i, rank, i * rank}};
    MPI_Sendrecv(mine, 5, type, after(1), 1, theirs, 5, type, before(1), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_get_envelope(plain, &integers, &addresses, &count, &kind);
    int found[8];
    MPI_Aint at[8];
    MPI_Datatype parts[8];
    check(kind == MPI_COMBINER_STRUCT && integers == 4 && count == 3, "envelope");
    MPI_Type_get_contents(plain, integers, addresses, count, found, at, parts);
    MPI_Status status;
    int elements;
    MPI_Send(mine, 1, type, rank, 2, MPI_COMM_SELF == MPI_COMM_NULL ? MPI_COMM_NULL : MPI_COMM_WORLD);
    MPI_Recv(theirs + 1, 2, type, rank, 2, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, type, &elements);
    printf("records %d: %c %.1f %d %d, %d, %ld %d\n", rank, theirs[4].letter, theirs[4].weight, theirs[4].numbers[1],
           theirs[4].numbers[2], elements, (long)at[2], parts[1] == MPI_DOUBLE);
    MPI_Type_free(&plain);
    MPI_Type_free(&type);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    while (rounds-- > 0) {
        made();
        longs();
        records();
    }
    MPI_Finalize();
    return 0;
}
