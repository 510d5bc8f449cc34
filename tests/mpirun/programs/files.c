/* Files that ranks have open while they move: a stream and a descriptor for the same file. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, rounds = atoi(argv[2]), lines = 0, read;
    char name[4096], line[100];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    FILE *stream = fopen(name, "w");
    int descriptor = open(name, O_WRONLY | O_APPEND);
    if (!stream || descriptor < 0) MPI_Abort(MPI_COMM_WORLD, 97);
    for (int round = 0; round < rounds; round++) {
        fprintf(stream, "stream %d %d\n", rank, round);
        fflush(stream);
        if (round % 4 == 0) MPI_Barrier(MPI_COMM_WORLD);
        dprintf(descriptor, "descriptor %d %d\n", rank, round);
        fseek(stream, 0, SEEK_END);
        usleep(500);
    }
    fclose(stream);
    close(descriptor);
    MPI_Barrier(MPI_COMM_WORLD);
    stream = fopen(name, "r");
    for (read = 0; fgets(line, sizeof line, stream); read++) lines++;
    fclose(stream);
    printf("rank %d has read %d lines\n", rank, lines);
    MPI_Finalize();
    return 0;
}
