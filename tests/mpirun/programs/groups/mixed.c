/* Messages of all lengths between all pairs of ranks, several of one tag behind each other, waited for in every way: none overtakes
   another, and each byte comes. Sums in between see that nobody is left behind. */
#include "report.h"

enum { MOST = 5, BYTES = 20000, ROUNDS = 60 };

static const int LENGTHS[] = {8, 0, 41, 1, 8193, 40, 300, 13, 8192, 14, 20000};

static int length_of(int round, int from, int nth) { return LENGTHS[(round * 7 + from * 3 + nth) % 11]; }

static unsigned char value(int round, int from, int nth, int at) {
    return (unsigned char)(round * 31 + from * 17 + nth * 7 + at);
}

static unsigned char out[MOST][BYTES], in[MOST][BYTES], spread[2 * BYTES];

static void look(const unsigned char *bytes, int round, int from, int nth, MPI_Status *status) {
    int length = -1, expected = length_of(round, from, nth);
    MPI_Get_count(status, MPI_BYTE, &length);
    check(status->MPI_SOURCE == from, "another rank has sent it");
    check(length == expected, "a message has overtaken another");
    for (int at = 0; at < expected; at++) check(bytes[at] == value(round, from, nth, at), "a byte is another");
}

/* Into every second byte. */
static void receive_spread(unsigned char *into, int from, MPI_Status *status) {
    static MPI_Datatype every_second = MPI_DATATYPE_NULL;
    if (every_second == MPI_DATATYPE_NULL) {
        MPI_Type_vector(BYTES, 1, 2, MPI_BYTE, &every_second);
        MPI_Type_commit(&every_second);
    }
    memset(spread, 255, sizeof spread);
    MPI_Recv(spread, 1, every_second, from, 3, MPI_COMM_WORLD, status);
    for (int at = 0; at < BYTES; at++) {
        into[at] = spread[2 * at];
        check(spread[2 * at + 1] == 255, "a byte in a gap is another");
    }
}

/* Into a buffer that is one byte too short. */
static void receive_most(int round, int from, int nth) {
    int length = length_of(round, from, nth), class = MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    in[nth][length - 1] = 99;
    MPI_Error_class(MPI_Recv(in[nth], length - 1, MPI_BYTE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &class);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    check(class == MPI_ERR_TRUNCATE, "nothing was said of a buffer that is too short");
    check(in[nth][length - 1] == 99, "the byte behind a short buffer was written");
}

static void receive(int round, int from, int count) {
    MPI_Request requests[MOST];
    MPI_Status status;
    int way = (round + from) % 8;
    if (way == 5) MPI_Irecv(in[0], BYTES, MPI_BYTE, from, 3, MPI_COMM_WORLD, &requests[0]);
    if (way == 0 || way == 1)
        for (int nth = 0; nth < count; nth++)
            MPI_Irecv(in[nth], BYTES, MPI_BYTE, from, 3, MPI_COMM_WORLD, &requests[nth]);
    for (int nth = 0; nth < count; nth++) {
        int flag = 0;
        switch (way) {
        case 0:
            MPI_Wait(&requests[nth], &status);
            break;
        case 1:
            while (!flag) MPI_Test(&requests[nth], &flag, &status);
            break;
        case 2:
            MPI_Probe(from, 3, MPI_COMM_WORLD, &status);
            MPI_Recv(in[nth], BYTES, MPI_BYTE, from, 3, MPI_COMM_WORLD, &status);
            break;
        case 3:
            while (!flag) MPI_Iprobe(from, 3, MPI_COMM_WORLD, &flag, &status);
            MPI_Recv(in[nth], BYTES, MPI_BYTE, from, 3, MPI_COMM_WORLD, &status);
            break;
        case 5:
            if (nth == 0) continue;
            MPI_Recv(in[nth], BYTES, MPI_BYTE, from, 3, MPI_COMM_WORLD, &status);
            break;
        case 6:
            receive_spread(in[nth], from, &status);
            break;
        case 7:
            if (length_of(round, from, nth) > 0) {
                receive_most(round, from, nth);
                continue;
            }
            /* fall through */
        default:
            MPI_Recv(in[nth], BYTES, MPI_BYTE, from, 3, MPI_COMM_WORLD, &status);
        }
        look(in[nth], round, from, nth, &status);
    }
    if (way == 5) {
        MPI_Wait(&requests[0], &status);
        look(in[0], round, from, 0, &status);
    }
}

int main(int count, char **words) {
    begin(&count, &words);
    for (int round = 0; round < rounds * ROUNDS; round++) {
        int by = 1 + round % (size - 1), many = 1 + round % MOST;
        MPI_Request requests[MOST];
        for (int nth = 0; nth < many; nth++) {
            int length = length_of(round, rank, nth);
            for (int at = 0; at < length; at++) out[nth][at] = value(round, rank, nth, at);
            requests[nth] = MPI_REQUEST_NULL;
            if (round % 3 == 0 && length <= 8192)
                MPI_Send(out[nth], length, MPI_BYTE, after(by), 3, MPI_COMM_WORLD);
            else
                MPI_Isend(out[nth], length, MPI_BYTE, after(by), 3, MPI_COMM_WORLD, &requests[nth]);
        }
        receive(round, before(by), many);
        MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
        int all = 0;
        if (round % 4 == 3) {
            MPI_Allreduce(&round, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            check(all == round * size, "a sum is another");
        }
    }
    printf("mixed %d of %d\n", rounds * ROUNDS, rank);
    MPI_Finalize();
    return 0;
}
