/* The number of a rank's process is another one for each rank, and stays the same. */
#define _GNU_SOURCE
#include "lost.h"
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static int rank, size;
static volatile int handled;

static void must(int is_right, const char *what) {
    if (is_right) return;
    printf("%d: %s\n", rank, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 95);
}

static void note(int signal) { handled += signal; }

static void look(pid_t own) {
    char name[100], line[200] = "";
    struct stat seen;
    cpu_set_t cores;
    snprintf(name, sizeof name, "/proc/%d/status", own);
    FILE *status = fopen(name, "r");
    must(status != NULL && fgets(line, sizeof line, status) && !strncmp(line, "Name:", 5) && fclose(status) == 0, "the status");
    snprintf(name, sizeof name, "/proc/%d/fd", own);
    DIR *folder = opendir(name);
    must(folder != NULL && closedir(folder) == 0 && stat(name, &seen) == 0 && access(name, R_OK) == 0, "the folder");
    must(getpgid(own) == getpgid(0) && getsid(own) == getsid(0) && sched_getscheduler(own) == sched_getscheduler(0), "the group");
    must(sched_getaffinity(own, sizeof cores, &cores) == 0 && getpriority(PRIO_PROCESS, own) == getpriority(PRIO_PROCESS, 0), "the cores");
    handled = 0;
    signal(SIGUSR1, note);
    must(kill(own, 0) == 0 && kill(own, SIGUSR1) == 0 && handled == SIGUSR1, "a signal");
}

int main(int argc, char **argv) {
    int rounds = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int own = getpid(), all[64];
    for (int root = 0; root < size; root++) {
        all[root] = own;
        MPI_Bcast(&all[root], 1, MPI_INT, root, MPI_COMM_WORLD);
        must((all[root] == own) == (root == rank), "the number of another rank");
    }
    for (int round = 0; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 3; i < argc; i++) be_lost_if(argv[i], argv[1], rank, round);
        usleep(2000);
        must(getpid() == own, "its own number");
        look(own);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%d rounds\n", rounds);
    MPI_Finalize();
    return 0;
}
