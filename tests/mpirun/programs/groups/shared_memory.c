/* Windows whose memory all ranks address (MPI_Win_allocate_shared): contiguous and not, by loads, by stores and by accesses. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

/* Rank r has r + 2 values, but for rank 1, which has none. */
static int length(int of) { return of == 1 ? 0 : of + 2; }

static void all_are_addressed(int apart) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm here;
    MPI_Win win;
    MPI_Aint bytes;
    int *own, *of, unit, *model, flag, flavor, wrong = 0, follow = 1;
    void *base;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    if (apart) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    }
    MPI_Win_allocate_shared(length(rank) * sizeof(int), sizeof(int), info, here, &own, &win);
    if (apart) MPI_Info_free(&info);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &model, &flag);
    flavor = *model == MPI_WIN_FLAVOR_SHARED;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int i = 0; i < length(rank); i++) own[i] = rank * 100 + i;
    MPI_Win_sync(win);
    MPI_Barrier(here);
    MPI_Win_sync(win);
    char *end = NULL;
    for (int other = 0; other < ranks; other++) {
        MPI_Win_shared_query(win, other, &bytes, &unit, &of);
        wrong += bytes != length(other) * (MPI_Aint)sizeof(int) || unit != sizeof(int);
        for (int i = 0; i < length(other); i++) wrong += of[i] != other * 100 + i;
        if (bytes > 0 && end) follow &= (char *)of == end;
        if (bytes > 0) end = (char *)of + bytes;
    }
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &of);
    wrong += bytes != length(0) * (MPI_Aint)sizeof(int) || of[0] != 0;
    MPI_Win_sync(win);
    MPI_Barrier(here);
    /* The next one writes, this one accesses it by MPI as well. */
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks, got = -1, one = 1;
    MPI_Win_shared_query(win, next, &bytes, &unit, &of);
    if (bytes) of[1] = -rank;
    MPI_Win_sync(win);
    MPI_Barrier(here);
    MPI_Win_sync(win);
    if (length(rank)) wrong += own[1] != -last;
    MPI_Get(&got, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    wrong += got != -(ranks - 1);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(0, win);
    MPI_Barrier(here);
    MPI_Win_sync(win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &of);
    wrong += of[0] != ranks;
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&here);
    printf("%s %d: wrong %d, base %d, shared %d, follows %d\n", apart ? "apart" : "together", rank, wrong,
           length(rank) == 0 || base == own, flavor, apart || follow);
    fflush(stdout);
}

/* Each waits for the one before, looking at its memory. */
static void signals(void) {
    MPI_Win win;
    volatile int *own;
    int *before, unit;
    MPI_Aint bytes;
    MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    *own = 0;
    MPI_Win_lock_all(0, win);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 1; round <= 20; round++) {
        if (rank > 0 || round > 1) {
            MPI_Win_shared_query(win, (rank + ranks - 1) % ranks, &bytes, &unit, &before);
            while (*(volatile int *)before < round - (rank == 0)) MPI_Win_sync(win);
        }
        *own = round;
        MPI_Win_sync(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("signals %d: %d\n", rank, *own);
    fflush(stdout);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < atoi(argv[1]); round++) {
        all_are_addressed(0);
        all_are_addressed(1);
        signals();
    }
    MPI_Finalize();
    return 0;
}
