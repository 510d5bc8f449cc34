/* One of two programs of a job: asks each rank of the other program. */
#include "report.h"

int main(int argc, char **argv) {
    int *program, flag, sum = 0;
    begin(&argc, &argv);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &program, &flag);
    check(flag, "the number of the program");
    for (int other = 2; other < 5; other++) {
        int question = rank, answer = -1;
        MPI_Sendrecv(&question, 1, MPI_INT, other, 1, &answer, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(answer == other + rank, "the answer");
        sum += answer - rank + 1;
    }
    printf("asks %d of %d, program %d: %d words, %d\n", rank, size, *program, argc, sum);
    MPI_Finalize();
    return 0;
}
