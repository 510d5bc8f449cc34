/* Ranks have statics, thread-locals, heap, arguments and environment of their own, and reach each other. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int initialized = 7;
static int zeroes[1000];
static __thread int thread_local_one = 3;
static __thread long thread_local_zero;
static const char *const names[] = {"zero", "one", "two"};

static void check(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "basics: %s\n", what);
        exit(99);
    }
}

static void own_memory(int rank) {
    initialized += rank;
    zeroes[999] = rank;
    thread_local_one *= rank + 1;
    thread_local_zero = -rank;
    char *text = strdup("text of a rank");
    text = realloc(text, 100000);
    errno = rank + 1;
    for (int round = 0; round < 3; round++) {
        check(MPI_Barrier(MPI_COMM_WORLD) == 0, "barrier");
        check(initialized == 7 + rank && zeroes[999] == rank && zeroes[0] == 0, "statics");
        check(thread_local_one == 3 * (rank + 1) && thread_local_zero == -rank, "thread-locals");
        check(!strcmp(text, "text of a rank") && !strcmp(names[2], "two"), "strings");
    }
    check(errno == rank + 1, "errno");
    free(text);
}

static void messages(int rank, int size) {
    int after = (rank + 1) % size, before = (rank + size - 1) % size, token = rank, theirs = -1, count = -1;
    MPI_Status status;
    MPI_Sendrecv(&token, 1, MPI_INT, after, 5, &theirs, 1, MPI_INT, before, 5, MPI_COMM_WORLD, &status);
    check(theirs == before && status.MPI_SOURCE == before && status.MPI_TAG == 5, "sendrecv");
    static double out[20000], in[20001];
    MPI_Request requests[2];
    for (int i = 0; i < 20000; i++) out[i] = rank + i;
    MPI_Irecv(in, 20001, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 20000, MPI_DOUBLE, after, 6, MPI_COMM_WORLD, &requests[1]);
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get_count(&statuses[0], MPI_DOUBLE, &count);
    check(count == 20000 && in[19999] == before + 19999, "a large message");
    if (rank == 0) {
        for (int i = 1; i < size; i++) {
            int got = 0;
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
            check(got == status.MPI_SOURCE, "any source");
        }
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    int rank, size;
    check(argc == 3 && !strcmp(argv[1], "two words") && !strcmp(argv[2], "-n"), "arguments");
    check(argv[3] == NULL, "the end of the arguments");
    check(MPI_Init(&argc, &argv) == 0, "init");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    own_memory(rank);
    messages(rank, size);
    double mine = rank + 0.5, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm half;
    int place, of;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &place);
    MPI_Comm_size(half, &of);
    check(place == of - 1 - rank / 2, "split");
    const char *given = getenv("GIVEN");
    printf("rank %d of %d: sum %g, %s\n", rank, size, sum, given ? given : "nothing");
    check(MPI_Finalize() == 0, "finalize");
    return 0;
}
