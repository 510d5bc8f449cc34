/* All ranks write records to one file, at its end: with a descriptor and with a stream that has a buffer. The file is open
   for a while before the first one. Words behind the number of rounds, such as 3@200, say which rank's process is killed
   in which round: so ranks have come as far as that, however slowly they run. */
#include "lost.h"
#include <stdlib.h>
#include <string.h>

enum { RECORD = 32, WAIT = 400 };

static void fill(char *record, const char *by, int rank, int round) {
    memset(record, '.', RECORD);
    int len = snprintf(record, RECORD, "%s %d %d ", by, rank, round);
    record[len] = '.';
    record[RECORD - 1] = '\n';
}

int main(int argc, char **argv) {
    int rank, rounds = atoi(argv[2]);
    char record[RECORD];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int descriptor = open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0600);
    FILE *stream = fopen(argv[1], "a");
    if (descriptor < 0 || !stream) MPI_Abort(MPI_COMM_WORLD, 97);
    wait_together(WAIT, 1000);
    for (int round = 0; round < rounds; round++) {
        for (int i = 3; i < argc; i++) be_lost_if(argv[i], argv[1], rank, round);
        fill(record, "descriptor", rank, round);
        if (write(descriptor, record, RECORD) != RECORD) MPI_Abort(MPI_COMM_WORLD, 96);
        fill(record, "stream", rank, round);
        fwrite(record, RECORD, 1, stream);
        if (round % 4 == 0) MPI_Barrier(MPI_COMM_WORLD);
        usleep(1000);
    }
    fclose(stream);
    close(descriptor);
    MPI_Finalize();
    return 0;
}
