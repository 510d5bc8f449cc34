/* Each rank adds a line to four files in each round: to two that it opens each time, but for the last rounds, and to two that it has
   open. How long they are when they are opened is sent on. Words behind the number of rounds are as of together.c. */
#include "lost.h"
#include <stdlib.h>
#include <string.h>

enum { LINE = 8, LAST = 10 };

static int rank;
static const char *stem;

static void must(int is_right, const char *what) {
    if (is_right) return;
    printf("%d: %s\n", rank, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 95);
}

static const char *name_of(const char *way) {
    static char name[400];
    snprintf(name, sizeof name, "%s.%s-%d", stem, way, rank);
    return name;
}

static const char *line_of(int round) {
    static char line[LINE + 1];
    snprintf(line, sizeof line, "%-*d\n", LINE - 1, round);
    return line;
}

static long add_by_stream(int round) {
    FILE *file = fopen(name_of("stream"), "a");
    must(file != NULL, "fopen");
    long at = ftell(file);
    must(fputs(line_of(round), file) >= 0 && fclose(file) == 0, "fputs");
    return at;
}

static void add_by_descriptor(int round) {
    int file = open(name_of("descriptor"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    must(file >= 0 && write(file, line_of(round), LINE) == LINE && close(file) == 0, "write");
}

int main(int argc, char **argv) {
    int size, rounds = atoi(argv[2]);
    stem = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    FILE *stream = fopen(name_of("open-stream"), "a");
    int descriptor = open(name_of("open-descriptor"), O_WRONLY | O_APPEND | O_CREAT, 0600), other = dup(descriptor);
    must(stream != NULL && descriptor >= 0 && other >= 0, "open");
    for (int round = 0; round < rounds; round++) {
        /* Nobody does anything meanwhile. */
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 3; i < argc; i++) be_lost_if(argv[i], stem, rank, round);
        MPI_Barrier(MPI_COMM_WORLD);
        int is_last = round >= rounds - LAST, at = is_last ? round * LINE : (int)add_by_stream(round);
        if (!is_last) add_by_descriptor(round);
        must(fputs(line_of(round), stream) >= 0 && (round % 3 || fflush(stream) == 0), "fputs to one that is open");
        must(write(round % 2 ? other : descriptor, line_of(round), LINE) == LINE, "write to one that is open");
        MPI_Allreduce(MPI_IN_PLACE, &at, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        must(at == size * round * LINE, "where it was");
        usleep(1000);
    }
    must(fclose(stream) == 0 && close(other) == 0, "fclose");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%d rounds\n", rounds);
    MPI_Finalize();
    return 0;
}
