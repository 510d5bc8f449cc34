/* Each rank has a log that it renames and begins again, and a state that it writes to a new file, which it renames. It counts in a file
   that it reads and writes anew, and reads another while it writes to it. Words behind the number of rounds are as of together.c. */
#include "lost.h"
#include <stdlib.h>

enum { LINES = 7 };

static int rank;

static void must(int is_right, const char *what) {
    if (is_right) return;
    printf("%d: %s\n", rank, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 95);
}

static const char *name_of(const char *stem, const char *what) {
    static char names[2][400];
    static int last;
    last = !last;
    snprintf(names[last], sizeof names[last], "%s.%s-%d", stem, what, rank);
    return names[last];
}

/* Two ways in which programs keep a former file: they rename it and begin again, or write another one and rename that. */
static void write_files(const char *stem, int round) {
    int mode = round % LINES ? O_WRONLY | O_CREAT | O_APPEND : O_WRONLY | O_CREAT | O_TRUNC;
    int log = open(name_of(stem, "log"), mode, 0600);
    must(log >= 0 && write(log, "line\n", 5) == 5 && close(log) == 0, "write");
    if (round % LINES == LINES - 1) must(rename(name_of(stem, "log"), name_of(stem, "former")) == 0, "rename");
    FILE *file = fopen(name_of(stem, "new"), "w");
    must(file != NULL && fprintf(file, "%d\n", round) > 0 && fclose(file) == 0, "fprintf");
    must(rename(name_of(stem, "new"), name_of(stem, "state")) == 0, "rename of what is new");
}

/* A number that is read and written anew. */
static int count(const char *name) {
    int counted = 0;
    FILE *file = fopen(name, "r");
    if (file != NULL) must(fscanf(file, "%d", &counted) == 1 && fclose(file) == 0, "fscanf");
    file = fopen(name, "w");
    must(file != NULL && fprintf(file, "%d\n", counted + 1) > 0 && fclose(file) == 0, "fprintf of a number");
    return counted;
}

/* How many lines there are, as one that is opened to be read says while another one is open to be written to. */
static int lines_of(const char *stem, int round) {
    const char *name = name_of(stem, "lines");
    int lines = 0, written = open(name, round % LINES ? O_WRONLY | O_APPEND : O_WRONLY | O_CREAT | O_TRUNC, 0600);
    must(written >= 0 && write(written, "line\n", 5) == 5, "write of a line");
    FILE *read = fopen(name, "r");
    must(read != NULL, "fopen of lines");
    for (int c; (c = fgetc(read)) != EOF;) lines += c == '\n';
    must(fclose(read) == 0 && close(written) == 0, "close");
    return lines;
}

int main(int argc, char **argv) {
    int rounds = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < rounds; round++) {
        /* Nobody does anything meanwhile. */
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 3; i < argc; i++) be_lost_if(argv[i], argv[1], rank, round);
        MPI_Barrier(MPI_COMM_WORLD);
        write_files(argv[1], round);
        must(count(name_of(argv[1], "count")) == round, "what was counted");
        must(lines_of(argv[1], round) == round % LINES + 1, "lines");
        usleep(1000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%d rounds\n", rounds);
    MPI_Finalize();
    return 0;
}
