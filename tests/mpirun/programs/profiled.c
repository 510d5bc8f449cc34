/* Each rank sends to rank 0, so often as its number says. The same source is a profiler (LD_PRELOAD), which counts. */
#include <mpi.h>
#include <stdio.h>

#ifdef PROFILER
int PMPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int PMPI_Finalize(void);

static int sent;

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    sent++;
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Finalize(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d has sent %d\n", rank, sent);
    return PMPI_Finalize();
}
#else
int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rank; i++) MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size * (size - 1) / 2; i++) {
        int got;
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
#endif
