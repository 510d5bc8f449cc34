/* Files: modes, views, pointers of a rank and of all, collectives, requests, errors. The second argument is a name that
 * files begin with; they stay. */
#include "report.h"

enum { COUNT = 1000 };
static const char *prefix;
static int out[COUNT], in[COUNT];

static const char *name(const char *of) {
    static char path[4096];
    snprintf(path, sizeof path, "%s-%s", prefix, of);
    return path;
}

static MPI_File opened(const char *of, int mode) {
    MPI_File file;
    int error = MPI_File_open(MPI_COMM_WORLD, name(of), mode, MPI_INFO_NULL, &file);
    check(error == MPI_SUCCESS && file != MPI_FILE_NULL, "open");
    return file;
}

static void closed(MPI_File *file) {
    check(MPI_File_close(file) == MPI_SUCCESS && *file == MPI_FILE_NULL, "close");
}

static void fill(int seed) {
    for (int i = 0; i < COUNT; i++) out[i] = seed * COUNT + i;
}

static void got(MPI_Status *status, int wanted) {
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    check(count == wanted, "count of a status");
}

/* Each its own part, at offsets. */
static void offsets(void) {
    MPI_Status status;
    MPI_Offset length;
    MPI_File file = opened("offsets", MPI_MODE_CREATE | MPI_MODE_RDWR);
    fill(rank);
    MPI_File_write_at(file, (MPI_Offset)rank * sizeof out, out, COUNT, MPI_INT, &status);
    got(&status, COUNT);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_read_at(file, (MPI_Offset)after(1) * sizeof out, in, COUNT, MPI_INT, &status);
    got(&status, COUNT);
    check(in[7] == after(1) * COUNT + 7, "what another rank has written");
    MPI_File_get_size(file, &length);
    check(length == (MPI_Offset)sizeof out * size, "size");
    /* Behind the end there is nothing. */
    MPI_File_read_at(file, length - 8, in, COUNT, MPI_INT, &status);
    got(&status, 2);
    MPI_File_read_at(file, length, in, COUNT, MPI_INT, &status);
    got(&status, 0);
    printf("offsets %d: %ld\n", rank, (long)length);
    closed(&file);
}

