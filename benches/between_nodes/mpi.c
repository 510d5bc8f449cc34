/* What a message between two ranks costs: to and fro, a stream of large ones, and many small ones one way.
   Prints lines `kind bytes nanoseconds`, the medians of some rounds. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 7, WINDOW = 64, STREAM_MAX = 32 };

static int rank;
static char *memory;

static void send(void *at, int bytes) { MPI_Send(at, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD); }

static void receive(void *at, int bytes) {
    MPI_Recv(at, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double ping_pong(int bytes, int trips) {
    double start = MPI_Wtime();
    for (int trip = 0; trip < trips; trip++) {
        if (rank == 0) {
            send(memory, bytes);
            receive(memory, bytes);
        } else {
            receive(memory, bytes);
            send(memory, bytes);
        }
    }
    return (MPI_Wtime() - start) / (2 * trips);
}

/* A window of messages at a time, each with its place, and an answer at the end. */
static double one_way(int bytes, int messages, int places) {
    MPI_Request requests[WINDOW];
    MPI_Status statuses[WINDOW];
    double start = MPI_Wtime();
    for (int first = 0; first < messages; first += WINDOW) {
        int n = messages - first < WINDOW ? messages - first : WINDOW;
        for (int i = 0; i < n; i++) {
            char *at = memory + (size_t)((first + i) % places) * bytes;
            if (rank == 0)
                MPI_Isend(at, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Irecv(at, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(n, requests, statuses);
    }
    if (rank == 0)
        receive(memory, 1);
    else
        send(memory, 1);
    return (MPI_Wtime() - start) / messages;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *kind, int bytes, double *seconds) {
    qsort(seconds, ROUNDS, sizeof *seconds, compare);
    if (rank == 0) printf("%s %d %.1f\n", kind, bytes, seconds[ROUNDS / 2] * 1e9);
}

int main(int argc, char **argv) {
    static const int sizes[] = {8, 1 << 10, 8 << 10, 64 << 10, 1 << 20, 16 << 20};
    double seconds[ROUNDS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memory = malloc((size_t)STREAM_MAX << 20 << 1);
    memset(memory, 1, (size_t)STREAM_MAX << 20 << 1);
    for (int s = 0; s < 6; s++) {
        int trips = 1000000 / (sizes[s] + 3000);
        if (trips < 2) trips = 2;
        for (int round = 0; round < ROUNDS; round++) seconds[round] = ping_pong(sizes[s], trips);
        print("ping_pong", sizes[s], seconds);
    }
    for (int s = 4; s < 6; s++) {
        int messages = s == 4 ? 32 : 4;
        for (int round = 0; round < ROUNDS; round++) seconds[round] = one_way(sizes[s], messages, messages);
        print("stream", sizes[s], seconds);
    }
    for (int bytes = 16; bytes <= 64; bytes *= 4) {
        for (int round = 0; round < ROUNDS; round++) seconds[round] = one_way(bytes, 100000, WINDOW);
        print("rate", bytes, seconds);
    }
    MPI_Finalize();
    return 0;
}
