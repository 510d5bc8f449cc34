/* A file of ten bytes is opened to append to it. Each rank writes far behind its end as soon as it can: where pointers begin. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank;
    MPI_File file;
    MPI_Offset own, of_all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        FILE *begun = fopen(argv[1], "w");
        fputs("0123456789", begun);
        fclose(begun);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 100 + rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_get_position(file, &own);
    MPI_File_get_position_shared(file, &of_all);
    printf("rank %d: %lld, for all %lld\n", rank, (long long)own, (long long)of_all);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
