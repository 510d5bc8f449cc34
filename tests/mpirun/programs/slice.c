/* Rank 0 computes without a call, in registers of every kind, until a message has come that it does not look for: ranks 1
 * and 2 send it once they have made their own exchange. With an argument nobody computes for long, and rank 0 waits for
 * the message: the same is printed. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

typedef double vector __attribute__((vector_size(32)));
enum { ROUNDS = 10000000 };

static volatile long flag;

static unsigned long bits(double value) {
    unsigned long bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Rounds down: the mode is in a register of its own. */
static void round_down(void) {
    unsigned mode;
    __asm__ volatile("stmxcsr %0" : "=m"(mode));
    mode |= 1u << 13;
    __asm__ volatile("ldmxcsr %0" : : "m"(mode));
}

static void __attribute__((noinline)) compute(int rounds) {
    vector a = {1, 2, 3, 4}, b = {5, 6, 7, 8}, c = {0.1, 0.2, 0.3, 0.4}, d = a + b;
    long double x87 = 1;
    unsigned long whole = 88172645463325252ul, carry = 0;
    for (int round = 0; round < rounds; round++) {
        a = a * 0.999999 + c;
        b = b * 0.999998 + d * 1e-9;
        c = c * 1.0000001 - a * 1e-9;
        d = d * 0.99999 + b;
        x87 = x87 * 1.0000000001L + 1e-12L;
        whole ^= whole << 13, whole ^= whole >> 7, whole ^= whole << 17;
        carry += whole < carry;
    }
    for (int i = 0; i < 4; i++)
        printf("%lx %lx %lx %lx\n", bits(a[i]), bits(b[i]), bits(c[i]), bits(d[i]));
    printf("%.21Lg %lx %lu\n", x87, whole, carry);
}

int main(int argc, char **argv) {
    int rank;
    long token = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv((void *)&flag, 1, MPI_LONG, 2, 5, MPI_COMM_WORLD, &request);
        round_down();
        compute(ROUNDS);
        while (argc == 1 && flag == 0) {
        }
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
        compute(1000);
        printf("flag %ld\n", flag);
    }
    for (int lap = 0; lap < 10 && rank > 0; lap++) {
        if (rank == 1)
            MPI_Send(&token, 1, MPI_LONG, 2, 3, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_LONG, 3 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        token++;
        if (rank == 2)
            MPI_Send(&token, 1, MPI_LONG, 1, 3, MPI_COMM_WORLD);
    }
    if (rank == 2)
        MPI_Send(&token, 1, MPI_LONG, 0, 5, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
