/* Ranks count in each other's windows, wherever those are: nothing is counted twice, and nothing is lost. */
#include <stddef.h>
#include "report.h"

enum { EXTRA = 500 };
typedef struct { long counted, alone, last[16]; double sums[EXTRA]; } Memory;
enum { COUNTED = offsetof(Memory, counted), ALONE = offsetof(Memory, alone), LAST = offsetof(Memory, last),
       SUMS = offsetof(Memory, sums) };

static Memory *own;
static MPI_Win window;
static unsigned seed;

static int any(void) {
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % size;
}

/* One more, by an operation that nothing comes between; returns what it was. */
static long count_at(int target) {
    long one = 1, was = -1;
    MPI_Fetch_and_op(&one, &was, MPI_LONG, target, COUNTED, MPI_SUM, window);
    MPI_Win_flush(target, window);
    return was;
}

/* The place of this rank in another's memory is written by it alone. */
static void write_at(int target, long round) {
    long got = -1;
    MPI_Put(&round, 1, MPI_LONG, target, LAST + 8 * rank, 1, MPI_LONG, window);
    MPI_Win_flush(target, window);
    MPI_Get(&got, 1, MPI_LONG, target, LAST + 8 * rank, 1, MPI_LONG, window);
    MPI_Win_flush(target, window);
    check(got == round, "what was put is there");
}

static void add_at(int target) {
    double ones[EXTRA];
    for (int i = 0; i < EXTRA; i++) ones[i] = 1;
    MPI_Accumulate(ones, EXTRA, MPI_DOUBLE, target, SUMS, EXTRA, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_flush(target, window);
}

/* One more, in two steps, between which nobody comes who has to have the lock for that. */
static void count_alone(int target) {
    long value = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    MPI_Get(&value, 1, MPI_LONG, target, ALONE, 1, MPI_LONG, window);
    MPI_Win_flush(target, window);
    value++;
    MPI_Put(&value, 1, MPI_LONG, target, ALONE, 1, MPI_LONG, window);
    MPI_Win_unlock(target, window);
}

static void part(int round, int steps) {
    long before = -1;
    MPI_Win_lock_all(0, window);
    for (int step = 0; step < steps; step++) {
        int target = any();
        long was = count_at(target);
        check(was >= 0 && was < (long)size * rounds * steps, "a count");
        write_at(target, round * 1000L + step);
        if (step % 8 == 0) add_at(any());
    }
    MPI_Win_unlock_all(window);
    for (int step = 0; step < steps / 4; step++) count_alone(any());
    /* Who looks at a value until another has written it lets that one run. */
    if (rank > 0) {
        do {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
            MPI_Get(&before, 1, MPI_LONG, 0, LAST + 8 * 15, 1, MPI_LONG, window);
            MPI_Win_unlock(0, window);
        } while (before < round - 1);
        /* Nobody is to have it for itself any more. */
        MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, window);
        do {
            MPI_Get(&before, 1, MPI_LONG, 0, LAST + 8 * 15, 1, MPI_LONG, window);
            MPI_Win_flush_local(0, window);
        } while (before < round);
        MPI_Win_unlock(0, window);
    } else {
        long now = round;
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Put(&now, 1, MPI_LONG, 0, LAST + 8 * 15, 1, MPI_LONG, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    const int steps = 32;
    begin(&argc, &argv);
    seed = 17 + rank;
    MPI_Win_allocate(sizeof *own, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
    memset(own, 0, sizeof *own);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 1; round <= rounds; round++) part(round, steps);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    double sums[3] = {own->counted, own->alone, 0}, all[3];
    for (int i = 0; i < EXTRA; i++) sums[2] += own->sums[i];
    MPI_Win_unlock(rank, window);
    MPI_Reduce(sums, all, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        int is_so = all[0] == (double)size * rounds * steps && all[1] == (double)size * rounds * (steps / 4)
            && all[2] == (double)size * rounds * (steps / 8) * EXTRA;
        printf("%s: %.0f %.0f %.0f\n", is_so ? "right" : "wrong", all[0], all[1], all[2]);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
