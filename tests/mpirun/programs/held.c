/* A rank that has something which does not move with it, as long as it is told to. */
#define _GNU_SOURCE
#include "lost.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEN = 8 << 20 };

static int ends[2], file = -1;
static pid_t child;
static char *mapped, *attached, *plain, *text;
static size_t len;
static FILE *stream;

static void take(const char *what, const char *name) {
    if (!strcmp(what, "pipe") && pipe(ends)) MPI_Abort(MPI_COMM_WORLD, 90);
    if (!strcmp(what, "mapped")) mapped = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!strcmp(what, "plain")) plain = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!strcmp(what, "called"))
        plain = (char *)syscall(SYS_mmap, NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!strcmp(what, "attached")) {
        int id = shmget(IPC_PRIVATE, LEN, 0600);
        mapped = attached = shmat(id, NULL, 0);
        shmctl(id, IPC_RMID, NULL);
    }
    if (!strcmp(what, "locked")) {
        file = open(name, O_CREAT | O_RDWR, 0600);
        if (lockf(file, F_LOCK, LEN)) MPI_Abort(MPI_COMM_WORLD, 93);
    }
    if (!strcmp(what, "stream")) stream = open_memstream(&text, &len);
    char *sleeps[] = {"sleep", "1000", NULL};
    if (!strcmp(what, "child") && posix_spawnp(&child, "sleep", NULL, NULL, sleeps, NULL)) MPI_Abort(MPI_COMM_WORLD, 91);
    if (!strcmp(what, "deleted")) {
        file = open(name, O_CREAT | O_RDWR, 0600);
        unlink(name);
    }
}

/* How often what was taken has done what it should. */
static int use(const char *what, int round) {
    char byte = (char)round, back = 0;
    if (!strcmp(what, "pipe")) return write(ends[1], &byte, 1) == 1 && read(ends[0], &back, 1) == 1 && back == byte;
    if (!strcmp(what, "child")) return waitpid(child, NULL, WNOHANG) == 0;
    if (!strcmp(what, "deleted") || !strcmp(what, "locked"))
        return pwrite(file, &byte, 1, round) == 1 && pread(file, &back, 1, round) == 1 && back == byte;
    if (!strcmp(what, "stream")) return fputc('x', stream) == 'x' && !fflush(stream) && len == (size_t)round + 1;
    char *bytes = mapped ? mapped : plain;
    bytes[round] = byte;
    return round == 0 || bytes[round - 1] == (char)(round - 1);
}

static void give_back(const char *what) {
    if (!strcmp(what, "pipe")) {
        close(ends[0]);
        close(ends[1]);
    }
    int status = 0;
    if (child && (kill(child, SIGTERM) || waitpid(child, &status, 0) != child || WTERMSIG(status) != SIGTERM))
        MPI_Abort(MPI_COMM_WORLD, 92);
    if (attached) shmdt(attached);
    else if (mapped) munmap(mapped, LEN);
    if (!strcmp(what, "called")) syscall(SYS_munmap, plain, LEN);
    else if (plain) munmap(plain, LEN);
    if (!strcmp(what, "stream")) fclose(stream);
    if (!strcmp(what, "locked") && (lseek(file, 0, SEEK_SET) || lockf(file, F_ULOCK, LEN))) MPI_Abort(MPI_COMM_WORLD, 94);
    if (!strcmp(what, "deleted") || !strcmp(what, "locked")) close(file);
}

/* What rank 1 takes, rounds with it, names of files; and when the node of rank 0 is lost: "never", "with" it, "after". */
int main(int argc, char **argv) {
    int rank, rounds = atoi(argv[2]), used = 0;
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s.%d", argv[3], rank);
    if (rank == 1) take(argv[1], name);
    for (int round = 0; round < rounds; round++) {
        if (rank == 1) used += use(argv[1], round);
        wait_together(1, 2000);
    }
    if (rank == 0 && !strcmp(argv[4], "with")) be_lost(name);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) give_back(argv[1]);
    wait_together(rounds, 2000);
    if (rank == 0 && !strcmp(argv[4], "after")) be_lost(name);
    wait_together(rounds, 2000);
    if (rank == 1) printf("used %d times\n", used);
    MPI_Finalize();
    return 0;
}
