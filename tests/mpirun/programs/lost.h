/* Losses that a program brings about itself, where it has come to a certain point. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Once in all of a job: the node of the rank that calls is lost. When it does that again, there is a file that says so: the
   system is asked, which does not say what it said then. */
static void be_lost(const char *name) {
    long once = syscall(SYS_open, name, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (once < 0) return;
    syscall(SYS_close, once);
    kill(getpid(), SIGKILL);
}

/* All ranks wait for each other, so many times, and a while each time. */
static inline void wait_together(int rounds, int microseconds) {
    for (int round = 0; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(microseconds);
    }
}

/* A word says of which rank, in which round. */
static inline void be_lost_if(const char *word, const char *stem, int rank, int round) {
    char name[4096];
    int which, when;
    if (sscanf(word, "%d@%d", &which, &when) != 2 || which != rank || when != round) return;
    snprintf(name, sizeof name, "%s.killed-%s", stem, word);
    be_lost(name);
}
