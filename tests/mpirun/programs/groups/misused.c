/* Windows that are used wrongly: how, says the first argument. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank, memory[4] = {0}, value = 1;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *how = argv[1];
    MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (!strcmp(how, "outside")) {
        MPI_Win_fence(0, window);
        if (rank == 1) MPI_Put(&value, 1, MPI_INT, 0, 4, 1, MPI_INT, window);
        MPI_Win_fence(0, window);
    }
    if (!strcmp(how, "closed") && rank == 1) MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    if (!strcmp(how, "locked") && rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Win_free(&window);
    }
    if (!strcmp(how, "null") && rank == 1) MPI_Win_flush(0, MPI_WIN_NULL);
    if (!strcmp(how, "kept")) {
        /* Who has it first keeps it, and waits for the others, which wait for it. */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
