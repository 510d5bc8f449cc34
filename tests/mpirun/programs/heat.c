/* A rod that cools, in pieces: for ranks that move and are lost. What is printed depends on nothing but its arguments. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double left, right;
static __thread long rounds_done;

int main(int argc, char **argv) {
    int rank, size, cells = atoi(argv[1]), rounds = atoi(argv[2]), every = atoi(argv[3]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *now = malloc(cells * sizeof *now), *next = malloc(cells * sizeof *next);
    for (int i = 0; i < cells; i++) now[i] = sin((double)(rank * cells + i));
    for (int round = 1; round <= rounds; round++) {
        int before = (rank + size - 1) % size, after = (rank + 1) % size;
        MPI_Sendrecv(&now[0], 1, MPI_DOUBLE, before, 1, &right, 1, MPI_DOUBLE, after, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(&now[cells - 1], 1, MPI_DOUBLE, after, 2, &left, 1, MPI_DOUBLE, before, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 0; i < cells; i++) {
            double low = i ? now[i - 1] : left, high = i < cells - 1 ? now[i + 1] : right;
            next[i] = now[i] + 0.25 * (low - 2 * now[i] + high);
        }
        double *other = now;
        now = next;
        next = other;
        rounds_done++;
        if (round % every == 0) {
            double mine = 0, all = 0;
            for (int i = 0; i < cells; i++) mine += now[i] * now[i];
            MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            if (rank == 0) printf("round %d: %.15e\n", round, all);
        }
    }
    if (rounds_done != rounds) MPI_Abort(MPI_COMM_WORLD, 98);
    MPI_Finalize();
    return 0;
}
