/* MPI called by several threads of each rank at once, in whatever way the first one spends its time meanwhile. */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, LONG = 40000 };

static int rank, ranks, rounds;
static MPI_Comm own[THREADS];
static MPI_Op more;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t together;
static sem_t each;
static volatile int left;

static void add(void *from, void *to, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) ((long *)to)[i] += ((long *)from)[i];
}

/* A sum over all that comes, which is the same on every rank of every system. */
static long talk(int number, MPI_Comm comm) {
    int right = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    long sum = 0, all, seen;
    int *out = malloc(LONG * sizeof *out), *in = malloc(LONG * sizeof *in);
    for (int round = 0; round < rounds; round++) {
        long give = rank * 100 + number * 10 + round, got = -1;
        MPI_Status status;
        MPI_Request both[2];
        MPI_Sendrecv(&give, 1, MPI_LONG, right, number, &got, 1, MPI_LONG, from, number, MPI_COMM_WORLD, &status);
        sum += got - from * 100 - number * 10 - round + status.MPI_TAG - number;
        for (int i = 0; i < LONG; i++) out[i] = i * (number + 1) + round;
        MPI_Irecv(in, LONG, MPI_INT, MPI_ANY_SOURCE, 7, comm, &both[0]);
        MPI_Isend(out, LONG, MPI_INT, right, 7, comm, &both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        sum += memcmp(in, out, LONG * sizeof *in) != 0;
        MPI_Ssend(&give, 1, MPI_LONG, rank == 0 ? MPI_PROC_NULL : 0, 8, comm);
        for (int other = 1; rank == 0 && other < ranks; other++) {
            int count = 0;
            MPI_Probe(MPI_ANY_SOURCE, 8, comm, &status);
            MPI_Get_count(&status, MPI_LONG, &count);
            MPI_Recv(&got, count, MPI_LONG, status.MPI_SOURCE, 8, comm, MPI_STATUS_IGNORE);
            sum += got - status.MPI_SOURCE * 100 - number * 10 - round;
        }
        MPI_Allreduce(&give, &all, 1, MPI_LONG, MPI_SUM, comm);
        MPI_Allreduce(&give, &seen, 1, MPI_LONG, more, comm);
        sum += all - seen;
        MPI_Bcast(&all, 1, MPI_LONG, round % ranks, comm);
        sum += all;
        int flag = 0, times = 0;
        MPI_Irecv(&got, 1, MPI_LONG, from, 9, comm, &both[0]);
        MPI_Send(&give, 1, MPI_LONG, right, 9, comm);
        while (!flag) MPI_Test(&both[0], &flag, MPI_STATUS_IGNORE), times++;
        sum += times == 0;
    }
    MPI_Comm copy;
    int size = 0;
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_size(copy, &size);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    free(out);
    free(in);
    return sum + size - ranks;
}

static void *work(void *argument) {
    int number = (int)(long)argument, is_main = 1, level = -1;
    MPI_Is_thread_main(&is_main);
    MPI_Query_thread(&level);
    long sum = talk(number, own[number]) + is_main + (level != MPI_THREAD_MULTIPLE);
    pthread_mutex_lock(&lock);
    left--;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
    sem_post(&each);
    pthread_barrier_wait(&together);
    return (void *)sum;
}

/* How the first thread spends its time. */
static long meanwhile(int way) {
    long count = 0;
    switch (way) {
    case 0: /* It waits for them to end. */
        return 0;
    case 1: /* It computes. */
        while (left) count++;
        return 0;
    case 2: /* It waits for a condition. */
        pthread_mutex_lock(&lock);
        while (left) pthread_cond_wait(&ended, &lock);
        pthread_mutex_unlock(&lock);
        return 0;
    case 3: /* It calls MPI as well. */
        return talk(THREADS, MPI_COMM_WORLD);
    default: /* It waits for each. */
        for (int i = 0; i < THREADS; i++) sem_wait(&each);
        return 0;
    }
}

int main(int argc, char **argv) {
    int level = -1;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 90);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rounds = atoi(argv[1]);
    MPI_Op_create(add, 1, &more);
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    pthread_barrier_init(&together, NULL, THREADS + 1);
    sem_init(&each, 0, 0);
    for (int way = 0; way < 5; way++) {
        long total = 0;
        left = THREADS;
        for (long i = 0; i < THREADS; i++) {
            if (pthread_create(&threads[i], NULL, work, (void *)i)) MPI_Abort(MPI_COMM_WORLD, 97);
        }
        long main_sum = meanwhile(way);
        pthread_barrier_wait(&together);
        for (int i = 0; i < THREADS; i++) {
            void *sum;
            pthread_join(threads[i], &sum);
            total = total * 31 + (long)sum;
        }
        while (!sem_trywait(&each)) {}
        printf("rank %d, way %d: %ld %ld\n", rank, way, total, main_sum);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
