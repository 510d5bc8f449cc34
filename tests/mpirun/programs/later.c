/* Ranks load a library while they run, which calls functions that the program does not. Built with -DLIBRARY it is that library, whose
   file is given. Words behind the number of rounds are as of together.c. */
#include "lost.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

#ifdef LIBRARY

int size_of_half(int round) {
    struct sysinfo seen;
    MPI_Comm half;
    int size;
    MPI_Comm_split(MPI_COMM_WORLD, round % 2, 0, &half);
    MPI_Comm_size(half, &size);
    MPI_Comm_free(&half);
    return sysinfo(&seen) == 0 && seen.totalram > 0 ? size : -1;
}

#else

int main(int argc, char **argv) {
    int rank, sum = 0, rounds = atoi(argv[3]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    void *library = dlopen(argv[1], RTLD_NOW);
    int (*size_of_half)(int) = library ? (int (*)(int))dlsym(library, "size_of_half") : NULL;
    if (!size_of_half) MPI_Abort(MPI_COMM_WORLD, 95);
    for (int round = 0; round < rounds; round++) {
        wait_together(1, 500);
        for (int i = 4; i < argc; i++) be_lost_if(argv[i], argv[2], rank, round);
        sum += size_of_half(round);
    }
    if (rank == 0) printf("%d\n", sum);
    MPI_Finalize();
    return 0;
}

#endif