/* Values of all ranks in turns: each sees its own. */
static void views(void) {
    MPI_Status status;
    MPI_Datatype turn, whole, etype, filetype;
    MPI_Offset at, displacement;
    char form[MPI_MAX_DATAREP_STRING];
    MPI_File file = opened("views", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Type_vector(1, 5, 5, MPI_INT, &turn);
    MPI_Type_create_resized(turn, 0, 5 * sizeof(int) * size, &whole);
    MPI_Type_commit(&whole);
    MPI_File_set_view(file, 16 + rank * 5 * sizeof(int), MPI_INT, whole, "native", MPI_INFO_NULL);
    fill(rank + 1);
    MPI_File_write_all(file, out, 500, MPI_INT, &status);
    got(&status, 500);
    MPI_File_write(file, out + 500, 10, MPI_INT, &status);
    MPI_File_get_position(file, &at);
    check(at == 510, "position after writing");
    MPI_File_get_byte_offset(file, 7, &displacement);
    check(displacement == 16 + rank * 20 + size * 20 + 8, "offset of a position");
    MPI_File_seek(file, -7, MPI_SEEK_CUR);
    MPI_File_read(file, in, 7, MPI_INT, &status);
    got(&status, 7);
    check(in[0] == out[503] && in[6] == out[509], "what it has written");
    MPI_File_get_view(file, &displacement, &etype, &filetype, form);
    check(displacement == 16 + rank * 20 && etype == MPI_INT && !strcmp(form, "native"), "view");
    MPI_Type_free(&filetype);
    MPI_Barrier(MPI_COMM_WORLD);
    /* All of it, as bytes. */
    MPI_File_set_view(file, 16, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at_all(file, 5 * size, in, 5 * size, MPI_INT, &status);
    got(&status, 5 * size);
    check(in[5] == 2 * COUNT + 5, "a part of another rank");
    printf("views %d: %ld\n", rank, sum_of(in, 5 * size));
    MPI_Type_free(&whole);
    MPI_Type_free(&turn);
    closed(&file);
}

/* As all machines read them. */
static void external(void) {
    enum { VALUES = 100 };
    static double mine[VALUES], theirs[VALUES];
    static short small[VALUES];
    MPI_Offset displacement, each = VALUES * (sizeof mine[0] + sizeof small[0]);
    MPI_Datatype etype, filetype;
    MPI_Status status;
    char form[MPI_MAX_DATAREP_STRING];
    int count;
    MPI_File file = opened("external", MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int i = 0; i < VALUES; i++) mine[i] = rank + i * 0.25, small[i] = (short)(rank * 300 - i);
    MPI_File_set_view(file, rank * each, MPI_DOUBLE, MPI_DOUBLE, "external32", MPI_INFO_NULL);
    MPI_File_get_view(file, &displacement, &etype, &filetype, form);
    check(displacement == rank * each && !strcmp(form, "external32"), "view in external32");
    MPI_File_write_at_all(file, 0, mine, VALUES, MPI_DOUBLE, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    check(count == VALUES, "count in external32");
    MPI_File_set_view(file, rank * each + sizeof mine, MPI_SHORT, MPI_SHORT, "external32", MPI_INFO_NULL);
    MPI_File_write_all(file, small, VALUES, MPI_SHORT, &status);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(file, after(1) * each, MPI_DOUBLE, MPI_DOUBLE, "external32", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, theirs, VALUES, MPI_DOUBLE, &status);
    check(theirs[7] == after(1) + 7 * 0.25 && theirs[99] == after(1) + 99 * 0.25, "what another rank has written in external32");
    printf("external %d: %g\n", rank, theirs[3]);
    closed(&file);
}

/* A matrix in blocks, from memory with a border. */
static void blocks(void) {
    enum { SIDE = 12, HALF = SIDE / 2, BORDERED = HALF + 2 };
    static double mine[BORDERED][BORDERED], all[SIDE][SIDE];
    MPI_Datatype inner, block;
    MPI_Status status;
    int row = rank / 2 % 2, column = rank % 2, count;
    int sizes[] = {SIDE, SIDE}, parts[] = {HALF, HALF}, starts[] = {row * HALF, column * HALF};
    int bordered[] = {BORDERED, BORDERED}, ones[] = {1, 1};
    for (int i = 0; i < BORDERED; i++)
        for (int j = 0; j < BORDERED; j++) mine[i][j] = rank * 100 + i * 10 + j;
    MPI_Type_create_subarray(2, bordered, parts, ones, MPI_ORDER_C, MPI_DOUBLE, &inner);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &block);
    MPI_Type_commit(&inner);
    MPI_Type_commit(&block);
    MPI_File file = opened("blocks", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_set_view(file, 0, MPI_DOUBLE, block, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, mine, 1, inner, &status);
    MPI_Get_count(&status, inner, &count);
    check(count == 1, "one block");
    memset(mine, 0, sizeof mine);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read_all(file, mine, 1, inner, &status);
    check(mine[1][1] == rank * 100 + 11 && mine[0][0] == 0 && mine[HALF][HALF] == rank * 100 + 66, "block");
    MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, all, SIDE * SIDE, MPI_DOUBLE, &status);
    double sum = 0;
    for (int i = 0; i < SIDE * SIDE; i++) sum += ((double *)all)[i] * (i % 7);
    printf("blocks %d: %.1f\n", rank, sum);
    MPI_Type_free(&inner);
    MPI_Type_free(&block);
    closed(&file);
}

/* The pointer of all: in the order of ranks, or as they come. */
static void shared(void) {
    MPI_Status status;
    MPI_Offset at;
    MPI_File file = opened("shared", MPI_MODE_CREATE | MPI_MODE_RDWR);
    fill(rank);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_ordered(file, out, 10 * (rank + 1), MPI_INT, &status);
    got(&status, 10 * (rank + 1));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &at);
    check(at == 10 * size * (size + 1) / 2, "position of all");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_shared(file, out, 5, MPI_INT, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(file, in, 10 * (rank + 1), MPI_INT, &status);
    check(in[9] == rank * COUNT + 9, "in the order of ranks");
    /* One of each rank, in some order. */
    MPI_File_read_shared(file, in, 5, MPI_INT, &status);
    got(&status, 5);
    long mine = in[0] / COUNT, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    check(sum == size * (size - 1) / 2, "one of each");
    printf("shared %d: %ld\n", rank, (long)at);
    closed(&file);
}

/* What is read in sequence only, by the pointer of all: a header, then what each rank has written. */
static void sequence(void) {
    MPI_Status status;
    MPI_Offset from;
    MPI_File file = opened("sequence", MPI_MODE_CREATE | MPI_MODE_WRONLY);
    fill(rank);
    if (rank == 0) MPI_File_write_shared(file, &size, 1, MPI_INT, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_ordered(file, out, 10, MPI_INT, &status);
    closed(&file);
    file = opened("sequence", MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
    int header = size;
    if (rank == 0) MPI_File_read_shared(file, &header, 1, MPI_INT, &status);
    check(header == size, "the header");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_Datatype unit, layout;
    char representation[MPI_MAX_DATAREP_STRING];
    MPI_File_get_view(file, &from, &unit, &layout, representation);
    memset(in, 0, sizeof in);
    MPI_File_read_ordered(file, in, 10, MPI_INT, &status);
    got(&status, 10);
    printf("sequence %d: %d %d from %d\n", rank, in[0], in[9], (int)from);
    closed(&file);
}

/* With requests, and in two parts. */
static void later(void) {
    MPI_Status status;
    MPI_Request requests[2];
    MPI_File file = opened("later", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Offset mine = (MPI_Offset)rank * sizeof out;
    fill(rank + 3);
    MPI_File_iwrite_at(file, mine, out, COUNT / 2, MPI_INT, requests);
    MPI_File_iwrite_at(file, mine + sizeof out / 2, out + COUNT / 2, COUNT / 2, MPI_INT, requests + 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek(file, (MPI_Offset)before(1) * sizeof out, MPI_SEEK_SET);
    MPI_File_iread(file, in, COUNT, MPI_INT, requests);
    MPI_Wait(requests, &status);
    got(&status, COUNT);
    long sum = sum_of(in, COUNT);
    MPI_File_seek(file, mine, MPI_SEEK_SET);
    MPI_File_read_all_begin(file, in, COUNT, MPI_INT);
    MPI_File_read_all_end(file, in, &status);
    got(&status, COUNT);
    check(in[5] == out[5], "in two parts");
    MPI_File_write_at_all_begin(file, mine, out, COUNT, MPI_INT);
    MPI_File_write_at_all_end(file, out, &status);
    got(&status, COUNT);
    printf("later %d: %ld\n", rank, sum);
    closed(&file);
}

static int class_of(int error) {
    int class = MPI_SUCCESS;
    if (error) MPI_Error_class(error, &class);
    return class;
}

static int handled;
static void handler(MPI_File *file, int *error, ...) {
    check(class_of(*error) == MPI_ERR_READ_ONLY || class_of(*error) == MPI_ERR_ACCESS, "class in a handler");
    handled++;
}

/* What a file says of itself, and what goes wrong. */
static void states(void) {
    MPI_File file, none = MPI_FILE_NULL;
    MPI_Offset length;
    MPI_Group group;
    MPI_Info info, kept;
    MPI_Aint extent;
    MPI_Errhandler own;
    int mode, members, flag;
    check(class_of(MPI_File_open(MPI_COMM_WORLD, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &none)) ==
              MPI_ERR_NO_SUCH_FILE, "no such file");
    check(class_of(MPI_File_open(MPI_COMM_WORLD, name("states"), MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL,
                                 &none)) == MPI_ERR_AMODE, "mode");
    check(class_of(MPI_File_delete("/nowhere/at/all", MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE, "nothing to delete");
    MPI_Info_create(&info);
    MPI_Info_set(info, "access_style", "write_once");
    check(!MPI_File_open(MPI_COMM_WORLD, name("states"), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file), "hints");
    MPI_Info_free(&info);
    MPI_File_get_info(file, &kept);
    MPI_Info_free(&kept);
    MPI_File_get_amode(file, &mode);
    check(mode == (MPI_MODE_CREATE | MPI_MODE_RDWR), "mode of a file");
    MPI_File_get_group(file, &group);
    MPI_Group_size(group, &members);
    check(members == size, "group");
    MPI_Group_free(&group);
    MPI_File_set_size(file, 12345);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &length);
    check(length == 12345, "size that was set");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_preallocate(file, 20000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &length);
    check(length >= 12345, "size that was made room for");
    MPI_File_set_atomicity(file, 1);
    MPI_File_get_atomicity(file, &flag);
#ifndef OPEN_MPI /* Its version 4.1 forgets it. */
    check(flag, "atomicity");
#endif
    MPI_File_get_type_extent(file, MPI_DOUBLE, &extent);
    check(extent == 8, "extent");
    MPI_File_seek(file, -45, MPI_SEEK_END);
    MPI_File_get_position(file, &length);
    printf("states %d: %d %ld\n", rank, members, (long)length > 0);
    closed(&file);
    file = opened("states", MPI_MODE_RDONLY);
    MPI_File_create_errhandler(handler, &own);
    MPI_File_set_errhandler(file, own);
    check(MPI_File_write(file, out, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS, "only to be read");
    check(handled > 0, "handler");
    MPI_Errhandler_free(&own);
    closed(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    check(class_of(MPI_File_open(MPI_COMM_SELF, name("states"), MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY,
                                 MPI_INFO_NULL, &none)) == MPI_ERR_FILE_EXISTS, "it is there");
}

/* Of values that overlap a file is read, and not written. Values may not go back. */
static void layouts(void) {
    int ones[] = {1, 1};
    MPI_Aint over[] = {0, 2}, back[] = {8, 0}, below[] = {-4, 4};
    MPI_Datatype overlapping, going_back, beginning_below;
    MPI_Type_create_hindexed(2, ones, over, MPI_INT, &overlapping);
    MPI_Type_create_hindexed(2, ones, back, MPI_INT, &going_back);
    MPI_Type_create_hindexed(2, ones, below, MPI_INT, &beginning_below);
    MPI_Type_commit(&overlapping);
    MPI_Type_commit(&going_back);
    MPI_Type_commit(&beginning_below);
    MPI_File file = opened("views", MPI_MODE_RDWR);
    check(class_of(MPI_File_set_view(file, 16, MPI_INT, beginning_below, "native", MPI_INFO_NULL)) == MPI_ERR_IO, "below");
    check(class_of(MPI_File_set_view(file, 0, MPI_INT, going_back, "native", MPI_INFO_NULL)) == MPI_ERR_IO, "back");
    check(class_of(MPI_File_set_view(file, 0, MPI_INT, overlapping, "native", MPI_INFO_NULL)) == MPI_ERR_IO, "overlap");
    closed(&file);
    file = opened("views", MPI_MODE_RDONLY);
    MPI_Status status;
    short *halves = (short *)in, whole[6];
    MPI_File_read_at(file, 16, whole, 3, MPI_INT, MPI_STATUS_IGNORE);
    check(!MPI_File_set_view(file, 16, MPI_INT, overlapping, "native", MPI_INFO_NULL), "overlap when it is read");
    MPI_File_read(file, in, 4, MPI_INT, &status);
    got(&status, 4);
    /* The second begins in the middle of the first, the third where the second ends. */
    check(halves[1] == halves[2] && halves[0] == whole[0] && halves[4] == whole[3] && halves[6] == whole[4], "overlapping values");
    printf("layouts %d\n", rank);
    closed(&file);
    MPI_Type_free(&overlapping);
    MPI_Type_free(&going_back);
    MPI_Type_free(&beginning_below);
}

/* At its end. */
static void appended(void) {
    MPI_Offset at, length;
    MPI_File file = opened("appended", MPI_MODE_CREATE | MPI_MODE_WRONLY);
    MPI_File_set_size(file, 40);
    MPI_Barrier(MPI_COMM_WORLD);
    closed(&file);
    file = opened("appended", MPI_MODE_APPEND | MPI_MODE_WRONLY);
    MPI_File_get_position(file, &at);
    check(at == 40, "at its end");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_File_write(file, in, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &length);
    printf("appended %d: %ld\n", rank, (long)length);
    closed(&file);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    prefix = argc > 2 ? argv[2] : "files";
    while (rounds-- > 0) {
        offsets();
        views();
        blocks();
        external();
        shared();
#ifndef OPEN_MPI
        sequence();
#endif
        later();
        states();
#ifndef OPEN_MPI /* Nor may it when a file is opened again. */
        layouts();
#endif
#ifndef OPEN_MPI /* Its version 4.1 does not come back from opening a file at its end. */
        appended();
#endif
    }
    MPI_Finalize();
    return 0;
}
