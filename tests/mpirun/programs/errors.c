/* Lines on standard error, and an end that is not a good one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) size_t measure(const char *text) { return strlen(text) + 1; }

int main(int argc, char **argv) {
    int rank, rounds = atoi(argv[1]);
    char line[100];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < rounds; round++) {
        fprintf(stderr, "error %d of rank", round);
        fprintf(stderr, " %d\n", rank);
        snprintf(line, sizeof line, "written %d by rank %d\n", round, rank);
        if (write(2, line, strlen(line)) < 0) abort();
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(2000);
    }
    printf("rank %d is done\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && !strcmp(argv[2], "abort")) MPI_Abort(MPI_COMM_WORLD, 6);
    if (rank == 1 && !strcmp(argv[2], "fault")) printf("%zu\n", measure((char *)(long)(rounds > 0 ? 48 : 0)));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
