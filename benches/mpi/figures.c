/* The same calls for all systems: messages to and fro between two ranks (`pair`), sums over all (`allreduce`), or
   nothing but a beginning and an end (`memory`). Prints lines `kind bytes nanoseconds`, medians of some rounds, or
   `resident 0 kib`. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 21, MOST = 1 << 20, SUMS = 20 };

static int rank;
static char *memory;

static void send(int bytes) { MPI_Send(memory, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD); }

static void receive(int bytes) {
    MPI_Recv(memory, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double ping_pong(int bytes, int trips) {
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int trip = 0; trip < trips; trip++) {
        if (rank == 0) {
            send(bytes);
            receive(bytes);
        } else {
            receive(bytes);
            send(bytes);
        }
    }
    return (MPI_Wtime() - start) / (2 * trips);
}

static double allreduce(void) {
    double one = 1, all;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < SUMS; i++) MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (MPI_Wtime() - start) / SUMS;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *kind, int bytes, double *seconds, int rounds) {
    qsort(seconds, rounds, sizeof *seconds, compare);
    if (rank == 0) printf("%s %d %.1f\n", kind, bytes, seconds[rounds / 2] * 1e9);
}

static long resident(void) {
    long all, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
    if (file) fclose(file);
    return pages * (getpagesize() / 1024);
}

static void pairs(void) {
    static const int sizes[] = {8, 1 << 10, 8 << 10, 64 << 10, MOST};
    double seconds[ROUNDS];
    memory = malloc(MOST);
    memset(memory, 1, MOST);
    for (int s = 0; s < 5; s++) {
        int trips = 12000000 / (sizes[s] + 3000);
        for (int round = 0; round < ROUNDS; round++) seconds[round] = ping_pong(sizes[s], trips);
        print("ping_pong", sizes[s], seconds, ROUNDS);
    }
}

static void sums(void) {
    enum { FEW = 5 };
    double seconds[FEW];
    for (int round = 0; round < FEW; round++) seconds[round] = allreduce();
    print("allreduce", 8, seconds, FEW);
}

int main(int argc, char **argv) {
    const char *task = argc > 1 ? argv[1] : "memory";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(task, "pair") == 0) pairs();
    if (strcmp(task, "allreduce") == 0) sums();
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(task, "memory") == 0 && rank == 0) printf("resident 0 %ld\n", resident());
    MPI_Finalize();
    return 0;
}
