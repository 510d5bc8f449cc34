/* The first rank deletes a file, if it is there. Then all write records to it, each at places of its own, and have it open
   for a while before the first one. Words behind the number of rounds are as of together.c. */
#include "lost.h"
#include <stdlib.h>
#include <string.h>

enum { RECORD = 32, WAIT = 200 };

int main(int argc, char **argv) {
    int rank, size, rounds = atoi(argv[2]);
    char record[RECORD];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) MPI_File_delete(argv[1], MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    int descriptor = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (descriptor < 0) MPI_Abort(MPI_COMM_WORLD, 97);
    wait_together(WAIT, 1000);
    for (int round = 0; round < rounds; round++) {
        for (int i = 3; i < argc; i++) be_lost_if(argv[i], argv[1], rank, round);
        memset(record, '.', RECORD);
        record[snprintf(record, RECORD, "%d %d ", rank, round)] = '.';
        record[RECORD - 1] = '\n';
        if (pwrite(descriptor, record, RECORD, (off_t)RECORD * (round * size + rank)) != RECORD)
            MPI_Abort(MPI_COMM_WORLD, 96);
        if (round % 4 == 0) MPI_Barrier(MPI_COMM_WORLD);
        usleep(1000);
    }
    close(descriptor);
    MPI_Finalize();
    return 0;
}
