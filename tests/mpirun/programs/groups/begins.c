/* MPI is begun, used and ended by a thread that each rank starts, while the first one does something else. With "first" the
 * first thread begins and ends it, is granted one thread only, and another one calls MPI all the same. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int is_first;

static void is_main(const char *who) {
    int flag = -1;
    MPI_Is_thread_main(&flag);
    printf("%s: %d\n", who, flag);
    fflush(stdout);
}

static void *work(void *argument) {
    int rank, ranks, level = -1, has_begun = -1;
    (void)argument;
    if (!is_first) {
        MPI_Initialized(&has_begun);
        MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
        printf("begun: %d, granted: %d\n", has_begun, level == MPI_THREAD_SERIALIZED);
        fflush(stdout);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    is_main("other");
    int token = rank, sum = 0;
    for (int i = 0; i < ranks; i++) {
        sum += token;
        MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % ranks, 0, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    }
    printf("sum: %d, own: %d\n", sum, token == rank);
    fflush(stdout);
    if (!is_first) MPI_Finalize();
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    is_first = argc > 1 && strcmp(argv[1], "first") == 0;
    if (is_first) MPI_Init(&argc, &argv);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    if (is_first) {
        is_main("first");
        MPI_Finalize();
    }
    return 0;
}
