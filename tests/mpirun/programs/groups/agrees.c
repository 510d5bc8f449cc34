/* Ranks that learn from whom each gets a message, again and again with one tag: each sends synchronously, looks for
   messages, and comes to a barrier when its own have been received. What comes before that barrier has ended is of this
   time. */
#include "report.h"

/* The number that was sent in a message, if one is there. */
static int found(int round, int *sent, MPI_Status *status) {
    int flag;
    if (round % 2 == 0) {
        MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, status);
        if (flag) MPI_Recv(sent, 1, MPI_INT, status->MPI_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Message message;
        MPI_Improbe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, &message, status);
        if (flag) MPI_Mrecv(sent, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
    return flag;
}

/* Each has one more to send to with each round, and then only itself again. */
static void agree(int round) {
    MPI_Request sends[64], barrier = MPI_REQUEST_NULL;
    int others = round % size, count = 0, over = 0;
    for (int i = 0; i < others; i++)
        MPI_Issend(&round, 1, MPI_INT, after(i), 7, MPI_COMM_WORLD, &sends[i]);
    while (!over) {
        int flag, sent;
        MPI_Status status;
        if (found(round, &sent, &status)) {
            check(sent == round, "a message of the next time was found");
            count++;
        }
        if (barrier != MPI_REQUEST_NULL) {
            MPI_Test(&barrier, &over, MPI_STATUS_IGNORE);
        } else {
            MPI_Testall(others, sends, &flag, MPI_STATUSES_IGNORE);
            if (flag) MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        }
    }
    check(count == others, "a message is missing");
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int round = 0; round < rounds; round++) agree(round);
    printf("agreed %d\n", rank);
    MPI_Finalize();
    return 0;
}
