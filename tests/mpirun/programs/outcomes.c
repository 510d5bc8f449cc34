/* Each rank makes, opens and removes files and folders of its own in the folder that it is given, and looks for those of
   others; all of them end the job where they get what they would not have got the first time. What they have found, and how
   often they had to look, is sent on. Words behind the number of rounds are as of together.c. */
#define _GNU_SOURCE
#include "lost.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/times.h>

static char own[300], text[400], other[400];
static int rank;

static const char *in(const char *folder, const char *name) {
    snprintf(text, sizeof text, "%s/%s", folder, name);
    return text;
}

static void must(int is_right, const char *what) {
    if (is_right) return;
    printf("%d: %s: %s\n", rank, what, strerror(errno));
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 95);
}

static void put(const char *path, const char *mode, const char *line) {
    FILE *file = fopen(path, mode);
    must(file != NULL, path);
    must(fputs(line, file) >= 0 && fclose(file) == 0, path);
}

static void change_own(int round) {
    char line[40];
    snprintf(line, sizeof line, "%d %.*s\n", rank, 1 + (7 * round) % 19, "...................");
    must(mkdir(in(own, "folder"), 0700) == 0, "mkdir");
    must(mkdir(text, 0700) == -1 && errno == EEXIST, "mkdir again");
    put(in(own, "folder/new"), "wx", line);
    must(fopen(text, "wx") == NULL && errno == EEXIST, "fopen again");
    must(access(text, R_OK) == 0, "access");
    must(symlink("new", in(own, "folder/link")) == 0, "symlink");
    int lock = open(in(own, "lock"), O_CREAT | O_EXCL | O_WRONLY, 0600);
    must(lock >= 0 && write(lock, line, 3) == 3 && close(lock) == 0, "open");
    must(open(in(own, "lock"), O_CREAT | O_EXCL | O_WRONLY, 0600) == -1 && errno == EEXIST, "open again");
    must(unlink(text) == 0, "unlink");
    must(unlink(text) == -1 && errno == ENOENT, "unlink again");
    /* It is written anew, shorter or longer, while the one before has another name. */
    snprintf(other, sizeof other, "%s/kept-%d", own, round % 2);
    put(in(own, "kept"), "w", line);
    if (round % 3) must(rename(text, other) == 0, "rename of kept");
    strcpy(other, in(own, "last"));
    must(rename(in(own, "folder/new"), other) == 0, "rename");
    must(access(text, F_OK) == -1 && errno == ENOENT, "access again");
    must(unlink(in(own, "folder/link")) == 0, "unlink of a link");
    must(rmdir(in(own, "folder")) == 0, "rmdir");
}

/* What is wrong is refused by the system, as anywhere. Streams there are more than descriptors that move with a rank. */
static void misuse(void) {
    enum { STREAMS = 100 };
    struct stat seen;
    FILE *streams[STREAMS];
    const char *none = NULL;
    void *nowhere = NULL;
    char name[20], long_name[5000];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    must(open(none, O_RDONLY) == -1 && errno == EFAULT, "open of no path");
    must(open("", O_CREAT | O_WRONLY, 0600) == -1 && errno == ENOENT, "open of an empty path");
    must(open(long_name, O_CREAT | O_WRONLY, 0600) == -1 && errno == ENAMETOOLONG, "open of a long path");
    must(open(own, O_CREAT | O_WRONLY, 0600) == -1 && errno == EISDIR, "open of a folder");
    must(openat(-7, "here", O_CREAT | O_WRONLY, 0600) == -1 && errno == EBADF, "openat from nowhere");
    must(fopen(own, "w") == NULL && errno == EISDIR, "fopen of a folder");
    must(fopen(in(own, "none"), "r") == NULL && errno == ENOENT, "fopen of nothing");
    must(fopen(text, "z") == NULL && errno == EINVAL, "fopen in no mode");
    must(fopen(text, "") == NULL && errno == EINVAL, "fopen in an empty mode");
    must(access(text, F_OK) == -1, "what was not opened is not made");
    must(stat(none, &seen) == -1 && errno == EFAULT, "stat of no path");
    must(stat(own, nowhere) == -1 && errno == EFAULT, "stat to nowhere");
    must(stat("", &seen) == -1 && errno == ENOENT, "stat of an empty path");
    must(mkdir(none, 0700) == -1 && errno == EFAULT, "mkdir of no path");
    must(unlink(none) == -1 && errno == EFAULT, "unlink of no path");
    must(rename(none, own) == -1 && errno == EFAULT, "rename of no path");
    must(rmdir("") == -1 && errno == ENOENT, "rmdir of an empty path");
    must(unlink(own) == -1 && errno == EISDIR, "unlink of a folder");
    for (int i = 0; i < STREAMS; i++) {
        snprintf(name, sizeof name, "stream-%d", i);
        streams[i] = fopen(in(own, name), "w+x");
        must(streams[i] != NULL && fprintf(streams[i], "%d", i) > 0, name);
    }
    for (int i = 0; i < STREAMS; i++) {
        int read = -1;
        snprintf(name, sizeof name, "stream-%d", i);
        rewind(streams[i]);
        must(fscanf(streams[i], "%d", &read) == 1 && read == i && fclose(streams[i]) == 0, name);
        must(remove(in(own, name)) == 0, name);
    }
}

