/* Jumps to where a rank was before it waited, with every name of the functions. */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static jmp_buf plain;
static sigjmp_buf with_mask;
static int rank;

static void wait_a_while(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(1500);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void descend(int depth, int value) {
    volatile char room[200];
    room[depth] = (char)value;
    wait_a_while();
    if (depth == 0) longjmp(plain, value);
    descend(depth - 1, value);
    room[0]++;
}

static int is_blocked(int signal) {
    sigset_t set;
    sigprocmask(SIG_BLOCK, NULL, &set);
    return sigismember(&set, signal);
}

static void block(int how, int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(how, &set, NULL);
}

static void last_words(void) { printf("rank %d: last words\n", rank); }

static void later_words(int status, void *text) { printf("rank %d: %s %d\n", rank, (char *)text, status); }

int main(int argc, char **argv) {
    int rounds = atoi(argv[1]);
    volatile int back = 0, masks = 0, zero = 0;
    atexit(last_words);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    on_exit(later_words, "status");
    for (volatile int round = 0; round < rounds; round++) {
        int value = setjmp(plain);
        if (value == 0) descend(2, round + 1);
        back += value == round + 1;
        if (sigsetjmp(with_mask, 1) == 0) {
            block(SIG_BLOCK, SIGUSR1);
            wait_a_while();
            siglongjmp(with_mask, 1);
        }
        masks += !is_blocked(SIGUSR1);
        if (sigsetjmp(with_mask, 0) == 0) {
            block(SIG_BLOCK, SIGUSR2);
            siglongjmp(with_mask, 1);
        }
        masks += is_blocked(SIGUSR2);
        block(SIG_UNBLOCK, SIGUSR2);
        value = _setjmp(plain);
        if (value == 0) longjmp(plain, 0);
        zero += value == 1;
    }
    printf("rank %d has come back %d, %d and %d times\n", rank, back, masks, zero);
    MPI_Finalize();
    return 0;
}
