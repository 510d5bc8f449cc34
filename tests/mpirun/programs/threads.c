/* Threads of each rank: they have thread-locals and keys of their own, share memory with their rank, and end in all ways. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 3 };

static __thread long local = 5;
static __thread char room[300];
static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total, destroyed;
static char *shared;

static void destroy(void *value) {
    pthread_mutex_lock(&lock);
    destroyed += *(long *)value;
    pthread_mutex_unlock(&lock);
    free(value);
}

static void *work(void *argument) {
    long number = (long)argument, *own = malloc(sizeof *own), wrong = room[299] != 0 || pthread_getspecific(key) != NULL;
    int has_begun = 0, is_main = 1;
    double begun = MPI_Wtime();
    MPI_Initialized(&has_begun);
    MPI_Is_thread_main(&is_main);
    wrong |= !has_begun || is_main || begun <= 0;
    *own = number;
    pthread_setspecific(key, own);
    room[299] = 1;
    for (long i = 0; i < 20000; i++) {
        local += number;
        char *block = malloc(64 + i % 512);
        block[0] = (char)i;
        free(block);
    }
    wrong |= MPI_Wtime() <= begun || MPI_Wtime() > begun + 100;
    pthread_mutex_lock(&lock);
    total += local + 1000000000 * wrong;
    shared = realloc(shared, 4096);
    pthread_mutex_unlock(&lock);
    if (number == 2) pthread_exit((void *)number);
    return (void *)number;
}

int main(int argc, char **argv) {
    int rank, rounds = atoi(argv[1]);
    long results = 0, sum, mine;
    pthread_t threads[THREADS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    shared = malloc(100);
    pthread_key_create(&key, destroy);
    pthread_setspecific(key, &mine);
    for (int round = 0; round < rounds; round++) {
        for (long i = 0; i < THREADS; i++) {
            if (pthread_create(&threads[i], NULL, work, (void *)(i + 1))) MPI_Abort(MPI_COMM_WORLD, 97);
        }
        for (int i = 0; i < THREADS; i++) {
            void *result;
            if (pthread_join(threads[i], &result)) MPI_Abort(MPI_COMM_WORLD, 98);
            results += (long)result;
        }
        MPI_Allreduce(&total, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    int kept = local == 5 && room[299] == 0 && pthread_getspecific(key) == &mine;
    printf("rank %d: %ld %ld %ld %ld %s\n", rank, total, sum, results, destroyed, kept ? "kept" : "lost");
    free(shared);
    MPI_Finalize();
    return 0;
}
