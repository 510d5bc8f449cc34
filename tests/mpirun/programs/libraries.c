/* What a rank has of the C library's parts: functions of one that few programs need, and a handle. Both are good wherever
 * the rank goes on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <emmintrin.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <mpi.h>

/* Of libmvec.so.1: what compilers make of a loop that calls `exp`. */
__m128d _ZGVbN2v_exp(__m128d values);

static int is_near(double value, double expected) { return fabs(value - expected) < 1e-9; }

static int finds_functions(void *library) {
    double (*cosine)(double) = (double (*)(double))dlsym(library, "cos");
    return cosine && is_near(cosine(0.5), 0.87758256189);
}

static int is_known(void *library) {
    struct link_map *map = NULL;
    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && strstr(map->l_name, "libm.so.6");
}

int main(int argc, char **argv) {
    int rank, adds = 0, finds = 0, knows = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    void *library = dlopen("libm.so.6", RTLD_NOW);
    for (int round = 0; round < 200; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double both[2];
        _mm_storeu_pd(both, _ZGVbN2v_exp(_mm_set_pd(1, 0.5)));
        adds += is_near(both[0], 1.6487212707) && is_near(both[1], 2.71828182846);
        finds += finds_functions(library) && !dlsym(library, "no such function") && dlerror();
        knows += is_known(library);
    }
    dlclose(library);
    printf("rank %d: %d %d %d\n", rank, adds, finds, knows);
    MPI_Finalize();
    return 0;
}
