/* Ranks of a host wait for each other without messages, in one of these ways. Each counts, one after the other, in turns
   (a token goes round) or alone (a lock): prints how far all have counted. Words: the way, a name for files, rounds. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, MUCH = 1 << 20 };

static int rank, size, rounds;

static void check(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, strerror(errno));
    MPI_Abort(MPI_COMM_WORLD, 99);
}

static int is(const char *way, const char *other) { return !strcmp(way, other); }

/* A lock of a file, of four kinds. `again`: another descriptor of the file, which a record lock does not mind. */
static void lock(const char *way, int file, int again) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (is(way, "record")) check(!fcntl(file, F_SETLKW, &whole) && !fcntl(again, F_SETLKW, &whole), "F_SETLKW");
    if (is(way, "tried"))
        while (fcntl(file, F_SETLK, &whole)) check(errno == EAGAIN, "F_SETLK");
    if (is(way, "position")) check(lseek(file, 0, SEEK_SET) == 0 && !lockf(file, F_LOCK, 0), "lockf");
    if (is(way, "open")) check(!fcntl(file, F_OFD_SETLKW, &whole), "F_OFD_SETLKW");
    if (is(way, "whole")) check(!flock(file, LOCK_EX), "flock");
}

static int counts_alone(const char *way, const char *name) {
    int counted = 0, file = open(name, O_RDWR | O_CREAT, 0600);
    MPI_Barrier(MPI_COMM_WORLD);
    close(file);
    for (int round = 0; round < rounds; round++) {
        int here = open(name, O_RDWR), again = open(name, O_RDONLY + (is(way, "record") ? O_RDWR : 0));
        lock(way, here, again);
        check(pread(here, &counted, sizeof counted, 0) >= 0, "pread");
        usleep(50);
        counted++;
        check(pwrite(here, &counted, sizeof counted, 0) == sizeof counted, "pwrite");
        close(again);
        close(here);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    file = open(name, O_RDONLY);
    check(read(file, &counted, sizeof counted) == sizeof counted, "read");
    return counted;
}

struct shared {
    pthread_mutex_t mutex;
    pthread_rwlock_t lock;
    pthread_cond_t condition;
    pthread_barrier_t barrier;
    sem_t semaphores[MOST];
    int counted, turn;
};

static struct shared *shared(const char *name) {
    int file = open(name, O_RDWR | O_CREAT, 0600);
    check(!ftruncate(file, sizeof(struct shared)), "ftruncate");
    struct shared *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (rank == 0) {
        pthread_mutexattr_t of_mutex;
        pthread_rwlockattr_t of_lock;
        pthread_condattr_t of_condition;
        pthread_barrierattr_t of_barrier;
        pthread_mutexattr_init(&of_mutex);
        pthread_rwlockattr_init(&of_lock);
        pthread_condattr_init(&of_condition);
        pthread_barrierattr_init(&of_barrier);
        pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
        pthread_rwlockattr_setpshared(&of_lock, PTHREAD_PROCESS_SHARED);
        pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
        pthread_barrierattr_setpshared(&of_barrier, PTHREAD_PROCESS_SHARED);
        pthread_mutex_init(&all->mutex, &of_mutex);
        pthread_rwlock_init(&all->lock, &of_lock);
        pthread_cond_init(&all->condition, &of_condition);
        pthread_barrier_init(&all->barrier, &of_barrier, size);
        for (int i = 0; i < size; i++) sem_init(&all->semaphores[i], 1, i == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return all;
}

/* Others would count in between. */
static void count_slowly(struct shared *all) {
    int counted = all->counted;
    usleep(50);
    all->counted = counted + 1;
}

static int counts_in_memory(const char *way, const char *name) {
    struct shared *all = shared(name);
    for (int round = 0; round < rounds; round++) {
        if (is(way, "mutex")) {
            pthread_mutex_lock(&all->mutex);
            count_slowly(all);
            pthread_mutex_unlock(&all->mutex);
        } else if (is(way, "writer")) {
            pthread_rwlock_wrlock(&all->lock);
            count_slowly(all);
            pthread_rwlock_unlock(&all->lock);
        } else if (is(way, "condition")) {
            pthread_mutex_lock(&all->mutex);
            while (all->turn != rank) pthread_cond_wait(&all->condition, &all->mutex);
            all->counted++;
            all->turn = (rank + 1) % size;
            pthread_cond_broadcast(&all->condition);
            pthread_mutex_unlock(&all->mutex);
        } else if (is(way, "barrier")) {
            for (int turn = 0; turn < size; turn++) {
                if (turn == rank) all->counted++;
                pthread_barrier_wait(&all->barrier);
            }
        } else {
            struct timespec late = {.tv_sec = time(NULL) + 1000};
            sem_t *own = &all->semaphores[rank];
            check(!(is(way, "timed") ? sem_timedwait(own, &late) : sem_wait(own)), "sem_wait");
            all->counted++;
            sem_post(&all->semaphores[(rank + 1) % size]);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int counted = all->counted;
    munmap(all, sizeof *all);
    return counted;
}

/* A token comes from the rank before. */
static int in, out, queue, semaphores, *attached;

static int token(const char *way) {
    int counted = 0;
    struct pollfd place = {.fd = in, .events = POLLIN};
    struct {
        long kind;
        int counted;
    } message;
    if (is(way, "queue")) {
        check(msgrcv(queue, &message, sizeof(int), rank + 1, 0) == sizeof(int), "msgrcv");
        return message.counted;
    }
    if (is(way, "semop")) {
        struct sembuf takes = {.sem_num = rank, .sem_op = -1};
        check(!semop(semaphores, &takes, 1), "semop");
        return *attached;
    }
    if (is(way, "poll")) check(poll(&place, 1, -1) == 1 && place.revents == POLLIN, "poll");
    if (is(way, "ppoll")) {
        struct timespec short_time = {.tv_nsec = 100000};
        while (ppoll(&place, 1, &short_time, NULL) == 0) continue;
    }
    if (is(way, "epoll")) {
        struct epoll_event event = {.events = EPOLLIN};
        int many = epoll_create1(0);
        check(!epoll_ctl(many, EPOLL_CTL_ADD, in, &event) && epoll_wait(many, &event, 1, -1) == 1, "epoll");
        close(many);
    }
    ssize_t got = is(way, "fifo") ? read(in, &counted, sizeof counted) : recv(in, &counted, sizeof counted, MSG_WAITALL);
    check(got == sizeof counted, "read");
    return counted;
}

static void pass(const char *way, int counted) {
    int after = (rank + 1) % size;
    struct {
        long kind;
        int counted;
    } message = {after + 1, counted};
    if (is(way, "queue")) {
        check(!msgsnd(queue, &message, sizeof(int), 0), "msgsnd");
    } else if (is(way, "semop")) {
        struct sembuf gives = {.sem_num = after, .sem_op = 1};
        *attached = counted;
        check(!semop(semaphores, &gives, 1), "semop");
    } else {
        check(write(out, &counted, sizeof counted) == sizeof counted, "write");
    }
}

static void connect_sockets(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int listens = socket(AF_INET, SOCK_STREAM, 0), after = -1, before = (rank + size - 1) % size;
    check(!bind(listens, (void *)&at, len) && !listen(listens, 1) && !getsockname(listens, (void *)&at, &len), "listen");
    int port = at.sin_port;
    MPI_Sendrecv(&port, 1, MPI_INT, before, 0, &after, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    at.sin_port = after;
    out = socket(AF_INET, SOCK_STREAM, 0);
    /* Only rank 0 connects first: the others have been connected to by then. */
    if (rank == 0) check(!connect(out, (void *)&at, sizeof at), "connect");
    in = accept(listens, NULL, NULL);
    check(in >= 0, "accept");
    if (rank) check(!connect(out, (void *)&at, sizeof at), "connect");
    close(listens);
}

static void open_pipes(const char *name) {
    char own[4096], next[4096];
    snprintf(own, sizeof own, "%s.%d", name, rank);
    snprintf(next, sizeof next, "%s.%d", name, (rank + 1) % size);
    check(!mkfifo(own, 0600), "mkfifo");
    MPI_Barrier(MPI_COMM_WORLD);
    in = open(own, O_RDWR);
    out = open(next, O_RDWR);
}

static void open_objects(void) {
    if (rank == 0) {
        queue = msgget(IPC_PRIVATE, 0600);
        semaphores = semget(IPC_PRIVATE, size, 0600);
        out = shmget(IPC_PRIVATE, sizeof(int), 0600);
    }
    int all[] = {queue, semaphores, out};
    MPI_Bcast(all, 3, MPI_INT, 0, MPI_COMM_WORLD);
    queue = all[0];
    semaphores = all[1];
    attached = shmat(all[2], NULL, 0);
    check(attached != (void *)-1, "shmat");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) shmctl(out, IPC_RMID, NULL);
}

/* All of these bytes, or what is behind them first, in one call. */
static ssize_t gives(const char *way, char *bytes, size_t len) {
    size_t first = len / 3;
    struct iovec pieces[] = {{bytes, first}, {bytes + first, len - first}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    if (is(way, "poll")) return sendmsg(out, &message, 0);
    if (is(way, "epoll") || (is(way, "fifo") && rank % 4 > 1)) return writev(out, pieces, 2);
    return is(way, "ppoll") ? send(out, bytes, len, 0) : write(out, bytes, len);
}

static ssize_t takes(const char *way, char *bytes, size_t len) {
    if (is(way, "recv")) return recv(in, bytes, len, MSG_WAITALL);
    for (size_t at = 0; at < len;) {
        struct iovec pieces[] = {{bytes + at, (len - at) / 2}, {bytes + at + (len - at) / 2, len - at - (len - at) / 2}};
        ssize_t some = is(way, "epoll") ? readv(in, pieces, 2) : read(in, bytes + at, len - at);
        if (some <= 0) return some;
        at += some;
    }
    return len;
}

/* More than a socket or a pipe has room for goes from even ranks to odd ones, and from these to even ones. */
static void much(const char *way) {
    char *bytes = malloc(MUCH);
    for (int turn = 0; turn < 2; turn++) {
        if (rank % 2 == turn) {
            for (int i = 0; i < MUCH; i++) bytes[i] = i % 251 + rank;
            check(gives(way, bytes, MUCH) == MUCH, "gives much");
        } else {
            check(takes(way, bytes, MUCH) == MUCH, "takes much");
            for (int i = 0; i < MUCH; i++) check(bytes[i] == (char)(i % 251 + (rank + size - 1) % size), "other bytes");
        }
    }
    free(bytes);
}

static int counts_in_turns(const char *way, const char *name) {
    int of_system = is(way, "queue") || is(way, "semop"), counted = 0;
    if (of_system) open_objects();
    else if (is(way, "fifo")) open_pipes(name);
    else connect_sockets();
    for (int round = 0; round < rounds; round++) {
        if (rank || round) counted = token(way);
        pass(way, counted + 1);
    }
    if (rank == 0) counted = token(way);
    if (!of_system) much(way);
    MPI_Barrier(MPI_COMM_WORLD);
    if (of_system && rank == 0) check(!msgctl(queue, IPC_RMID, NULL) && !semctl(semaphores, 0, IPC_RMID), "remove");
    if (of_system) {
        shmdt(attached);
    } else {
        close(in);
        close(out);
    }
    return counted;
}

int main(int argc, char **argv) {
    const char *way = argv[1], *of_memory = "mutex writer condition barrier semaphore timed", *of_locks = "record tried position open whole";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = atoi(argv[3]);
    int (*counts)(const char *, const char *) =
        strstr(of_memory, way) ? counts_in_memory : strstr(of_locks, way) ? counts_alone : counts_in_turns;
    int counted = counts(way, argv[2]);
    if (rank == 0) printf("%d\n", counted);
    MPI_Finalize();
    return 0;
}
