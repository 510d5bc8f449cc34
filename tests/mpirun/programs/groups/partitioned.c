/* Messages in parts (MPI-4): as many parts on both sides or not, of values with gaps or without, short ones and long ones. */
#include "report.h"

enum { PARTS = 24, TURNS = 5, COUNT = 6, LONG = 30000 };
static int is_mpich; /* Whose 4.0.2 hangs with a message to oneself, and has faults where the two sides differ. */

static int value(int of, int at, int round) {
    return of * 1000003 + at * 7 + round * 131;
}

/* Parts are ready in another order than theirs; the receiver looks for each. */
static void ring(int round) {
    int own[PARTS * COUNT], got[PARTS * COUNT], flag, left = 0, some[] = {9, 0, 23, 17};
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Precv_init(got, PARTS, COUNT, MPI_INT, before(1), 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(own, PARTS, COUNT, MPI_INT, after(1), 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Test(&requests[0], &flag, &status);
    check(flag && requests[0] != MPI_REQUEST_NULL, "one that was not started has ended, and stays");
    for (int again = 0; again < 3; again++) {
        for (int i = 0; i < PARTS * COUNT; i++) own[i] = value(rank, i, round + again), got[i] = -1;
        MPI_Startall(2, requests);
        MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
        check(!flag, "a send of which no part is ready");
        MPI_Pready_range(10, 14, requests[1]);
        MPI_Pready_list(4, some, requests[1]);
        for (int part = PARTS; part-- > 0;) {
            int is_ready = part >= 10 && part <= 14;
            for (int i = 0; i < 4; i++) is_ready |= part == some[i];
            if (!is_ready) MPI_Pready(part, requests[1]);
        }
        for (int part = 0; part < PARTS; part++) {
            for (flag = 0; !flag;) MPI_Parrived(requests[0], part, &flag);
            for (int i = part * COUNT; i < (part + 1) * COUNT; i++)
                check(got[i] == value(before(1), i, round + again), "a part that has arrived");
        }
        MPI_Wait(&requests[0], &status);
        check(is_mpich || (status.MPI_SOURCE == before(1) && status.MPI_TAG == 3), "whom it is from");
        MPI_Get_count(&status, MPI_INT, &left);
        check(is_mpich || left == PARTS * COUNT, "how long all is");
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    printf("ring %d: %ld\n", rank, sum_of(got, PARTS * COUNT));
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    check(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "requests that are freed");
}

/* A part waits for what the other side says of the one before. */
static void in_turns(int round) {
    int own[TURNS] = {0}, got[TURNS] = {0}, flag, peer = rank ^ 1;
    MPI_Request send, receive;
    if (peer >= size) return;
    MPI_Psend_init(own, TURNS, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(got, TURNS, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    MPI_Start(&receive);
    MPI_Start(&send);
    for (int part = 0; part < TURNS; part++) {
        if (rank < peer) {
            own[part] = (part ? got[part - 1] : round) + 1;
            MPI_Pready(part, send);
        }
        for (flag = 0; !flag;) MPI_Parrived(receive, part, &flag);
        if (rank > peer) {
            own[part] = got[part] + 1;
            MPI_Pready(part, send);
        }
    }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    check(got[TURNS - 1] == round + 2 * TURNS - (rank > peer), "each part was counted once");
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
}

/* Long parts, among messages of the same tag that are no parts, in another communicator. */
static void long_ones(int round) {
    int *own = malloc(4 * LONG * sizeof *own), *got = malloc(4 * LONG * sizeof *got), word = -1, flag;
    MPI_Comm other;
    MPI_Request requests[3];
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &other);
    int me, n;
    MPI_Comm_rank(other, &me);
    MPI_Comm_size(other, &n);
    for (int i = 0; i < 4 * LONG; i++) own[i] = value(me, i, round);
    MPI_Psend_init(own, 4, LONG, MPI_INT, (me + 1) % n, 0, other, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(got, 4, LONG, MPI_INT, (me + n - 1) % n, 0, other, MPI_INFO_NULL, &requests[1]);
    for (int again = 0; again < 2; again++) {
        MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, &requests[2]);
        MPI_Startall(2, requests);
        for (int part = 0; part < 4; part++) MPI_Pready(3 - part, requests[0]);
        for (flag = 0; !flag;) MPI_Parrived(requests[1], 3, &flag);
        check(got[4 * LONG - 1] == value((me + n - 1) % n, 4 * LONG - 1, round), "a long part");
        MPI_Test(&requests[2], &flag, MPI_STATUS_IGNORE);
        check(!flag, "no part is a message");
        MPI_Barrier(other);
        int mine = value(me, again, round);
        MPI_Send(&mine, 1, MPI_INT, (me + 1) % n, 0, other);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        check(requests[2] == MPI_REQUEST_NULL && requests[0] != MPI_REQUEST_NULL, "those in parts stay");
        check(word == value((me + n - 1) % n, again, round), "a message");
        for (int i = 0; i < 4 * LONG; i++) check(got[i] == value((me + n - 1) % n, i, round), "all of it");
    }
    printf("long %d: %ld\n", rank, sum_of(got, 4 * LONG));
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Comm_free(&other);
    free(own), free(got);
}

/* The n-th send goes to the n-th receive of its tag, in whatever order they are started. */
static void in_order(int round) {
    enum { N = 3 };
    int own[N][4], got[N][4];
    MPI_Request sends[N], receives[N];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 4; k++) own[i][k] = value(rank, 4 * i + k, round), got[i][k] = -1;
        MPI_Psend_init(own[i], 2, 2, MPI_INT, after(1), i == 1 ? 9 : 8, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]);
    }
    MPI_Precv_init(got[1], 2, 2, MPI_INT, before(1), 9, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[1]);
    MPI_Precv_init(got[0], 2, 2, MPI_INT, before(1), 8, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[0]);
    MPI_Precv_init(got[2], 2, 2, MPI_INT, before(1), 8, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[2]);
    for (int i = N; i-- > 0;) {
        MPI_Start(&sends[i]);
        MPI_Pready_range(0, 1, sends[i]);
        MPI_Start(&receives[(i + 1) % N]);
    }
    MPI_Waitall(N, receives, MPI_STATUSES_IGNORE);
    MPI_Waitall(N, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        check(got[i][3] == value(before(1), 4 * i + 3, round), "in the order in which they were made");
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&receives[i]);
    }
    printf("order %d: %ld\n", rank, sum_of(&got[0][0], 4 * N));
}

