/* What a rank sends leaves while it computes, and so does its answer to who sends it a long message: each of two ranks waits, without
   MPI, for what the other does only when it has heard. */
#include "report.h"
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { SENT_BACK = 100, SECONDS = 60 };

static int shared;

static void tell(int at) { check(pwrite(shared, "x", 1, at) == 1, "a file cannot be written to"); }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void compute_until_told(int at) {
    double begun = now();
    char byte = 0;
    while (pread(shared, &byte, 1, at) != 1 || byte != 'x') check(now() - begun < SECONDS, "nothing left while a rank computed");
}

int main(int count, char **words) {
    const char *file = words[1];
    begin(&count, &words);
    shared = open(file, O_CREAT | O_RDWR, 0600);
    check(shared >= 0, "a file cannot be opened");
    MPI_Datatype pairs;
    int sizes[] = {8, 50000, 1 << 20}, at = 0;
    for (int with_gaps = 0; with_gaps < 2; with_gaps++) {
        for (int i = 0; i < 3; i++, at++) {
            MPI_Type_vector(sizes[i] / 2, 1, with_gaps ? 2 : 1, MPI_SHORT, &pairs);
            MPI_Type_commit(&pairs);
            char *bytes = calloc(2, sizes[i]);
            if (rank == 1) {
                MPI_Send(bytes, 1, pairs, 0, 1, MPI_COMM_WORLD);
                tell(SENT_BACK + at);
                compute_until_told(at);
            } else {
                MPI_Recv(bytes, 1, pairs, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                tell(at);
                compute_until_told(SENT_BACK + at);
            }
            free(bytes);
            MPI_Type_free(&pairs);
        }
    }
    printf("computed %d\n", rank);
    MPI_Finalize();
    return 0;
}
