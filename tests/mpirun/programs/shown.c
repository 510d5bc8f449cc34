/* Ranks that are seen in something: 0 computes until it is killed, 1 waits for a message, 2 for a receiver. */
#include <mpi.h>

static double values[20000];

int main(int argc, char **argv) {
    int rank, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0) {
        MPI_Send(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Recv(&token, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(values, 20000, MPI_DOUBLE, 1, 99, MPI_COMM_WORLD);
    } else {
        for (int other = 1; other < 3; other++)
            MPI_Recv(&token, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (volatile double sum = 0;;)
            sum += 1;
    }
    MPI_Finalize();
    return 0;
}
