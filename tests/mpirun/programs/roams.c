/* Ranks with a heap that changes and stacks that are deep at times: for ranks that move, and whose nodes are lost. What is
   printed depends on nothing but the arguments. With a name as the third one, rank 1 writes what it prints into a file. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 7

static unsigned long number;
static __thread unsigned long drawn;

static unsigned long draw(unsigned long below) {
    number = number * 6364136223846793005ul + 1442695040888963407ul;
    drawn++;
    return (number >> 33) % below;
}

/* Leaves much behind on the stack, and of this only the sum is used. */
static unsigned long deep(int depth, unsigned long seed) {
    unsigned long room[64];
    for (int i = 0; i < 64; i += 3) room[i] = seed * (i + 1) + depth;
    if (depth == 0) return room[63];
    return deep(depth - 1, room[depth % 21 * 3]) ^ room[0];
}

int main(int argc, char **argv) {
    int rank, size, rounds = atoi(argv[1]), every = atoi(argv[2]);
    unsigned long *blocks[BLOCKS] = {0}, words[BLOCKS] = {0}, mine = 0, theirs, all;
    FILE *file = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    number = 77 + rank;
    if (argc > 3 && rank == 1) file = fopen(argv[3], "w");
    for (int round = 1; round <= rounds; round++) {
        int at = draw(BLOCKS), to = (rank + 1 + round % (size - 1)) % size, from = (rank + size - 1 - round % (size - 1)) % size;
        free(blocks[at]);
        words[at] = 1 + draw(3000);
        blocks[at] = malloc(words[at] * sizeof **blocks);
        /* All but the first half is never read. */
        for (unsigned long i = 0; i <= words[at] / 2; i++) blocks[at][i] = mine + i;
        mine += deep(1 + draw(60), draw(1000));
        for (int other = 0; other < BLOCKS; other++)
            if (words[other]) mine = mine * 31 + blocks[other][draw(words[other] / 2 + 1)];
        MPI_Sendrecv(&mine, 1, MPI_LONG, to, round, &theirs, 1, MPI_LONG, from, round, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        mine ^= theirs;
        if (round % every == 0) {
            unsigned long part = mine & 0xffffff;
            MPI_Allreduce(&part, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
            if (rank == 0) printf("round %d: %lu\n", round, all);
            if (file) fprintf(file, "round %d: %lu\n", round, all), fflush(file);
        }
    }
    printf("rank %d: %lu after %lu\n", rank, mine, drawn);
    if (file) fclose(file);
    MPI_Finalize();
    return 0;
}
