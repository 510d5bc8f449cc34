/* Each rank adds a line to four files in each round: to two that it opens each time, but for the last rounds, and to two that it has
   open. How long they are when they are opened is sent on. Words behind the number of rounds are as of together.c; with a `+` in front
   the rank is lost between a message and what it adds next. */
#include "lost.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* The message has left when the rank is lost, which does not let others run before. */
static void be_lost_behind_a_message(int argc, char **argv, int size, int round) {
    struct timespec now, begun;
    int is_there = round;
    for (int i = 3; i < argc; i++) {
        int which, when;
        if (sscanf(argv[i], "+%d@%d", &which, &when) != 2 || when != round) continue;
        if (rank == (which + size / 2) % size) MPI_Recv(&is_there, 1, MPI_INT, which, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank != which) continue;
        MPI_Send(&is_there, 1, MPI_INT, (which + size / 2) % size, 5, MPI_COMM_WORLD);
        ask_system(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&begun, 0);
        do ask_system(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
        while ((now.tv_sec - begun.tv_sec) * 1000000000 + now.tv_nsec - begun.tv_nsec < 50000000);
        be_lost_if(argv[i] + 1, stem, rank, round);
    }
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
        be_lost_behind_a_message(argc, argv, size, round);
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
