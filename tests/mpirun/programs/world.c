/* Values that no message brings: clocks, random bytes, lines of the input, how often a test fails. Each rank sends them on;
   what it has sent and what was taken from it must be the same at the end, whatever was lost meanwhile. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { VALUES = 9 };

static long mixed(long so_far, const long *values) {
    unsigned long mix = so_far;
    for (int i = 0; i < VALUES; i++) mix = (mix ^ (unsigned long)values[i]) * 1099511628211ul;
    return (long)mix;
}

int main(int argc, char **argv) {
    int rank, size, rounds = atoi(argv[1]);
    long sent = 1, taken = 1, lines = 0, misses = 0;
    char line[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int before = (rank + size - 1) % size, after = (rank + 1) % size;
    for (int round = 0; round < rounds; round++) {
        struct timespec now;
        struct timeval day;
        long values[VALUES], others[VALUES];
        MPI_Request request;
        clock_gettime(CLOCK_MONOTONIC, &now);
        gettimeofday(&day, NULL);
        values[0] = now.tv_nsec;
        values[1] = day.tv_usec;
        values[2] = time(NULL);
        values[3] = clock();
        values[4] = (long)(MPI_Wtime() * 1e9);
        if (getrandom(&values[5], sizeof values[5], 0) != sizeof values[5]) MPI_Abort(MPI_COMM_WORLD, 97);
        values[6] = misses;
        values[7] = getpid();
        values[8] = lines;
        usleep(100);
        double until = MPI_Wtime() + 20e-6;
        while (MPI_Wtime() < until);
        MPI_Irecv(others, VALUES, MPI_LONG, before, 1, MPI_COMM_WORLD, &request);
        MPI_Send(values, VALUES, MPI_LONG, after, 1, MPI_COMM_WORLD);
        for (int flag = 0; !flag; misses++) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        sent = mixed(sent, values);
        taken = mixed(taken, others);
        if (rank == 0 && fgets(line, sizeof line, stdin)) lines += atol(line);
    }
    long theirs;
    MPI_Sendrecv(&taken, 1, MPI_LONG, before, 2, &theirs, 1, MPI_LONG, after, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d: %s\n", rank, theirs == sent ? "as it was" : "something else");
    MPI_Finalize();
    return 0;
}
