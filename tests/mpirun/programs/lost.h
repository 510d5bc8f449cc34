/* Losses that a program brings about itself, where it has come to a certain point. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

/* Once in all of a job: the node of the rank that calls is lost. When it does that again, there is a file that says so. */
static void be_lost(const char *name) {
    int once = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (once < 0) return;
    close(once);
    kill(getpid(), SIGKILL);
}

/* All ranks wait for each other, so many times, and a while each time. */
static void wait_together(int rounds, int microseconds) {
    for (int round = 0; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(microseconds);
    }
}
