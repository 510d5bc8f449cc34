/* Each rank has files that have no name any more, made in five ways, writes to them and reads all of them again, wherever it is.
   Words behind the number of rounds are as of together.c. */
#define _GNU_SOURCE
#include "lost.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WAYS = 5, LINE = 24 };

static int rank, files[WAYS], another;
static FILE *stream;

static void must(int is_right, const char *what) {
    if (is_right) return;
    printf("%d: %s\n", rank, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 95);
}

static void make(const char *stem) {
    char name[400];
    snprintf(name, sizeof name, "%s.%d-XXXXXX", stem, rank);
    files[0] = mkstemp(name);
    must(files[0] >= 0 && !unlink(name), "mkstemp");
    snprintf(name, sizeof name, "%s.%d", stem, rank);
    files[1] = open(name, O_CREAT | O_EXCL | O_RDWR | O_APPEND, 0600);
    must(files[1] >= 0 && !unlink(name), "open");
    files[2] = memfd_create("memory", MFD_CLOEXEC);
    must(files[2] >= 0, "memfd_create");
    stream = tmpfile();
    must(stream != NULL, "tmpfile");
    files[3] = fileno(stream);
    snprintf(name, sizeof name, "%s.%d+", stem, rank);
    FILE *other = fopen(name, "w+x");
    must(other != NULL && !unlink(name), "fopen");
    files[4] = dup(fileno(other));
    must(files[4] >= 0 && !fclose(other), "dup");
    another = dup(files[0]);
    must(another >= 0, "dup of the first");
}

static void line_of(char *line, int way, int round) {
    memset(line, '.', LINE);
    line[snprintf(line, LINE, "%d %d %d ", rank, way, round)] = '.';
    line[LINE - 1] = '\n';
}

static void use(int round) {
    char line[LINE + 1] = {0}, back[LINE];
    for (int way = 0; way < WAYS; way++) {
        line_of(line, way, round);
        /* The position of the first is that of another descriptor, too; the stream has a part of its own in a buffer. */
        if (way == 3) must(fputs(line, stream) >= 0, "fputs");
        else must(write(way == 0 && round % 2 ? another : files[way], line, LINE) == LINE, "write");
    }
    must(fflush(stream) == 0, "fflush");
    for (int way = 0; way < WAYS; way++)
        for (int before = 0; before <= round; before++) {
            line_of(line, way, before);
            must(pread(files[way], back, LINE, (off_t)LINE * before) == LINE && !memcmp(line, back, LINE), "pread");
        }
}

int main(int argc, char **argv) {
    int rounds = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make(argv[1]);
    for (int round = 0; round < rounds; round++) {
        wait_together(2, 500);
        for (int i = 3; i < argc; i++) be_lost_if(argv[i], argv[1], rank, round);
        use(round);
    }
    must(lseek(another, 0, SEEK_CUR) == (off_t)LINE * rounds && lseek(files[1], 0, SEEK_END) == (off_t)LINE * rounds, "lseek");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%d rounds\n", rounds);
    MPI_Finalize();
    return 0;
}
