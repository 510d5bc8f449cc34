/* Each rank makes files and folders whose names the C library makes up, tells another rank of them, and lists the folder that all
   make them in, in four ways; it also looks where links of others lead, which they change. What it has found is sent on. Words behind
   the number of rounds are as of together.c. */
#define _GNU_SOURCE
#include "lost.h"
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME = 300 };

static int rank, size;

static void must(int is_right, const char *what) {
    if (is_right) return;
    printf("%d: %s: %s\n", rank, what, strerror(errno));
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 95);
}

static unsigned of_text(const char *text) {
    unsigned sum = 5381;
    for (; *text; text++) sum = 33 * sum + (unsigned char)*text;
    return sum;
}

/* In whatever order they come. */
static unsigned list(const char *folder) {
    unsigned sum = 0;
    DIR *open = opendir(folder);
    must(open != NULL, "opendir");
    errno = 0;
    for (struct dirent *entry; (entry = readdir(open)) != NULL;) {
        sum += of_text(entry->d_name);
        /* Others make more meanwhile. */
        usleep(20);
        errno = 0;
    }
    must(errno == 0 && closedir(open) == 0, "readdir");
    must(opendir("/no/such/folder") == NULL && errno == ENOENT, "opendir of nothing");
    return sum;
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static unsigned scan(const char *folder) {
    unsigned sum = 0;
    struct dirent **found;
    int count = scandir(folder, &found, is_visible, alphasort);
    must(count >= size, "scandir");
    for (int i = 0; i < count; i++) {
        must(i == 0 || strcmp(found[i - 1]->d_name, found[i]->d_name) < 0, "the order of scandir");
        sum = 31 * sum + of_text(found[i]->d_name);
    }
    for (int i = 0; i < count; i++) free(found[i]);
    free(found);
    must(scandir("/no/such/folder", &found, NULL, NULL) == -1 && errno == ENOENT, "scandir of nothing");
    return sum;
}

static unsigned find(const char *folder) {
    char pattern[NAME];
    unsigned sum = 0;
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/link-*", folder);
    must(glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc >= (size_t)size, "glob");
    snprintf(pattern, sizeof pattern, "%s/*/file-??????.*", folder);
    int result = glob(pattern, GLOB_APPEND, NULL, &found);
    must(result == 0 || result == GLOB_NOMATCH, "glob of files");
    for (size_t i = 0; i < found.gl_pathc; i++) sum = 31 * sum + of_text(found.gl_pathv[i]);
    globfree(&found);
    return sum;
}

/* The link of a rank is always there, and leads somewhere else each time. */
static void link_anew(const char *folder, int round) {
    char link[NAME], other[NAME], to[40];
    snprintf(link, sizeof link, "%s/link-%d", folder, rank);
    snprintf(other, sizeof other, "%s/new-%d", folder, rank);
    snprintf(to, sizeof to, "%.*s", 1 + round % 9, "././././././.");
    must(symlink(to, other) == 0 && rename(other, link) == 0, "symlink");
}

static unsigned follow(const char *folder) {
    unsigned sum = 0;
    char link[NAME], to[PATH_MAX];
    for (int of = 0; of < size; of++) {
        snprintf(link, sizeof link, "%s/link-%d", folder, of);
        ssize_t length = readlink(link, to, sizeof to - 1);
        must(length > 0, "readlink");
        to[length] = 0;
        sum = 31 * sum + of_text(to);
        char *path = realpath(link, NULL);
        must(path != NULL && realpath(link, to) == to && strcmp(path, to) == 0, "realpath");
        sum += of_text(path);
        free(path);
    }
    must(readlink(folder, to, sizeof to) == -1 && errno == EINVAL, "readlink of a folder");
    must(realpath("/no/such/path", NULL) == NULL && errno == ENOENT, "realpath of nothing");
    return sum;
}

/* A file in a folder of a rank, written by the rank behind it. */
static unsigned make_up_names(const char *folder) {
    char file[NAME], other[NAME], own[NAME], line[] = "line\n";
    snprintf(own, sizeof own, "%s/of-%d-XXXXXX", folder, rank);
    must(mkdtemp(own) == own, "mkdtemp");
    snprintf(file, sizeof file, "%s/file-XXXXXX.own", own);
    int open_file = mkstemps(file, 4);
    must(open_file >= 0 && write(open_file, line, 5) == 5 && close(open_file) == 0, "mkstemps");
    MPI_Sendrecv(file, NAME, MPI_CHAR, (rank + 1) % size, 7, other, NAME, MPI_CHAR, (rank + size - 1) % size, 7,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    must(access(other, R_OK) == 0, other);
    snprintf(other, sizeof other, "%s/file-XXXXXX", own);
    open_file = mkstemp(other);
    must(open_file >= 0 && close(open_file) == 0, "mkstemp");
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned sum = of_text(file) + of_text(other) + find(folder);
    MPI_Barrier(MPI_COMM_WORLD);
    must(unlink(file) == 0 && unlink(other) == 0 && rmdir(own) == 0, "unlink");
    return sum;
}

int main(int argc, char **argv) {
    const char *folder = argv[1];
    int rounds = atoi(argv[2]);
    unsigned sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) must(mkdir(folder, 0700) == 0, folder);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < rounds; round++) {
        link_anew(folder, round);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 3; i < argc; i++) be_lost_if(argv[i], folder, rank, round);
        MPI_Barrier(MPI_COMM_WORLD);
        unsigned found = make_up_names(folder) + list(folder) + scan(folder) + follow(folder);
        MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += found;
    }
    unsigned all = sum;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s\n", all == size * sum ? "all the same" : "not the same");
    MPI_Finalize();
    return 0;
}
