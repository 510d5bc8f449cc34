/* What a rank finds when it begins: its words, its folder, and its environment. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *of(const char *name) {
    const char *value = getenv(name);
    return value ? value : "-";
}

int main(int argc, char **argv) {
    /* Some look whether they have been started by mpirun before they call MPI_Init. */
    int told = atoi(of("OMPI_COMM_WORLD_RANK")), told_size = atoi(of("PMI_SIZE"));
    int rank, size;
    char folder[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (told != rank || told_size != size) MPI_Abort(MPI_COMM_WORLD, 3);
    printf("rank %d of %d in %s, OWN=%s ALL=%s:", rank, size, getcwd(folder, sizeof folder), of("OWN"), of("ALL"));
    for (int i = 1; i < argc; i++) printf(" %s", argv[i]);
    printf("\n");
    MPI_Finalize();
    return 0;
}
