/* Ranks wait with a time for what does not come, each in another way, and send on when they have waited. Words behind the number of
   rounds are as of together.c. */
#include "lost.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

enum { WAYS = 8, MILLISECOND = 1000000 };

static int rank, ends[2], several;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void must(int is_right, const char *what) {
    if (is_right) return;
    printf("%d: %s\n", rank, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 95);
}

static struct timespec soon(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += 2 * MILLISECOND;
    if (time.tv_nsec >= 1000 * MILLISECOND) {
        time.tv_sec++;
        time.tv_nsec -= 1000 * MILLISECOND;
    }
    return time;
}

static void wait_so(int way) {
    struct timespec until = soon(way == 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME), span = {0, 2 * MILLISECOND};
    struct pollfd place = {.fd = ends[0], .events = POLLIN};
    struct epoll_event event;
    switch (way) {
    case 0: must(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0, "clock_nanosleep"); break;
    case 1: must(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT, "sem_timedwait"); break;
    case 2: must(epoll_wait(several, &event, 1, 2) == 0, "epoll_wait"); break;
    case 3: must(poll(&place, 1, 2) == 0, "poll"); break;
    case 4: must(ppoll(&place, 1, &span, NULL) == 0, "ppoll"); break;
    case 5:
        pthread_mutex_lock(&mutex);
        must(pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT, "pthread_cond_timedwait");
        pthread_mutex_unlock(&mutex);
        break;
    case 6: must(poll(NULL, 0, 2) == 0, "poll of nothing"); break;
    default: must(nanosleep(&span, NULL) == 0, "nanosleep");
    }
}

int main(int argc, char **argv) {
    int rounds = atoi(argv[2]);
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    must(pipe(ends) == 0 && (several = epoll_create1(0)) >= 0 && sem_init(&semaphore, 0, 0) == 0, "pipe");
    for (int round = 0; round < rounds; round++) {
        for (int i = 3; i < argc; i++) be_lost_if(argv[i], argv[1], rank, round);
        wait_so((rank + round) % WAYS);
        long now = (long)(MPI_Wtime() * 1e9);
        MPI_Allreduce(MPI_IN_PLACE, &now, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        sum += now & 0xffff;
    }
    long greatest = sum;
    MPI_Allreduce(MPI_IN_PLACE, &greatest, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("%s\n", greatest == sum ? "all the same" : "not the same");
    MPI_Finalize();
    return 0;
}
