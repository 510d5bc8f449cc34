/* Long vectors are combined again and again. Says how many pages the process has had to be given meanwhile. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { COUNT = 1 << 17, ROUNDS = 100 };

static long pages(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

int main(int argc, char **argv) {
    int rank;
    long before = 0;
    double *own = malloc(COUNT * sizeof *own), *sum = calloc(COUNT, sizeof *sum);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < COUNT; i++) own[i] = rank + i;
    for (int round = -10; round < ROUNDS; round++) {
        if (round == 0) before = pages();
        MPI_Reduce(own, sum, COUNT, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%.0f %ld\n", sum[COUNT - 1], pages() - before);
    MPI_Finalize();
    return 0;
}
