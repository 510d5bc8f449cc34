/* Time stamps of the processor, by both instructions, are sent on; as much as a clock says in the mean time. They never go back.
   Programs that a rank starts, where there are more than 20 rounds, look at clocks as well.
   Words behind the number of rounds are as of together.c. */
#include "lost.h"
#include <stdlib.h>
#include <time.h>

static unsigned long stamp(int round) {
    unsigned low, high, processor;
    if (round % 2) __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(processor));
    else __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return ((unsigned long)high << 32 | low);
}

static int programs_run(void) {
    char text[64] = "";
    FILE *date = popen("date +%s", "r");
    size_t read = date ? fread(text, 1, sizeof text - 1, date) : 0;
    return system("date > /dev/null") == 0 && date && pclose(date) == 0 && read > 5;
}

int main(int argc, char **argv) {
    int rank, size, rounds = atoi(argv[2]), backwards = 0;
    unsigned long all = 0, last = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rounds > 20 && !programs_run()) MPI_Abort(MPI_COMM_WORLD, 95);
    for (int round = 0; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 3; i < argc; i++) be_lost_if(argv[i], argv[1], rank, round);
        struct timespec now;
        unsigned long own = stamp(round), other;
        clock_gettime(CLOCK_MONOTONIC, &now);
        backwards += own <= last;
        last = own;
        own += now.tv_nsec;
        MPI_Sendrecv(&own, 1, MPI_LONG, (rank + 1) % size, 1, &other, 1, MPI_LONG, (rank + size - 1) % size, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        all += other;
        MPI_Allreduce(&all, &other, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    printf("%d: %s\n", rank, backwards ? "went back" : all > last ? "went on" : "none");
    MPI_Finalize();
    return 0;
}
