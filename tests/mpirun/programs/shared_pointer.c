/* All have a file open for a while before they write records to it, by the pointer that they share, and read back where it is.
   Words are as of together.c. */
#include "lost.h"
#include <stdlib.h>
#include <string.h>

enum { RECORD = 16, WAIT = 200, ROUNDS = 8 };

int main(int argc, char **argv) {
    int rank, size;
    char record[RECORD];
    MPI_File file;
    MPI_Offset at = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY | (strstr(argv[1], "sequential") ? MPI_MODE_SEQUENTIAL : 0);
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], mode, MPI_INFO_NULL, &file)) MPI_Abort(MPI_COMM_WORLD, 97);
    wait_together(WAIT, 1000);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 2; i < argc; i++) be_lost_if(argv[i], argv[1], rank, round);
        memset(record, '.', RECORD);
        record[snprintf(record, RECORD, "%d %d ", rank, round)] = '.';
        record[RECORD - 1] = '\n';
        MPI_File_write_shared(file, record, RECORD, MPI_CHAR, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &at);
    MPI_File_close(&file);
    if (rank == 0) printf("%d\n", (int)(at / RECORD));
    MPI_Finalize();
    return 0;
}
