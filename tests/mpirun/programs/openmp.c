/* OpenMP in each rank. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, threads = 0;
    double sum = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < 20; round++) {
#pragma omp parallel reduction(+ : sum)
        {
#pragma omp single
            threads = omp_get_num_threads();
#pragma omp for schedule(dynamic, 16)
            for (int i = 0; i < 1000; i++) sum += i * (rank + 1);
        }
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    printf("rank %d: %d threads, %.0f of %.0f\n", rank, threads, sum, all);
    MPI_Finalize();
    return 0;
}
