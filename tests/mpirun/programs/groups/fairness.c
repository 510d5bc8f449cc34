/* Ranks that wait for each other by other means than MPI's, on one processor: whoever gives nobody a turn waits for
   ever. So each wait has an end. */
#include "report.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char name[4096];

static const char *file_of(const char *stem, int of) {
    snprintf(name, sizeof name, "%s.%d", stem, of);
    return name;
}

static void make(const char *file) {
    int made = open(file, O_CREAT | O_WRONLY, 0600);
    check(made >= 0, "a file cannot be made");
    close(made);
}

/* What ranks do before MPI_Init, all have done before one goes on. */
static void all_begin(const char *stem) {
    for (int i = 0; i < size; i++) check(access(file_of(stem, i), F_OK) == 0, "a rank had not begun");
    printf("begun %d\n", rank);
}

enum { TRIES = 100000 };

static int is_there(const char *file, int how) {
    struct stat data;
    if (how == 0) return access(file, F_OK) == 0;
    if (how == 1) return stat(file, &data) == 0;
    if (how == 2) {
        FILE *stream = fopen(file, "r");
        if (stream) fclose(stream);
        return stream != NULL;
    }
    int opened = open(file, O_RDONLY);
    if (opened >= 0) close(opened);
    return opened >= 0;
}

/* A rank looks for a file that another makes when it has its turn. */
static void files(const char *stem) {
    for (int how = 0; how < 4; how++) {
        const char *file = file_of(stem, 100 + how);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1) make(file);
        int tries = 0;
        while (!is_there(file, how) && tries < TRIES) tries++;
        check(tries < TRIES, "a call about files gave nobody a turn");
    }
    printf("files %d\n", rank);
}

/* Rank 0 sleeps or yields until a byte is in a file; the last one writes it after messages between others. */
static void pauses(const char *stem) {
    int shared = open(file_of(stem, 200), O_CREAT | O_RDWR, 0600), token = rank;
    check(shared >= 0, "a file cannot be opened");
    for (int how = 0; how < 3; how++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            struct timespec little = {0, 1000};
            char byte = 0;
            int tries = 0;
            while (tries++ < TRIES && (pread(shared, &byte, 1, how) != 1 || byte != 'x')) {
                if (how == 0) usleep(1);
                if (how == 1) sched_yield();
                if (how == 2) nanosleep(&little, NULL);
            }
            check(byte == 'x', "a pause gave nobody a turn");
        } else if (rank < size - 1) {
            MPI_Send(&token, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
        }
        if (rank > 1) MPI_Recv(&token, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == size - 1) check(pwrite(shared, "x", 1, how) == 1, "a file cannot be written to");
    }
    close(shared);
    printf("pauses %d\n", rank);
}

/* Each looks for a message again and again; that of rank 0 goes off last of all. */
static void looks(void) {
    int token = 0, flag, tries;
    for (int how = 0; how < 3; how++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (rank == size - 1) MPI_Send(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        int from = rank == 0 ? size - 1 : rank - 1, tag = rank == 0 ? 2 : 3;
        if (how > 0) MPI_Irecv(&token, 1, MPI_INT, from, tag, MPI_COMM_WORLD, &request);
        for (flag = tries = 0; !flag && tries < 10 * TRIES; tries++) {
            if (how == 0) MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            if (how == 1) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            if (how == 2) MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE);
        }
        check(flag, "a rank that looks again and again gave nobody a turn");
        if (how == 0) MPI_Recv(&token, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank < size - 1) MPI_Send(&token, 1, MPI_INT, rank + 1, 3, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("looks %d\n", rank);
}

int main(int argc, char **argv) {
    const char *stem = argv[1];
    /* Its number is not known before MPI_Init: the first name that is free. */
    for (int i = 0;; i++) {
        int made = open(file_of(stem, i), O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (made < 0) continue;
        close(made);
        break;
    }
    begin(&argc, &argv);
    all_begin(stem);
    files(stem);
    pauses(stem);
    looks();
    MPI_Finalize();
    return 0;
}
