/* All the ways in which a rank can end. */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <stdarg.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void last_words(void) { printf("last words\n"); }

__attribute__((noinline)) int fault_here(volatile int *nowhere) { return *nowhere; }

/* In a thread. */
static void *aborts(void *nothing) {
    MPI_Abort(MPI_COMM_WORLD, 9);
    return nothing;
}

static void *faults(void *nowhere) {
    fault_here(nowhere);
    return NULL;
}

static void *exits(void *status) { exit((int)(size_t)status); }

/* As a program may that leaves all of its work to a thread. */
static void *ends_well(void *nothing) {
    MPI_Finalize();
    exit(0);
    return nothing;
}

static void *gives_up(void *nothing) {
    abort();
    return nothing;
}

/* In the C library. */
static void *measures(void *nowhere) {
    printf("%zu\n", strlen(nowhere));
    return NULL;
}

static void end_with(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    verrx(5, format, arguments);
}

/* With the program's name in front, and any number of arguments. */
static void say_and_end(const char *how, int rank) {
    if (rank != 1 || strncmp(how, "says", 4)) return;
    warnx("%s %d %.1f %s %d %d %d %d %.2f", "warned", 1, 2.5, "of", 3, 4, 5, 6, 7.25);
    error(0, 0, "%s %d %.1f %d %d %d %d %d", "went on", 1, 2.5, 3, 4, 5, 6, 7);
    errno = ENOENT;
    if (!strcmp(how, "says-err")) err(5, "%d %.1f %d %d %d %d %s", rank, 0.5, 1, 2, 3, 4, "no file");
    if (!strcmp(how, "says-errx")) errx(5, "%.1f %d %s", 0.5, rank, "nothing more");
    if (!strcmp(how, "says-verrx")) end_with("%.1f %d %s", 0.5, rank, "nothing more");
    if (!strcmp(how, "says-error")) error(5, ENOENT, "%d %.1f %d %d %d %d %s", rank, 0.5, 1, 2, 3, 4, "no file");
    if (!strcmp(how, "says-where")) error_at_line(5, 0, "file", 7, "%d %.1f %d %d", rank, 0.5, 1, 2);
}

/* More than a stack has, and than is behind its end. */
__attribute__((noinline)) static double has_many_variables(int many) {
    double all[many][many];
    memset(all, 0, sizeof all);
    return all[many - 1][0] + all[0][many - 1];
}

static void end(const char *how, int rank) {
    if (!strcmp(how, "large") && rank == 1) printf("%f\n", has_many_variables(1500));
    say_and_end(how, rank);
    if (!strcmp(how, "status") && rank == 1) exit(5);
    if (!strcmp(how, "forever")) {
        /* At once: other lines come when the rank waits. */
        fprintf(stderr, "for ever\n");
        for (volatile int turn = 0;;) turn++;
    }
    if (!strcmp(how, "usage")) {
        if (rank == 0) printf("usage: give another word\n");
        exit(3);
    }
    if (!strcmp(how, "status-forever")) {
        if (rank == 1) exit(5);
        usleep(1000);
        for (volatile int turn = 0;;) turn++;
    }
    if (!strcmp(how, "thread") || !strcmp(how, "deaf")) {
        pthread_t thread;
        pthread_create(&thread, NULL, aborts, NULL);
        while (!strcmp(how, "deaf")) pause();
        pthread_join(thread, NULL);
    }
    if (!strcmp(how, "threads-end-well")) {
        pthread_t thread;
        pthread_create(&thread, NULL, ends_well, NULL);
        if (rank == 0) pthread_join(thread, NULL);
        for (volatile int turn = 0;;) turn++;
    }
    if (!strncmp(how, "thread-exit", 11) && rank == 1) {
        pthread_t thread;
        pthread_create(&thread, NULL, exits, (void *)(size_t)atoi(how + 11));
        pthread_join(thread, NULL);
    }
    if (!strcmp(how, "thread-aborts") && rank == 1) {
        pthread_t thread;
        pthread_create(&thread, NULL, gives_up, NULL);
        pthread_join(thread, NULL);
    }
    if (!strncmp(how, "thread-fault", 12) && rank == 1) {
        pthread_t thread;
        pthread_create(&thread, NULL, strcmp(how, "thread-fault") ? measures : faults, (void *)64);
        /* That one is interrupted, this one ends the job. */
        for (volatile int turn = 0;;) turn++;
    }
    if (!strcmp(how, "abort")) MPI_Abort(MPI_COMM_WORLD, 7);
    if (!strcmp(how, "abort-below-0")) MPI_Abort(MPI_COMM_WORLD, -1);
    if (!strcmp(how, "abort-256")) MPI_Abort(MPI_COMM_WORLD, 256);
    if (!strcmp(how, "aborts")) abort();
    if (!strcmp(how, "fault") && rank == 1) fault_here((int *)64);
    if (!strcmp(how, "given") && rank == 1) MPI_Send((void *)64, 2, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (!strcmp(how, "given-much") && rank == 1) MPI_Send((void *)64, 1000, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (!strcmp(how, "assert")) assert(rank == 100);
}

int main(int argc, char **argv) {
    int rank;
    atexit(last_words);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *how = argv[1];
    /* What went wrong is remembered by the C library, for longer than this rank. */
    assert(!dlsym(RTLD_DEFAULT, "there_is_no_such_function") && !dlsym(RTLD_DEFAULT, "nor_this_one"));
    if (!strcmp(how, "early") && rank == 1) return 0;
    if (!strcmp(how, "input")) {
        char line[100];
        while (fgets(line, sizeof line, stdin)) printf("rank %d read %s", rank, line);
    } else if (!strcmp(how, "lines")) {
        printf("begun by %d, ", rank);
        MPI_Barrier(MPI_COMM_WORLD);
        printf("ended by %d\nwithout an end", rank);
    } else {
        end(how, rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return !strcmp(how, "returns") ? 9 : 0;
}
