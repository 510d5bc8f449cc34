/* A function inside of another one, passed on: the compiler puts code on the stack that finds the outer one's variables. */
#include <stdio.h>
#include <mpi.h>

static __attribute__((noinline)) void with_all(int count, void (*call)(int)) {
    for (int i = 0; i < count; i++) call(i);
}

int main(int argc, char **argv) {
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void add(int i) {
        sum += rank + i;
        /* Others run, and the rank may be elsewhere afterwards. */
        if (i == 2) MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int round = 0; round < 300; round++) with_all(size, add);
    printf("rank %d: %d\n", rank, sum);
    MPI_Finalize();
    return 0;
}
