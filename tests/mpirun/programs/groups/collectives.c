/* Collectives: blocking and nonblocking, in place, of varying counts, of neighbours, between two groups. */
#include "report.h"

enum { ROOM = 4096 };
static int out[ROOM], in[ROOM], counts[ROOM], places[ROOM];
static long total;

static void fill(int seed, int count) {
    memset(in, 0, sizeof in);
    for (int i = 0; i < count; i++) out[i] = seed * 100 + i;
}

static void add(int count) { total = total * 31 + sum_of(in, count); }

static void say(const char *subject) {
    printf("%s %d: %ld\n", subject, rank, total);
    total = 0;
}

static int varying(void) {
    int sum = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        places[i] = sum;
        sum += i + 1;
    }
    return sum;
}

static void rooted(void) {
    MPI_Request request;
    for (int root = 0; root < size; root++) {
        fill(rank + 1, 300);
        if (rank == root) memcpy(in, out, sizeof in);
        MPI_Bcast(in, 300, MPI_INT, root, MPI_COMM_WORLD);
        add(300);
        MPI_Gather(out, 3, MPI_INT, in, 3, MPI_INT, root, MPI_COMM_WORLD);
        add(3 * size);
        int all = varying();
        MPI_Igatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, root, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        add(all);
        MPI_Scatterv(out, counts, places, MPI_INT, in, rank + 1, MPI_INT, root, MPI_COMM_WORLD);
        add(rank + 1);
        if (rank == root)
            MPI_Scatter(out, 2, MPI_INT, MPI_IN_PLACE, 2, MPI_INT, root, MPI_COMM_WORLD);
        else
            MPI_Scatter(NULL, 0, MPI_INT, in, 2, MPI_INT, root, MPI_COMM_WORLD);
        add(2);
        MPI_Reduce(out, in, 200, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        add(200);
    }
    say("rooted");
}

static void to_all(void) {
    MPI_Request request;
    fill(rank + 1, 300);
    MPI_Allgather(out, 4, MPI_INT, in, 4, MPI_INT, MPI_COMM_WORLD);
    add(4 * size);
    int all = varying();
    MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    add(all);
    MPI_Ialltoall(out, 2, MPI_INT, in, 2, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    add(2 * size);
    memcpy(in, out, sizeof in);
    MPI_Alltoall(MPI_IN_PLACE, 2, MPI_INT, in, 2, MPI_INT, MPI_COMM_WORLD);
    add(2 * size);
    int mine[64], at[64];
    MPI_Datatype types[64];
    for (int i = 0; i < size; i++) {
        mine[i] = rank + 1;
        at[i] = i * (rank + 1);
        types[i] = MPI_INT;
    }
    MPI_Alltoallv(out, counts, places, MPI_INT, in, mine, at, MPI_INT, MPI_COMM_WORLD);
    add(size * (rank + 1));
    for (int i = 0; i < size; i++) {
        places[i] *= sizeof(int);
        at[i] *= sizeof(int);
    }
    MPI_Alltoallw(out, counts, places, types, in, mine, at, types, MPI_COMM_WORLD);
    add(size * (rank + 1));
    say("to all");
}

static void combining(void) {
    MPI_Request request;
    fill(rank + 1, 300);
    MPI_Allreduce(out, in, 300, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    add(300);
    memcpy(in, out, sizeof in);
    MPI_Iallreduce(MPI_IN_PLACE, in, 300, MPI_INT, MPI_BXOR, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    add(300);
    varying();
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    add(rank + 1);
    MPI_Reduce_scatter_block(out, in, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    add(2);
    MPI_Scan(out, in, 50, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    add(50);
    MPI_Exscan(out, in, 50, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank > 0) add(50);
    struct { double value; int index; } pair = {(rank * 7 % 5) / 2.0, rank}, best;
    MPI_Allreduce(&pair, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    total = total * 31 + best.index * 10 + (long)(best.value * 2);
    double one = 1.0 / (rank + 3), sum;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    printf("floats %d: %.9f\n", rank, sum);
    say("combining");
}

static void neighbours(void) {
    MPI_Comm ring;
    int dims[1] = {size}, around[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, around, 0, &ring);
    fill(rank + 1, 20);
    MPI_Neighbor_allgather(out, 5, MPI_INT, in, 5, MPI_INT, ring);
    add(10);
    MPI_Neighbor_alltoall(out, 3, MPI_INT, in, 3, MPI_INT, ring);
    add(6);
    MPI_Request request;
    MPI_Ineighbor_alltoall(out + 5, 3, MPI_INT, in, 3, MPI_INT, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    add(6);
    MPI_Comm_free(&ring);
    say("neighbours");
}

static void two_groups(void) {
    MPI_Comm half, both, merged;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &both);
    int theirs, place;
    MPI_Comm_remote_size(both, &theirs);
    fill(rank + 1, 20);
    MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, both);
    add(2 * theirs);
    MPI_Allreduce(out, in, 5, MPI_INT, MPI_SUM, both);
    add(5);
    int root = rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    if (rank % 2 == 0) memcpy(in, out, sizeof in);
    MPI_Bcast(in, 5, MPI_INT, root, both);
    add(5);
    MPI_Intercomm_merge(both, rank % 2, &merged);
    MPI_Comm_rank(merged, &place);
    total += place;
    MPI_Comm_free(&merged);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
    say("two groups");
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    while (rounds-- > 0) {
        rooted();
        to_all();
        combining();
        neighbours();
        if (size > 1) two_groups();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
