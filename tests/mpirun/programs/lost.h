/* Losses that a program brings about itself, where it has come to a certain point. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The system is asked by an instruction of the program's own: nobody writes down what it says, and it does not say it again. */
static inline long ask_system(long number, long one, long two, long three) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(one), "S"(two), "d"(three) : "rcx", "r11", "memory");
    return result;
}

/* Once in all of a job: the node of the rank that calls is lost. When it does that again, there is a file that says so. */
static inline void be_lost(const char *name) {
    long once = ask_system(SYS_open, (long)name, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (once < 0) return;
    ask_system(SYS_close, once, 0, 0);
    kill(ask_system(SYS_getpid, 0, 0, 0), SIGKILL);
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
