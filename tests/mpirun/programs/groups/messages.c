/* Point to point: modes, probes, requests of all kinds. */
#include "report.h"

enum { LARGE = 30000 };
static int out[LARGE], in[LARGE];

static void fill(int seed, int count) {
    for (int i = 0; i < count; i++) out[i] = seed * 1000 + i % 777;
}

static void modes(void) {
    long total = 0;
    for (int count = 1; count <= LARGE; count *= 10) {
        fill(rank + count, count);
        MPI_Request receive;
        MPI_Status status;
        int room = MPI_BSEND_OVERHEAD + (int)sizeof out, got;
        void *buffer = malloc(room);
        for (int mode = 0; mode < 4; mode++) {
            MPI_Irecv(in, count, MPI_INT, before(1), mode, MPI_COMM_WORLD, &receive);
            MPI_Barrier(MPI_COMM_WORLD);
            if (mode == 0) MPI_Send(out, count, MPI_INT, after(1), mode, MPI_COMM_WORLD);
            if (mode == 1) MPI_Ssend(out, count, MPI_INT, after(1), mode, MPI_COMM_WORLD);
            if (mode == 2) MPI_Rsend(out, count, MPI_INT, after(1), mode, MPI_COMM_WORLD);
            if (mode == 3) {
                MPI_Buffer_attach(buffer, room);
                MPI_Bsend(out, count, MPI_INT, after(1), mode, MPI_COMM_WORLD);
                MPI_Buffer_detach(&buffer, &got);
                check(got == room, "detach");
            }
            MPI_Wait(&receive, &status);
            MPI_Get_count(&status, MPI_INT, &got);
            check(got == count && status.MPI_SOURCE == before(1) && status.MPI_TAG == mode, "status");
            total += sum_of(in, count);
        }
        free(buffer);
    }
    printf("modes %d: %ld\n", rank, total);
}

static void probes(void) {
    MPI_Status status;
    MPI_Request request;
    int count, flag = 0;
    fill(rank, 100);
    MPI_Isend(out, 10 + rank, MPI_INT, after(2), 7, MPI_COMM_WORLD, &request);
    MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    check(count == 10 + before(2), "probe");
    MPI_Recv(in, count, MPI_INT, status.MPI_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    long total = sum_of(in, count);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(out, 20 + rank, MPI_INT, after(1), 8, MPI_COMM_WORLD, &request);
    while (!flag) MPI_Iprobe(before(1), MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    MPI_Message message;
    MPI_Mprobe(before(1), 8, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Mrecv(in, count, MPI_INT, &message, MPI_STATUS_IGNORE);
    check(message == MPI_MESSAGE_NULL, "the message is gone");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("probes %d: %ld\n", rank, total + sum_of(in, count));
}

static void requests(void) {
    enum { EACH = 5 };
    MPI_Request all[2 * EACH];
    MPI_Status statuses[2 * EACH];
    int places[2 * EACH], index, flag = 0, ended, left = 2 * EACH;
    fill(rank, EACH * 100);
    for (int i = 0; i < EACH; i++) {
        MPI_Irecv(in + 100 * i, 100, MPI_INT, before(1), i, MPI_COMM_WORLD, &all[i]);
        MPI_Isend(out + 100 * i, 100, MPI_INT, after(1), i, MPI_COMM_WORLD, &all[EACH + i]);
    }
    MPI_Waitany(2 * EACH, all, &index, &statuses[0]);
    check(all[index] == MPI_REQUEST_NULL, "waitany");
    left--;
    while (left > 4) {
        MPI_Waitsome(2 * EACH, all, &ended, places, statuses);
        left -= ended;
    }
    while (!flag) MPI_Testall(2 * EACH, all, &flag, MPI_STATUSES_IGNORE);
    MPI_Testany(2 * EACH, all, &index, &flag, MPI_STATUS_IGNORE);
    check(flag && index == MPI_UNDEFINED, "testany of none");
    printf("requests %d: %ld\n", rank, sum_of(in, EACH * 100));
}

static void persistent(void) {
    MPI_Request both[2];
    long total = 0;
    MPI_Send_init(out, 50, MPI_INT, after(1), 9, MPI_COMM_WORLD, &both[0]);
    MPI_Recv_init(in, 50, MPI_INT, before(1), 9, MPI_COMM_WORLD, &both[1]);
    for (int round = 0; round < 4; round++) {
        fill(rank + round, 50);
        MPI_Startall(2, both);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        total += sum_of(in, 50);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    printf("persistent %d: %ld\n", rank, total);
}

static void others(void) {
    MPI_Status status;
    MPI_Request request;
    int flag, value = rank, count;
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    check(status.MPI_SOURCE == MPI_PROC_NULL && value == rank, "nobody");
    MPI_Get_count(&status, MPI_INT, &count);
    check(count == 0, "from nobody");
    MPI_Sendrecv_replace(&value, 1, MPI_INT, after(1), 1, before(1), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 1, MPI_INT, before(1), 4711, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    check(flag, "cancelled");
    MPI_Sendrecv(&rank, 1, MPI_INT, rank, 2, in, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("others %d: %d %d\n", rank, value, in[0]);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    while (rounds-- > 0) {
        modes();
        probes();
        requests();
        persistent();
        others();
    }
    MPI_Finalize();
    return 0;
}
