/* Ranks send what is on their stack, of which they have written the first bytes alone, after calls that leave other things there: each
   time the same, however often a rank is lost. Words behind the number of rounds are as of together.c. */
#include "lost.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define APART __attribute__((noinline))
enum { LONG = 60000, DEEP = 20000 };

static const char *name;
static int rank, size;

static void pass(char *text, char *other, int length, int round) {
    snprintf(text, length, "%d", round);
    MPI_Sendrecv(text, length, MPI_CHAR, (rank + 1) % size, 7, other, length, MPI_CHAR, (rank + size - 1) % size, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static APART void pass_short(int round) {
    char text[1500], other[1500];
    pass(text, other, sizeof text, round);
}

static APART void pass_long(int round) {
    char text[LONG], other[LONG];
    pass(text, other, sizeof text, round);
}

/* What is left far below, with nothing above it. */
static APART int leave(int round) {
    volatile char deep[LONG];
    for (int i = 0; i < LONG; i += 7) deep[i] = (char)(i + rank + round);
    return deep[7 * round];
}

static APART int leave_below(int round) {
    volatile char nothing[DEEP];
    nothing[0] = 0;
    return leave(round) + nothing[0];
}

static APART void call_the_system(int round) {
    char own[400];
    struct stat seen;
    snprintf(own, sizeof own, "%s.%d", name, rank);
    FILE *file = fopen(own, "w");
    fprintf(file, "%d %ld\n", round, (long)time(NULL));
    fclose(file);
    stat(own, &seen);
    free(realpath(own, NULL));
    unlink(own);
    usleep(200 + rank);
}

static APART void call_mpi(void) {
    int sum = rank;
    double when = MPI_Wtime();
    MPI_Request requests[2];
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Irecv(&sum, 1, MPI_INT, (rank + 1) % size, 3, other, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + size - 1) % size, 3, other, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, other);
    MPI_Comm_free(&other);
    if (sum != size * (size - 1) / 2 || when <= 0) MPI_Abort(MPI_COMM_WORLD, 94);
}

int main(int argc, char **argv) {
    int rounds = atoi(argv[2]), left = 0;
    name = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 3; i < argc; i++) be_lost_if(argv[i], name, rank, round);
        if (round % 4 == 1) left += leave_below(round);
        if (round % 3 == 0) call_the_system(round);
        if (round % 2 == 0) call_mpi();
        pass_short(round);
        pass_long(round);
    }
    if (rank == 0) printf("%d rounds\n", rounds);
    MPI_Finalize();
    return left == 1 << 20;
}
