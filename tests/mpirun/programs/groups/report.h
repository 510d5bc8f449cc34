/* Programs of these tests print results that every MPI has to give: one line for each group of calls and rank. */
#ifndef REPORT_H
#define REPORT_H
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often all is done: the first argument. */
static int rank, size, rounds = 1;

static inline void begin(int *argc, char ***argv) {
    if (*argc > 1) rounds = atoi((*argv)[1]);
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline void check(int holds, const char *subject) {
    if (!holds) {
        fprintf(stderr, "rank %d: %s\n", rank, subject);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
}

/* A number of values, in which the place of each counts. */
static inline long sum_of(const int *values, int count) {
    long sum = 0;
    for (int i = 0; i < count; i++) sum += (long)values[i] * (i + 1);
    return sum;
}

static inline int after(int by) { return (rank + by) % size; }
static inline int before(int by) { return (rank + size - by % size) % size; }
#endif
