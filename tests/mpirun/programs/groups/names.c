/* Files of MPI with a kind of file system before their names, in a folder that is given: which files there are then. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static const char *names[] = {"plain", "ufs:one", "NFS:two", "ufs:three:four"};

static void look(const char *when, const char *name, int code) {
    static const char *files[] = {"plain", "one", "ufs:one", "two", "NFS:two", "three:four", "ufs:three:four"};
    int rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("%s %s: %s:", name, when, code == MPI_SUCCESS ? "done" : "failed");
        for (unsigned i = 0; i < sizeof files / sizeof *files; i++)
            if (access(files[i], F_OK) == 0) printf(" %s", files[i]);
        printf("\n");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 2 || chdir(argv[1]) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        MPI_File file;
        char written = 'x';
        int code = MPI_File_open(MPI_COMM_WORLD, names[i], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        if (code == MPI_SUCCESS) {
            MPI_File_write_at(file, rank, &written, 1, MPI_CHAR, MPI_STATUS_IGNORE);
            MPI_File_close(&file);
        }
        look("opened", names[i], code);
        code = rank == 0 ? MPI_File_delete(names[i], MPI_INFO_NULL) : MPI_SUCCESS;
        look("deleted", names[i], code);
    }
    MPI_Finalize();
    return 0;
}
