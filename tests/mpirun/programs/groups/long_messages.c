/* Messages of a megabyte, to the next rank and from the one before, in rounds: what comes is looked at to the last byte, and what was
   sent is written to as soon as MPI lets it. */
#include "report.h"

enum { BYTES = 1 << 20, ROUNDS = 40 };

static unsigned char value(int from, int round, int at) {
    return (unsigned char)(from * 31 + round * 7 + at * 13 + (at >> 8));
}

static void fill(unsigned char *bytes, int round) {
    for (int at = 0; at < BYTES; at++) bytes[at] = value(rank, round, at);
}

/* With so many bytes from one pair to the next. */
static void look(const unsigned char *bytes, int from, int round, int apart) {
    for (int at = 0; at < BYTES; at++)
        check(bytes[at / 2 * apart + at % 2] == value(from, round, at), "a byte is another");
}

int main(int count, char **words) {
    begin(&count, &words);
    unsigned char *sent = malloc(BYTES), *taken = malloc(2 * BYTES);
    int next = after(1), former = before(1);
    for (int round = 0; round < rounds * ROUNDS; round++) {
        MPI_Request request;
        MPI_Status status;
        fill(sent, round);
        MPI_Isend(sent, BYTES, MPI_BYTE, next, round, MPI_COMM_WORLD, &request);
        /* It comes before it is asked for, or after that. */
        if (round % 2) MPI_Probe(former, round, MPI_COMM_WORLD, &status);
        /* A type with gaps is filled otherwise. */
        int has_gaps = round % 4 == 3;
        if (has_gaps) {
            MPI_Datatype pairs;
            MPI_Type_vector(BYTES / 2, 1, 2, MPI_SHORT, &pairs);
            MPI_Type_commit(&pairs);
            MPI_Recv(taken, 1, pairs, former, round, MPI_COMM_WORLD, &status);
            MPI_Type_free(&pairs);
        } else {
            MPI_Recv(taken, BYTES, MPI_BYTE, former, round, MPI_COMM_WORLD, &status);
        }
        int length = 0;
        MPI_Get_count(&status, MPI_BYTE, &length);
        check(length == BYTES, "its length is another");
        look(taken, former, round, has_gaps ? 4 : 2);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        memset(sent, 0xee, BYTES);
    }
    printf("rounds %d of %d\n", rounds * ROUNDS, rank);
    MPI_Finalize();
    return 0;
}
