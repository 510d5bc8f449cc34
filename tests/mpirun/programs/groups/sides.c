/* Intercommunicators that others are made of; functions of attributes that fail, or whose keys are freed. */
#include "report.h"

/* Between the ranks whose number has a remainder of 0 and 1. */
static MPI_Comm two_sides(void) {
    MPI_Comm side, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &both);
    MPI_Comm_free(&side);
    return both;
}

/* The numbers in the world of those on the other side, as digits, and whether they can be sent to. */
static long others(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return -1;
    int me, there, is_between;
    long all = 0;
    MPI_Comm_test_inter(comm, &is_between);
    check(is_between, "between two groups");
    MPI_Comm_rank(comm, &me);
    MPI_Comm_remote_size(comm, &there);
    int *from = malloc(there * sizeof *from);
    MPI_Allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, comm);
    for (int i = 0; i < there; i++) all = all * 10 + from[i];
    free(from);
    return all * 100 + me;
}

static void splits(void) {
    MPI_Comm both = two_sides(), part, none;
    MPI_Comm_split(both, rank / 2 % 2, -rank, &part);
    long seen = others(part);
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
    /* A colour that nobody of the other side has, and none. */
    MPI_Comm_split(both, rank == 1 ? MPI_UNDEFINED : rank % 2 + 3, 0, &none);
    check(none == MPI_COMM_NULL, "nobody is on the other side");
    printf("split %d: %ld\n", rank, seen);
    MPI_Comm_free(&both);
}

static void creates(void) {
    MPI_Comm both = two_sides(), made;
    MPI_Group here, last;
    int n;
    MPI_Comm_group(both, &here);
    MPI_Group_size(here, &n);
    /* Of one side all but the last, of the other the last one. */
    int range[1][3] = {{rank % 2 ? n - 1 : n > 1 ? n - 2 : 0, rank % 2 ? n - 1 : 0, -1}};
    MPI_Group_range_incl(here, 1, range, &last);
    MPI_Comm_create(both, last, &made);
    printf("create %d: %ld\n", rank, others(made));
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    MPI_Comm_create(both, rank % 2 ? MPI_GROUP_EMPTY : here, &made);
    check(made == MPI_COMM_NULL, "one side is empty");
    MPI_Group_free(&last);
    MPI_Group_free(&here);
    MPI_Comm_free(&both);
}

/* It is begun before the others come to it. */
static void duplicates_later(void) {
    MPI_Comm both = two_sides(), twin;
    MPI_Request request;
    int token = 0, me, there;
    MPI_Comm_rank(both, &me);
    MPI_Comm_remote_size(both, &there);
    if (rank % 2 == 0 && me == 0) MPI_Recv(&token, 1, MPI_INT, there - 1, 3, both, MPI_STATUS_IGNORE);
    MPI_Comm_idup(both, &twin, &request);
    if (rank % 2 == 1 && me == (size / 2) - 1) MPI_Send(&rank, 1, MPI_INT, 0, 3, both);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("later %d: %ld %d\n", rank, others(twin), token);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&both);
}

static int fails, calls, order;

static int copy(MPI_Comm of, int key, void *extra, void *value, void *copied, int *flag) {
    calls++;
    *(void **)copied = (char *)value + 1;
    *flag = 1;
    (void)of, (void)key, (void)extra;
    return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete(MPI_Comm of, int key, void *value, void *extra) {
    calls++;
    order = order * 10 + *(int *)extra;
    (void)of, (void)key, (void)value;
    return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void functions_that_fail(void) {
    MPI_Comm mine, twin;
    int key, flag, one = 1;
    char place[2], *found;
    MPI_Comm_dup(MPI_COMM_SELF, &mine);
    MPI_Comm_set_errhandler(mine, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy, delete, &key, &one);
    MPI_Comm_set_attr(mine, key, place);
    calls = 0, fails = 1;
    int wrong = MPI_Comm_set_attr(mine, key, NULL) == MPI_SUCCESS;
    wrong += MPI_Comm_delete_attr(mine, key) == MPI_SUCCESS;
    wrong += MPI_Comm_dup(mine, &twin) == MPI_SUCCESS;
    wrong += twin != MPI_COMM_NULL;
    MPI_Comm_get_attr(mine, key, &found, &flag);
    wrong += !flag || found != place;
    fails = 0;
    /* The key is freed: what has it keeps its functions. */
    int number = key;
    MPI_Comm_free_keyval(&key);
    check(key == MPI_KEYVAL_INVALID, "the key is freed");
    MPI_Comm_dup(mine, &twin);
    MPI_Comm_get_attr(twin, number, &found, &flag);
    wrong += !flag || found != place + 1;
    MPI_Comm_free(&twin);
    MPI_Comm_free(&mine);
    printf("fail %d: %d %d\n", rank, wrong, calls);
}

static int deleted;

static int delete_of_type(MPI_Datatype of, int key, void *value, void *extra) {
    deleted++;
    (void)of, (void)key, (void)value, (void)extra;
    return MPI_SUCCESS;
}

static void of_datatypes(void) {
    MPI_Datatype twin;
    int key, flag, left;
    char place, *found = NULL;
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, delete_of_type, &key, NULL);
    MPI_Type_set_attr(MPI_INT, key, &place);
    MPI_Type_dup(MPI_INT, &twin);
    MPI_Type_get_attr(twin, key, &found, &flag);
    MPI_Type_delete_attr(MPI_INT, key);
    MPI_Type_get_attr(MPI_INT, key, &found, &left);
    MPI_Type_free_keyval(&key);
    deleted = 0;
    MPI_Type_free(&twin);
    printf("types %d: %d %d %d\n", rank, flag && found == &place, left, deleted);
}

static void empty_statuses(void) {
    MPI_Status status[3];
    MPI_Request none = MPI_REQUEST_NULL;
    int flag[2], wrong = 0;
    memset(status, 1, sizeof status);
    MPI_Wait(&none, &status[0]);
    MPI_Test(&none, &flag[0], &status[1]);
    MPI_Request_get_status(none, &flag[1], &status[2]);
    for (int i = 0; i < 3; i++) {
        int n, cancelled;
        MPI_Get_count(&status[i], MPI_INT, &n);
        MPI_Test_cancelled(&status[i], &cancelled);
        wrong += status[i].MPI_SOURCE != MPI_ANY_SOURCE || status[i].MPI_TAG != MPI_ANY_TAG;
        wrong += n != 0 || cancelled;
    }
    wrong += status[2].MPI_ERROR != MPI_SUCCESS;
    MPI_Count most = 0x7654321f71234567LL, told;
    MPI_Status_set_elements_x(&status[0], MPI_BYTE, most);
    MPI_Get_elements_x(&status[0], MPI_BYTE, &told);
    printf("empty %d: %d %d %d %d\n", rank, flag[0], flag[1], wrong, told == most);
}

/* They are deleted before MPI ends, what was set last first. */
static void at_the_end(void) {
    static int numbers[3] = {1, 2, 3};
    int keys[3], which[3] = {2, 0, 1};
    for (int i = 0; i < 3; i++) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keys[i], &numbers[i]);
    for (int i = 0; i < 3; i++) MPI_Comm_set_attr(MPI_COMM_SELF, keys[which[i]], numbers);
    for (int i = 0; i < 3; i++) MPI_Comm_free_keyval(&keys[i]);
    order = 0;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int round = 0; round < rounds; round++) {
        splits();
        creates();
        duplicates_later();
        functions_that_fail();
        of_datatypes();
        empty_statuses();
    }
    at_the_end();
    MPI_Finalize();
    printf("end %d: %d\n", rank, order);
    return 0;
}
