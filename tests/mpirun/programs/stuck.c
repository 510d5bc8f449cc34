/* Two ranks that wait for each other's message, each in a function of its own. */
#include <mpi.h>

void __attribute__((noinline)) exchange(int other) {
    double value = other;
    MPI_Recv(&value, 1, MPI_DOUBLE, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line 6 */
    MPI_Send(&value, 1, MPI_DOUBLE, other, 7, MPI_COMM_WORLD);
}

void __attribute__((noinline)) collect(int other) {
    double value = other;
    MPI_Recv(&value, 1, MPI_DOUBLE, other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line 12 */
    MPI_Send(&value, 1, MPI_DOUBLE, other, 7, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (rank == 0 ? exchange : collect)(1 - rank);
    MPI_Finalize();
    return 0;
}
