/* Functions of the program that MPI calls, and that call MPI: operations of all kinds of reductions. */
#include "report.h"
#include <unistd.h>

enum { COUNT = 5000 };
static int calls, last_size;
static __thread long seen;
static char *heap;

/* Matrices of two rows, multiplied: their order counts. */
struct matrix {
    int at[4];
};
static MPI_Datatype matrix;

/* Asks for all that an operation may ask for. */
static void ask(MPI_Datatype type, int expected) {
    int me, of, bytes, flag, *limit;
    MPI_Aint place;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &of);
    MPI_Type_size(type, &bytes);
    MPI_Get_address(&calls, &place);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &flag);
    check(me == rank && of == size && bytes == expected && flag && place != 0, "in an operation");
    calls++;
    last_size = bytes;
    seen += me;
    /* Of the rank's own memory. */
    free(heap);
    heap = malloc(100 + calls % 50);
    check(heap != NULL, "memory in an operation");
}

static void multiply(void *left, void *right, int *count, MPI_Datatype *type) {
    ask(*type, sizeof(struct matrix));
    check(*type == matrix, "the datatype of the call");
    struct matrix *a = left, *b = right;
    for (int i = 0; i < *count; i++) {
        struct matrix c;
        for (int j = 0; j < 4; j++)
            c.at[j] = (a[i].at[j / 2 * 2] * b[i].at[j % 2] + a[i].at[j / 2 * 2 + 1] * b[i].at[2 + j % 2]) % 1009;
        b[i] = c;
    }
}

static void largest(void *left, void *right, int *count, MPI_Datatype *type) {
    ask(*type, sizeof(int));
    check(*type == MPI_INT, "the datatype of the call");
    for (int i = 0; i < *count; i++)
        if (((int *)left)[i] > ((int *)right)[i]) ((int *)right)[i] = ((int *)left)[i];
}

static struct matrix mine[COUNT], product[COUNT];
static int out[COUNT], in[COUNT];

static long of_matrices(int count) {
    long sum = 0;
    for (int i = 0; i < count; i++) sum += sum_of(product[i].at, 4) % 100003 * (i % 7 + 1);
    return sum;
}

static void in_order(MPI_Op op) {
    for (int i = 0; i < COUNT; i++) mine[i] = (struct matrix){{rank + 1, i % 5, 2, rank + i % 3}};
    MPI_Allreduce(mine, product, COUNT, matrix, op, MPI_COMM_WORLD);
    printf("allreduce %d: %ld\n", rank, of_matrices(COUNT));
    for (int root = 0; root < size; root++) MPI_Reduce(mine, product, 10, matrix, op, root, MPI_COMM_WORLD);
    printf("reduce %d: %ld\n", rank, of_matrices(10));
    MPI_Scan(mine, product, 100, matrix, op, MPI_COMM_WORLD);
    printf("scan %d: %ld\n", rank, of_matrices(100));
    MPI_Reduce_scatter_block(mine, product, 7, matrix, op, MPI_COMM_WORLD);
    printf("reduce_scatter_block %d: %ld\n", rank, of_matrices(7));
    memcpy(product, mine, sizeof product);
    MPI_Reduce_local(mine, product, 20, matrix, op);
    printf("reduce_local %d: %ld\n", rank, of_matrices(20));
}

/* Messages come while the rank waits for something else, computes, looks or sleeps. */
static void meanwhile(MPI_Op op) {
    MPI_Request requests[4];
    long total = 0;
    for (int i = 0; i < COUNT; i++) out[i] = (rank * 37 + i * 11) % 101;
    for (int round = 0; round < 4; round++)
        MPI_Iallreduce(out, in + 1000 * round, 1000, MPI_INT, op, MPI_COMM_WORLD, &requests[round]);
    int token = rank;
    MPI_Sendrecv_replace(&token, 1, MPI_INT, after(1), 1, before(1), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(1000);
    int flag = 0;
    while (!flag) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int round = 0; round < 4; round++) total += sum_of(in + 1000 * round, 1000);
    printf("meanwhile %d: %d %ld\n", rank, token, total);
}

static void rests(void *left, void *right, int *count, MPI_Datatype *type) {
    /* Others run, and the rank may be elsewhere afterwards. */
    usleep(100);
    largest(left, right, count, type);
}

int main(int argc, char **argv) {
    MPI_Op product_of, largest_of, resting;
    int commutes;
    begin(&argc, &argv);
    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(multiply, 0, &product_of);
    MPI_Op_create(largest, 1, &largest_of);
    MPI_Op_create(rests, 1, &resting);
    MPI_Op_commutative(product_of, &commutes);
    check(!commutes, "does not commute");
    while (rounds-- > 0) {
        in_order(product_of);
        meanwhile(largest_of);
        meanwhile(resting);
    }
    check(size == 1 || calls > 0, "operations were called");
    check(seen == (long)calls * rank, "thread-locals in an operation");
    MPI_Op_free(&product_of);
    MPI_Op_free(&largest_of);
    MPI_Op_free(&resting);
    MPI_Type_free(&matrix);
    MPI_Finalize();
    return 0;
}
