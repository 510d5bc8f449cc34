/* The other one: answers whoever asks. */
#include "report.h"

int main(int argc, char **argv) {
    int *program, flag, questions = 0, world;
    begin(&argc, &argv);
    world = size;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &program, &flag);
    check(flag, "the number of the program");
    while (questions < world - 3) {
        MPI_Status status;
        int question, answer;
        MPI_Recv(&question, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        check(question == status.MPI_SOURCE, "the question");
        answer = question + rank;
        MPI_Send(&answer, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
        questions++;
    }
    printf("answers %d of %d, program %d: %d words, %d questions\n", rank, size, *program, argc, questions);
    MPI_Finalize();
    return 0;
}