/* A file and a folder that one of two has, whoever is first; the other one waits. How often it has to. */
static int take_turns(const char *folder, int round) {
    char lock[400], door[400];
    int tries = 0, descriptor;
    snprintf(lock, sizeof lock, "%s/lock-%d", folder, rank / 2 + round % 2);
    snprintf(door, sizeof door, "%s/door-%d", folder, rank / 2 + round % 2);
    for (; (descriptor = open(lock, O_CREAT | O_EXCL | O_WRONLY, 0600)) < 0; tries++) usleep(200);
    must(close(descriptor) == 0, "close");
    for (; mkdir(door, 0700) < 0; tries++) usleep(200);
    usleep(500);
    must(rmdir(door) == 0, "rmdir of a door");
    must(unlink(lock) == 0, "unlink of a lock");
    return tries;
}

/* How often a rank looks for what another one makes somewhat later. */
static int look_for(const char *path, int way) {
    struct stat seen;
    for (int looked = 1;; looked++) {
        FILE *file = way == 0 ? fopen(path, "r") : NULL;
        if (file != NULL) fclose(file);
        if (way == 0 ? file != NULL : way == 1 ? access(path, R_OK) == 0 : stat(path, &seen) == 0) return looked;
        usleep(300);
    }
}

/* All make a new file, and each puts a line of its own there. */
static void put_together(const char *folder) {
    MPI_File file;
    char line[16];
    snprintf(line, sizeof line, "%-7d\n", rank);
    for (int once = 0; once < 2; once++) {
        int mode = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY;
        int result = MPI_File_open(MPI_COMM_WORLD, in(folder, "together"), mode, MPI_INFO_NULL, &file);
        must((result == 0) == (once == 0), "MPI_File_open");
        if (result != 0) continue;
        must(MPI_File_write_at(file, 8 * rank, line, 8, MPI_CHAR, MPI_STATUS_IGNORE) == 0, "MPI_File_write_at");
        must(MPI_File_close(&file) == 0, "MPI_File_close");
    }
}

/* What the system says of itself is another thing each time. */
static int ask_of_use(const char *folder) {
    struct rusage used;
    struct statvfs room;
    struct tms times_of;
    must(getrusage(RUSAGE_SELF, &used) == 0, "getrusage");
    must(statvfs(folder, &room) == 0, "statvfs");
    must(times(&times_of) != (clock_t)-1, "times");
    return (int)(used.ru_utime.tv_usec + used.ru_maxrss + times_of.tms_stime + (long)room.f_bfree) & 0xffff;
}

static int ask_the_kernel(void) {
    char said[4096];
    double up, loads[3];
    unsigned sum = 0;
    FILE *file = fopen("/proc/uptime", "r");
    must(file != NULL && fscanf(file, "%lf", &up) == 1 && fclose(file) == 0, "/proc/uptime");
    int status = open("/proc/self/stat", O_RDONLY);
    ssize_t len = read(status, said, sizeof said);
    must(len > 0 && read(status, said, sizeof said) == 0 && close(status) == 0, "/proc/self/stat");
    for (ssize_t i = 0; i < len; i++) sum = 31 * sum + (unsigned char)said[i];
    must(getloadavg(loads, 3) == 3, "getloadavg");
    must(open("/proc/none", O_RDONLY) == -1 && errno == ENOENT, "open of no file of the kernel");
    return (int)(sum + (unsigned)(100 * up) + (unsigned)(100 * loads[0]) + (unsigned)sysconf(_SC_AVPHYS_PAGES) + (unsigned)sched_getcpu()) & 0xffff;
}

int main(int argc, char **argv) {
    int size, rounds = atoi(argv[2]);
    int sum = 0;
    char name[60];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) must(mkdir(argv[1], 0700) == 0, argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(own, sizeof own, "%s/%d", argv[1], rank);
    must(mkdir(own, 0700) == 0, own);
    misuse();
    put_together(argv[1]);
    for (int round = 0; round < rounds; round++) {
        /* Nobody does anything meanwhile: what nobody has heard of is not known to have been done. */
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 3; i < argc; i++) be_lost_if(argv[i], argv[1], rank, round);
        MPI_Barrier(MPI_COMM_WORLD);
        change_own(round);
        /* The first rank removes what the last one has made, which makes it again a little later; and the other way round. */
        snprintf(name, sizeof name, "taken-%d", round);
        if (rank == 0) put(in(argv[1], name), "w", "mine\n");
        snprintf(name, sizeof name, "given-%d", round);
        if (rank == size - 1) put(in(argv[1], name), "w", "mine\n");
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) must(unlink(in(argv[1], name)) == 0, "unlink of others'");
        if (rank == size - 1) {
            snprintf(other, sizeof other, "%s/taken-%d", argv[1], round);
            must(unlink(other) == 0, "unlink of the first one's");
            put(other, "w", "yours\n");
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1) {
            usleep(2000);
            put(in(argv[1], name), "w", "yours\n");
        }
        int looked = look_for(in(argv[1], name), (rank + round) % 3) + take_turns(argv[1], round);
        looked += ask_of_use(argv[1]) + ask_the_kernel();
        MPI_Allreduce(MPI_IN_PLACE, &looked, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += looked;
    }
    int all = sum;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s\n", all == size * sum ? "all the same" : "not the same");
    MPI_Finalize();
    return 0;
}
