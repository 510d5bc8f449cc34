/* Messages of a megabyte, to the next rank and from the one before, in rounds: what comes is looked at to the last byte, and what was
   sent is written to as soon as MPI lets it. */
#include "report.h"

enum { BYTES = 1 << 20, ROUNDS = 24 };

static unsigned char value(int from, int round, int at) {
    return (unsigned char)(from * 31 + round * 7 + at * 13 + (at >> 8));
}

/* With so many bytes from one pair to the next. */
static void fill(unsigned char *bytes, int round, int apart) {
    for (int at = 0; at < BYTES; at++) bytes[at / 2 * apart + at % 2] = value(rank, round, at);
}

static void look(const unsigned char *bytes, int from, int round, int apart) {
    for (int at = 0; at < BYTES; at++)
        check(bytes[at / 2 * apart + at % 2] == value(from, round, at), "a byte is another");
}

int main(int count, char **words) {
    begin(&count, &words);
    unsigned char *sent = malloc(2 * BYTES), *taken = malloc(2 * BYTES);
    int next = after(1), former = before(1);
    MPI_Datatype pairs;
    MPI_Type_vector(BYTES / 2, 1, 2, MPI_SHORT, &pairs);
    MPI_Type_commit(&pairs);
    for (int round = 0; round < rounds * ROUNDS; round++) {
        MPI_Request request;
        MPI_Status status;
        /* A type with gaps is sent, and filled, otherwise. */
        int sent_with_gaps = round % 3 == 2, has_gaps = round % 4 == 3;
        fill(sent, round, sent_with_gaps ? 4 : 2);
        MPI_Isend(sent, sent_with_gaps ? 1 : BYTES, sent_with_gaps ? pairs : MPI_BYTE, next, round, MPI_COMM_WORLD,
                  &request);
        /* It comes before it is asked for, or after that. */
        if (round % 2) MPI_Probe(former, round, MPI_COMM_WORLD, &status);
        MPI_Recv(taken, has_gaps ? 1 : BYTES, has_gaps ? pairs : MPI_BYTE, former, round, MPI_COMM_WORLD, &status);
        int length = 0;
        MPI_Get_count(&status, MPI_BYTE, &length);
        check(length == BYTES, "its length is another");
        look(taken, former, round, has_gaps ? 4 : 2);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        memset(sent, 0xee, 2 * BYTES);
    }
    MPI_Type_free(&pairs);
    printf("rounds %d of %d\n", rounds * ROUNDS, rank);
    MPI_Finalize();
    return 0;
}
