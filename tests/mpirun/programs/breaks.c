/* A rank that sends on what neither a message nor the runtime has brought: another time, or another process, than when it
   runs again. It asks the system by an instruction of its own, so nobody writes down what it gets. */
#include "lost.h"
#include <string.h>
#include <time.h>

int main(int argc, char **argv) {
    int rank, size;
    long value = 0, taken, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 10; round++) {
        if (rank == 1 && round == 5) {
            struct timespec now;
            ask_system(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
            if (!strcmp(argv[1], "clock")) value += now.tv_nsec + 1000000000L * now.tv_sec;
            if (!strcmp(argv[1], "pid")) value += ask_system(SYS_getpid, 0, 0, 0);
        }
        MPI_Sendrecv(&value, 1, MPI_LONG, (rank + 1) % size, 1, &taken, 1, MPI_LONG, (rank + size - 1) % size, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value = taken + rank;
        MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    if (!strcmp(argv[1], "nothing")) printf("rank %d: %ld of %ld\n", rank, value, sum);
    MPI_Finalize();
    return 0;
}
