/* An operation calls what operations may not: the function that is named. */
#include "report.h"

static const char *named;

static void wrong(void *left, void *right, int *count, MPI_Datatype *type) {
    int value = 0, flag;
    MPI_Request request;
    (void)left, (void)right, (void)count, (void)type;
    if (!strcmp(named, "MPI_Send")) MPI_Send(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    if (!strcmp(named, "MPI_Irecv")) MPI_Irecv(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
    if (!strcmp(named, "MPI_Iprobe")) MPI_Iprobe(rank, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (!strcmp(named, "MPI_Barrier")) MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Op op;
    int mine, all;
    named = argv[1];
    begin(&argc, &argv);
    mine = rank;
    /* Not an error that a program could go on after. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Op_create(wrong, 1, &op);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
    printf("went on\n");
    MPI_Finalize();
    return 0;
}
