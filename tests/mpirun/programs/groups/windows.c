/* One-sided communication: windows of all flavors, all accesses, and all that is said about when they may be done. */
#include "report.h"

enum { COUNT = 64, LONG = 40000 };
static MPI_Datatype column;
static int far;

/* What another rank sees of this one's memory. */
static int value(int of, int at, int round) {
    return of * 1000 + at * 7 + round;
}

/* Each writes into both neighbours, reads from the rank across, and adds to rank 0. */
static void fences(int round) {
    static int memory[4 * COUNT], sum[4];
    MPI_Win window;
    int left = (rank + size - 1) % size, right = (rank + 1) % size, own[COUNT], got[COUNT], one[4] = {1, rank, 2, round};
    for (int i = 0; i < 4 * COUNT; i++) memory[i] = -1;
    for (int i = 0; i < COUNT; i++) own[i] = value(rank, i, round);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    MPI_Put(own, COUNT, MPI_INT, left, 0, COUNT, MPI_INT, window);
    MPI_Put(own, COUNT, MPI_INT, right, COUNT, COUNT, MPI_INT, window);
    MPI_Win_fence(0, window);
    check(memory[5] == value(right, 5, round) && memory[COUNT + 5] == value(left, 5, round), "puts between fences");
    MPI_Get(got, COUNT, MPI_INT, far, COUNT, COUNT, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE, window);
    check(got[9] == value((far + size - 1) % size, 9, round), "a get between fences");
    printf("fences %d: %ld %ld\n", rank, sum_of(memory, 2 * COUNT), sum_of(got, COUNT));
    MPI_Win_free(&window);
    check(window == MPI_WIN_NULL, "a window that is freed");

    memset(sum, 0, sizeof sum);
    MPI_Win_create(sum, rank == 0 ? sizeof sum : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(one, 4, MPI_INT, 0, 0, 4, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    printf("sums %d: %d %d %d %d\n", rank, sum[0], sum[1], sum[2], sum[3]);
}

/* Columns of a matrix go to rows of another's, by datatypes with gaps on both sides; long ones too. */
static void shapes(int round) {
    int own[8][8], *there, got[8];
    MPI_Win window;
    for (int i = 0; i < 64; i++) own[i / 8][i % 8] = value(rank, i, round);
    MPI_Win_allocate(128 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &there, &window);
    for (int i = 0; i < 128; i++) there[i] = -i;
    MPI_Win_fence(0, window);
    MPI_Put(&own[0][rank], 1, column, (rank + 1) % size, 8 * rank, 8, MPI_INT, window);
    MPI_Put(&own[3][0], 8, MPI_INT, (rank + 2) % size, 64 + 7, 1, column, window);
    MPI_Win_fence(0, window);
    MPI_Get(got, 8, MPI_INT, (rank + 1) % size, 64 + 7, 1, column, window);
    MPI_Win_fence(0, window);
    printf("shapes %d: %ld %ld\n", rank, sum_of(there, 128), sum_of(got, 8));
    MPI_Win_free(&window);

    double *much, *back = malloc(LONG * sizeof *back), *mine = malloc(LONG * sizeof *mine), sum = 0;
    MPI_Win_allocate(LONG * sizeof *much, sizeof *much, MPI_INFO_NULL, MPI_COMM_WORLD, &much, &window);
    for (int i = 0; i < LONG; i++) mine[i] = rank + i % 11 + round, much[i] = 0;
    MPI_Win_fence(0, window);
    MPI_Put(mine, LONG, MPI_DOUBLE, (rank + 1) % size, 0, LONG, MPI_DOUBLE, window);
    /* It may be written to again when this returns, as the values are there after the fence. */
    MPI_Win_fence(0, window);
    MPI_Get(back, LONG, MPI_DOUBLE, far, 0, LONG, MPI_DOUBLE, window);
    MPI_Accumulate(mine, LONG / 2, MPI_DOUBLE, rank, LONG / 2, LONG / 2, MPI_DOUBLE, MPI_MAX, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < LONG / 2; i++) sum += back[i] * (i % 13);
    printf("long %d: %g %g\n", rank, sum, much[LONG - 1]);
    MPI_Win_free(&window);
    free(back);
    free(mine);
}

/* A counter that all count with, one lock that all want, and values that change only if nobody else has changed them. */
static void locks(int round) {
    long *there, mine = 1, before, sum = 0, none = 0, expected, next;
    MPI_Win window;
    MPI_Request requests[2];
    MPI_Win_allocate(8 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &there, &window);
    for (int i = 0; i < 8; i++) there[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) {
        /* Nobody else comes between these two. */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Get(&before, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
        MPI_Win_flush(0, window);
        before += rank + 1;
        MPI_Put(&before, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, window);
    MPI_Get(&sum, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
    check(sum == 5L * size * (size + 1) / 2, "a counter under a lock");

    MPI_Win_lock_all(0, window);
    for (int i = 0; i < 4; i++) {
        MPI_Fetch_and_op(&mine, &before, MPI_LONG, i % size, 1, MPI_SUM, window);
        MPI_Win_flush(i % size, window);
        check(before >= 0 && before < 16, "what was there before");
    }
    do {
        MPI_Fetch_and_op(NULL, &expected, MPI_LONG, far, 2, MPI_NO_OP, window);
        MPI_Win_flush_local(far, window);
        next = expected + rank + 1;
        MPI_Compare_and_swap(&next, &expected, &before, MPI_LONG, far, 2, window);
        MPI_Win_flush_all(window);
    } while (before != expected);
    MPI_Rput(&mine, 1, MPI_LONG, far, 3, 1, MPI_LONG, window, &requests[0]);
    MPI_Raccumulate(&mine, 1, MPI_LONG, far, 4, 1, MPI_LONG, MPI_SUM, window, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_flush_local_all(window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    long got[2], gone[2] = {-1, -1}, add[2] = {10, 20};
    MPI_Rget(got, 2, MPI_LONG, far, 1, 2, MPI_LONG, window, &requests[0]);
    MPI_Rget_accumulate(add, 2, MPI_LONG, gone, 2, MPI_LONG, rank, 5, 2, MPI_LONG, MPI_REPLACE, window, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_unlock_all(window);
    check(gone[0] == 0 && gone[1] == 0 && there[5] == 10 && there[6] == 20, "what was there is given back");
    MPI_Barrier(MPI_COMM_WORLD);
    /* What does nothing. */
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Put(&mine, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, window);
    MPI_Get_accumulate(&none, 0, MPI_LONG, &none, 0, MPI_LONG, MPI_PROC_NULL, 0, 0, MPI_LONG, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    printf("locks %d: %ld %ld %ld %ld %ld %ld %ld\n", rank, sum, there[1], there[2], there[3], there[4], got[0], got[1]);
    MPI_Win_free(&window);
    (void)round;
}

/* Each looks at the next one's memory until that has something there, in one of three ways; the last one begins. */
static void seen_there(int round) {
    long *there, one = round + 1, seen = 0, times = 0;
    int next = (rank + 1) % size;
    MPI_Win window;
    MPI_Request request;
    MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &there, &window);
    there[0] = there[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    while (rank < size - 1 && seen == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
        if (rank % 3 == 0) {
            MPI_Get(&seen, 1, MPI_LONG, next, 0, 1, MPI_LONG, window);
            MPI_Win_flush(next, window);
        } else if (rank % 3 == 1) {
            MPI_Rget(&seen, 1, MPI_LONG, next, 0, 1, MPI_LONG, window, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Get(&seen, 1, MPI_LONG, next, 0, 1, MPI_LONG, window);
        }
        MPI_Win_unlock(next, window);
        times++;
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    MPI_Put(&one, 1, MPI_LONG, rank, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
    check(rank == size - 1 ? times == 0 : times > 0 && seen == one, "what another has put into its own memory");
    /* The same with its own memory, which the next one writes to. */
    for (seen = 0; rank < size - 1 && seen == 0;) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
        seen = there[1];
        MPI_Win_unlock(rank, window);
    }
    if (rank > 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank - 1, 0, window);
        MPI_Put(&one, 1, MPI_LONG, rank - 1, 1, 1, MPI_LONG, window);
        MPI_Win_unlock(rank - 1, window);
    }
    printf("seen there %d: %ld %ld\n", rank, seen, *there);
    MPI_Win_free(&window);
}

/* Rank 0 lets all others write to it; each of them lets rank 0 read. */
static void groups(int round) {
    static int memory[COUNT];
    int own[4], got[4] = {0}, others[8], flag, n = 0;
    MPI_Group all, first, rest;
    MPI_Win window;
    for (int i = 0; i < COUNT; i++) memory[i] = value(rank, i, round);
    for (int i = 0; i < 4; i++) own[i] = value(rank, i, -round);
    for (int i = 1; i < size; i++) others[n++] = i;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_get_group(window, &all);
    MPI_Group_incl(all, 1, (int[]){0}, &first);
    MPI_Group_incl(all, n, others, &rest);
    if (rank == 0) {
        MPI_Win_post(rest, 0, window);
        MPI_Win_start(rest, 0, window);
        for (int i = 1; i < size; i++) MPI_Get(&got[i % 4], 1, MPI_INT, i, 40 + i, 1, MPI_INT, window);
        MPI_Win_complete(window);
        do MPI_Win_test(window, &flag);
        while (!flag);
    } else {
        MPI_Win_post(first, 0, window);
        MPI_Win_start(first, 0, window);
        MPI_Put(own, 4, MPI_INT, 0, 4 * rank, 4, MPI_INT, window);
        MPI_Win_complete(window);
        MPI_Win_wait(window);
    }
    printf("groups %d: %ld %d %d %d\n", rank, sum_of(memory, COUNT), got[1], got[2], got[3]);
    MPI_Group_free(&all);
    MPI_Group_free(&first);
    MPI_Group_free(&rest);
    MPI_Win_free(&window);
}

/* Memory that is attached later, and found by its address; pairs of a value and an index. */
static void attached(int round) {
    double *part = malloc(32 * sizeof *part), more = 0.5, got[2];
    struct {
        double value;
        int at;
    } best = {rank == 2 % size ? 9 : rank, rank}, most = {-1, -1};
    MPI_Aint *address = malloc(size * sizeof *address), own;
    MPI_Win window;
    for (int i = 0; i < 32; i++) part[i] = rank + i;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, part, 32 * sizeof *part);
    MPI_Get_address(part, &own);
    MPI_Allgather(&own, 1, MPI_AINT, address, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Accumulate(&more, 1, MPI_DOUBLE, far, MPI_Aint_add(address[far], 8 * sizeof *part), 1, MPI_DOUBLE, MPI_PROD, window);
    MPI_Win_flush(far, window);
    MPI_Get(got, 2, MPI_DOUBLE, far, MPI_Aint_add(address[far], 8 * sizeof *part), 2, MPI_DOUBLE, window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(window, part);
    MPI_Win_free(&window);
    printf("attached %d: %g %g %g %g\n", rank, part[8], part[9], got[0], got[1]);
    free(part);
    free(address);
    (void)round;
#ifndef OMPI_MAJOR_VERSION /* It cannot do that (4.1). */
    MPI_Win_create(&most, rank == 0 ? sizeof most : 0, sizeof most, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(&best, 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT, MPI_MAXLOC, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    printf("most %d: %g %d\n", rank, most.value, most.at);
#endif
}

static int errors, deleted;

static void handle(MPI_Win *window, int *code, ...) {
    int class;
    MPI_Error_class(*code, &class);
    errors += class == MPI_ERR_RMA_SYNC || class == MPI_ERR_RANK || class == MPI_ERR_LOCKTYPE;
}

static int delete (MPI_Win window, int key, void *value, void *extra) {
    deleted += value == &errors;
    return MPI_SUCCESS;
}

/* What a program attaches to a window and asks of it; errors, which go to its own handler. */
static void states(int round) {
    int memory[10], flag, *unit, *flavor, *model, key, length;
    void *base, *value;
    MPI_Aint *bytes;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Win window;
    MPI_Errhandler handler, other;
    MPI_Win_create(memory, sizeof memory, 2, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_get_attr(window, MPI_WIN_BASE, &base, &flag);
    check(flag && base == memory, "MPI_WIN_BASE");
    MPI_Win_get_attr(window, MPI_WIN_SIZE, &bytes, &flag);
    check(flag && *bytes == sizeof memory, "MPI_WIN_SIZE");
    MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &unit, &flag);
    check(flag && *unit == 2, "MPI_WIN_DISP_UNIT");
    MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    check(flag && *flavor == MPI_WIN_FLAVOR_CREATE, "MPI_WIN_CREATE_FLAVOR");
    MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &flag);
    check(flag && *model == MPI_WIN_UNIFIED, "MPI_WIN_MODEL");
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete, &key, NULL);
    MPI_Win_get_attr(window, key, &value, &flag);
    check(!flag, "nothing is attached");
    MPI_Win_set_attr(window, key, &errors);
    MPI_Win_get_attr(window, key, &value, &flag);
    check(flag && value == &errors, "what is attached");
    MPI_Win_set_name(window, "the window");
    MPI_Win_get_name(window, name, &length);
    check(length == 10 && !strcmp(name, "the window"), "its name");
    MPI_Win_create_errhandler(handle, &handler);
    MPI_Win_set_errhandler(window, handler);
    MPI_Win_get_errhandler(window, &other);
    check(other == handler, "its handler");
    MPI_Errhandler_free(&other);
    errors = 0;
    check(MPI_Put(memory, 1, MPI_INT, 0, 0, 1, MPI_INT, window) != MPI_SUCCESS, "a put outside of any epoch");
    check(MPI_Win_unlock(0, window) != MPI_SUCCESS, "nothing is locked");
    check(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, window) != MPI_SUCCESS, "no such rank");
    check(errors == 3, "the handler was called");
    MPI_Win_call_errhandler(window, MPI_ERR_RMA_SYNC);
    check(errors == 4, "the handler was called once more");
    MPI_Errhandler_free(&handler);
    MPI_Win_sync(window);
    MPI_Win_free(&window);
    check(deleted == round + 1, "what was attached is deleted");
    MPI_Win_free_keyval(&key);
    /* Of one rank alone, memory can be shared. */
    int *shared, *again;
    MPI_Aint of;
    MPI_Win_allocate_shared(12, 4, MPI_INFO_NULL, MPI_COMM_SELF, &shared, &window);
    MPI_Win_shared_query(window, 0, &of, &length, &again);
    check(of >= 12 && length == 4 && again == shared, "memory that is shared");
    MPI_Win_free(&window);
}

/* Parts that are attached one behind the other are accessed as one; pairs are combined in a datatype with gaps. */
static void together(int round) {
    static int memory[2 * COUNT];
    struct { double value; int index; } pairs[6], own[6];
    MPI_Datatype every_other;
    MPI_Aint at, there;
    MPI_Win window;
    int right = (rank + 1) % size, values[COUNT];
    memset(memory, 0, sizeof memory);
    for (int i = 0; i < COUNT; i++) values[i] = value(rank, i, round);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, memory + COUNT, COUNT * sizeof(int));
    MPI_Win_attach(window, memory, COUNT * sizeof(int));
    MPI_Get_address(memory + COUNT / 2, &at);
    MPI_Sendrecv(&at, 1, MPI_AINT, before(1), 0, &there, 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
    MPI_Put(values, COUNT, MPI_INT, right, there, COUNT, MPI_INT, window);
    MPI_Win_unlock(right, window);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("together %d: %ld\n", rank, sum_of(memory, 2 * COUNT));
    MPI_Win_detach(window, memory);
    MPI_Win_detach(window, memory + COUNT);
    MPI_Win_free(&window);

    memset(pairs, 0, sizeof pairs);
    for (int i = 0; i < 6; i++) pairs[i].index = 100, own[i].value = rank + i, own[i].index = rank;
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Win_create(pairs, sizeof pairs, sizeof pairs[0], MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(own, 1, every_other, 0, 0, 1, every_other, MPI_MAXLOC, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 6 && rank == 0; i++) printf("pairs: %g at %d\n", pairs[i].value, pairs[i].index);
    MPI_Win_free(&window);
    MPI_Type_free(&every_other);
}

/* A rank that only looks at its own memory sees what comes. Not so under other libraries, which it would have to help. */
static void looks(void) {
    volatile long *there;
    long one = 1;
    int length;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Win window;
    MPI_Get_library_version(library, &length);
    if (!strstr(library, "Talisman")) return;
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&there, &window);
    *there = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Accumulate(&one, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, MPI_REPLACE, window);
    MPI_Win_flush_all(window);
    while (*there == 0) MPI_Win_sync(window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    far = (rank + size / 2) % size;
    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int round = 0; round < rounds; round++) {
        fences(round);
        shapes(round);
        locks(round);
        seen_there(round);
        groups(round);
        attached(round);
        together(round);
        states(round);
        looks();
    }
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
