/* A program with an array of 600 MiB, most of which no rank ever touches. */
#include <mpi.h>
#include <stdio.h>

enum { MIB = 1 << 20, SIZE = 600, PLACES = 6 };
static char array[(size_t)SIZE * MIB];

int main(int argc, char **argv) {
    int rank, right = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < PLACES; i++) {
        array[(size_t)i * SIZE / PLACES * MIB] = rank + i;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < PLACES; i++) right += array[(size_t)i * SIZE / PLACES * MIB] == rank + i;
    printf("rank %d: %d\n", rank, right);
    MPI_Finalize();
    return 0;
}
