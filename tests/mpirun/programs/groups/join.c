/* Two ranks that have a socket between them come to have a communicator. */
#include "report.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static int connected(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int listening, made;
    if (rank == 0) {
        listening = socket(AF_INET, SOCK_STREAM, 0);
        check(!bind(listening, (struct sockaddr *)&at, sizeof at) && !listen(listening, 1), "a socket that listens");
        getsockname(listening, (struct sockaddr *)&at, &length);
        MPI_Send(&at, sizeof at, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        made = accept(listening, NULL, NULL);
        close(listening);
    } else {
        MPI_Recv(&at, sizeof at, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        made = socket(AF_INET, SOCK_STREAM, 0);
        check(!connect(made, (struct sockaddr *)&at, sizeof at), "a socket that connects");
        MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    check(made >= 0, "a socket");
    return made;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int round = 0; round < rounds && rank < 2; round++) {
        int made = connected(), n, theirs = -1, one = 7;
        MPI_Comm between, both;
        MPI_Comm_join(made, &between);
        MPI_Comm_remote_size(between, &n);
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 2, &theirs, 1, MPI_INT, 0, 2, between, MPI_STATUS_IGNORE);
        check(n == 1 && theirs == 1 - rank, "the other one");
        MPI_Intercomm_merge(between, rank, &both);
        MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, both);
        MPI_Comm_free(&both);
        MPI_Comm_disconnect(&between);
        /* The socket is as it was. */
        char byte = 'a' + rank;
        check(write(made, &byte, 1) == 1, "what else it carries");
        /* Whoever reads does not let others of its process run. */
        MPI_Sendrecv(&one, 1, MPI_INT, 1 - rank, 3, &n, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(read(made, &byte, 1) == 1 && byte == 'b' - rank, "what comes by it");
        close(made);
        printf("join %d: %d %d\n", rank, theirs, one);
    }
    printf("end %d\n", rank);
    MPI_Finalize();
    return 0;
}
