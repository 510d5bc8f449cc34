/* Ports and names of services: ranks of one job come to communicators of two groups by them. */
#include "report.h"

static int is_talisman;

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* A name is known to all when it has been published, and to nobody when that was taken back. */
static void names(int round) {
    char service[64], port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME] = "";
    int owner = round % size, code, all;
    sprintf(service, "service %d", round);
    if (rank == owner) {
        MPI_Open_port(MPI_INFO_NULL, port);
        check(strlen(port) > 0 && strlen(port) < MPI_MAX_PORT_NAME, "the name of a port");
        MPI_Publish_name(service, MPI_INFO_NULL, port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Lookup_name(service, MPI_INFO_NULL, found);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, owner, MPI_COMM_WORLD);
    int same = !strcmp(port, found);
    MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == owner) {
        MPI_Unpublish_name(service, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    code = MPI_Lookup_name(service, MPI_INFO_NULL, found);
    check(class_of(code) == MPI_ERR_NAME, "a name that is not published any more");
    if (is_talisman) {
        check(class_of(MPI_Unpublish_name(service, MPI_INFO_NULL, port)) == MPI_ERR_SERVICE, "nobody's name");
        check(class_of(MPI_Close_port(port)) == MPI_ERR_PORT, "a port that is closed");
        MPI_Comm none = MPI_COMM_NULL;
        code = MPI_Comm_connect(port, MPI_INFO_NULL, round % size, MPI_COMM_WORLD, &none);
        check(class_of(code) == MPI_ERR_PORT && none == MPI_COMM_NULL, "a port that was closed before");
        code = MPI_Comm_connect("nowhere", MPI_INFO_NULL, 0, MPI_COMM_SELF, &none);
        check(class_of(code) == MPI_ERR_PORT, "a port that never was");
        code = MPI_Comm_accept(port, MPI_INFO_NULL, size, MPI_COMM_WORLD, &none);
        check(class_of(code) == MPI_ERR_ROOT, "no root");
    }
    printf("names %d: %d of %d know it\n", rank, all, size);
}

/* The two halves of all, with roots that are not their first. */
static void halves(int round) {
    MPI_Comm half, between, all;
    int is_odd = rank % 2, me, mine, theirs, sum, is_inter, result, next = -1;
    char port[MPI_MAX_PORT_NAME] = "not for others";
    MPI_Comm_split(MPI_COMM_WORLD, is_odd, rank, &half);
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &mine);
    int last = mine - 1;
    if (rank == 2 * last) { /* The last of the even ones. */
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, round, MPI_COMM_WORLD);
    }
    if (rank == 1) MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is_odd) MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &between);
    else MPI_Comm_accept(port, MPI_INFO_NULL, last, half, &between);
    MPI_Comm_test_inter(between, &is_inter);
    MPI_Comm_remote_size(between, &theirs);
    check(is_inter && theirs == size / 2, "two groups");
    int value = rank + round;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, between);
    MPI_Intercomm_merge(between, is_odd, &all);
    MPI_Comm_size(all, &result);
    check(result == size, "both groups as one");
    MPI_Comm_rank(all, &me);
    MPI_Sendrecv(&rank, 1, MPI_INT, (me + 1) % size, 3, &next, 1, MPI_INT, (me + size - 1) % size, 3, all,
                 MPI_STATUS_IGNORE);
    printf("halves %d: %d %d %d\n", rank, sum, me, next);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
    check(between == MPI_COMM_NULL, "a communicator that is gone");
    if (rank == 2 * last) MPI_Close_port(port);
    MPI_Comm_free(&half);
}

/* All come to a port, each alone; under Open MPI one after the other: it ends up waiting for itself otherwise. */
static void clients(int round) {
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm one;
    int value = rank * 100 + round, sum = 0;
    if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int client = 1; client < size; client++) {
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &one);
            MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, one, MPI_STATUS_IGNORE);
            sum += value;
            MPI_Ssend(&sum, 1, MPI_INT, 0, 1, one);
            MPI_Comm_disconnect(&one);
            if (!is_talisman) MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Close_port(port);
        printf("clients %d: %d\n", rank, sum);
        return;
    }
    for (int client = 1; client < rank && !is_talisman; client++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &one);
    MPI_Send(&value, 1, MPI_INT, 0, 4, one);
    MPI_Recv(&sum, 1, MPI_INT, 0, 1, one, MPI_STATUS_IGNORE);
    check(sum >= value, "what comes back");
    MPI_Comm_disconnect(&one);
    for (int client = rank; client < size && !is_talisman; client++) MPI_Barrier(MPI_COMM_WORLD);
    printf("clients %d: %d\n", rank, value);
}

/* Who takes leave waits until what he has sent is received: his memory is his again. */
static void leave(int round) {
    enum { LONG = 50000 };
    static int values[LONG];
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm one;
    MPI_Request request;
    if (rank > 1) return;
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 9, MPI_COMM_WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &one);
        for (int i = 0; i < LONG; i++) values[i] = i + round;
        MPI_Isend(values, LONG, MPI_INT, 0, 5, one, &request);
        if (is_talisman) MPI_Request_free(&request); /* The others do not wait for these. */
        else MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&one);
        memset(values, 1, sizeof values);
        MPI_Close_port(port);
        printf("leave 0\n");
    } else {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &one);
        memset(values, 0, sizeof values);
        MPI_Recv(values, LONG, MPI_INT, 0, 5, one, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&one);
        printf("leave 1: %ld\n", sum_of(values, LONG));
    }
}

int main(int argc, char **argv) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    begin(&argc, &argv);
    MPI_Get_library_version(library, &length);
    is_talisman = !strncmp(library, "Talisman", 8);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (argc > 2) { /* Nobody comes. */
        char port[MPI_MAX_PORT_NAME];
        MPI_Comm nobody;
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &nobody);
    }
    for (int round = 0; round < rounds; round++) {
        names(round);
        halves(round);
        clients(round);
        leave(round);
    }
    MPI_Finalize();
    return 0;
}
