/* A function of MPI that is not there, by its name: it is found, and the job ends when it is called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int (*function)(void *, void *, void *, void *, void *, void *, void *, void *) =
        (int (*)(void *, void *, void *, void *, void *, void *, void *, void *))dlsym(RTLD_DEFAULT, argv[1]);
    fprintf(stderr, "%s is %s\n", argv[1], function ? "there" : "not there");
    MPI_Barrier(MPI_COMM_WORLD);
    long places[8] = {0};
    if (function) function(places, places, places, places, places, places, places, places);
    fprintf(stderr, "came back\n");
    MPI_Finalize();
    return 0;
}