/* So many parts of so many values of a datatype, of which each has so many ints with gaps between them. */
static void unlike(int round, int parts, int ints, int their_parts, int their_ints) {
    enum { ALL = 120 };
    int own[3 * ALL], got[3 * ALL], flag;
    MPI_Datatype mine, theirs;
    MPI_Request requests[2];
    MPI_Type_vector(ints, 1, 3, MPI_INT, &mine);
    MPI_Type_create_resized(mine, 0, 3 * ints * sizeof(int), &mine);
    MPI_Type_vector(their_ints, 1, 2, MPI_INT, &theirs);
    MPI_Type_create_resized(theirs, 0, 2 * their_ints * sizeof(int), &theirs);
    MPI_Type_commit(&mine);
    MPI_Type_commit(&theirs);
    MPI_Psend_init(own, parts, ALL / parts / ints, mine, after(1), 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(got, their_parts, ALL / their_parts / their_ints, theirs, before(1), 2, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &requests[1]);
    MPI_Type_free(&mine);
    MPI_Type_free(&theirs);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < 3 * ALL; i++) own[i] = value(rank, i / 3, round + again), got[i] = -1;
        MPI_Startall(2, requests);
        for (int part = parts; part-- > 0;) MPI_Pready(part, requests[0]);
        for (int part = their_parts; part-- > 0;) {
            for (flag = 0; !flag;) MPI_Parrived(requests[1], part, &flag);
            int each = ALL / their_parts;
            for (int i = part * each; i < (part + 1) * each; i++)
                check(got[2 * i] == value(before(1), i, round + again) && got[2 * i + 1] == -1, "a part of values with gaps");
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* To oneself, and to nobody; and what is wrong. */
static void alone(int round) {
    int own[6] = {1, 2, 3, 4, 5, round}, got[6] = {0}, flag;
    MPI_Request requests[4];
    MPI_Status status;
    MPI_Psend_init(own, 3, 2, MPI_INT, 0, 4, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(got, 2, 3, MPI_INT, 0, 4, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
    MPI_Psend_init(own, 3, 2, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
    MPI_Precv_init(got, 3, 2, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
    MPI_Startall(4, requests);
    MPI_Wait(&requests[3], &status);
    check(status.MPI_SOURCE == MPI_PROC_NULL, "from nobody");
    MPI_Pready_range(0, 2, requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Pready(0, requests[0]);
    MPI_Parrived(requests[1], 0, &flag);
    check(!flag, "half of a part");
    MPI_Pready_range(1, 2, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(!memcmp(own, got, sizeof own), "to oneself");
    MPI_Parrived(requests[1], 1, &flag);
    check(flag, "a part of one that is inactive");
    flag = 0;
    MPI_Parrived(MPI_REQUEST_NULL, 1, &flag);
    check(flag, "a part of nothing");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int class, codes[] = {
        MPI_Pready(0, requests[0]), MPI_Pready(0, requests[1]), MPI_Parrived(requests[0], 0, &flag),
        MPI_Precv_init(got, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]),
        MPI_Psend_init(got, 1, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]),
        MPI_Parrived(requests[1], 2, &flag), MPI_Psend_init(got, 1, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]),
    };
    int classes[] = {MPI_ERR_REQUEST, MPI_ERR_REQUEST, MPI_ERR_REQUEST, MPI_ERR_RANK, MPI_ERR_TAG, MPI_ERR_ARG, MPI_ERR_COUNT};
    for (int i = 0; i < 7; i++) {
        MPI_Error_class(codes[i], &class);
        check(class == classes[i], "what is wrong is said");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(library, &length);
    is_mpich = !strncmp(library, "MPICH", 5);
    for (int round = 0; round < rounds; round++) {
        ring(round);
        long_ones(round);
        in_order(round);
        if (is_mpich) continue; /* It sends all parts when the last one is ready. */
        in_turns(round);
        unlike(round, 12, 5, 4, 10);
        unlike(round, 8, 3, 6, 5);
        unlike(round, 5, 8, 40, 3);
        unlike(round, 1, 120, 15, 1);
        alone(round);
    }
    MPI_Finalize();
    return 0;
}
