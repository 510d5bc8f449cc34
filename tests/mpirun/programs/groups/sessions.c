/* Sessions (MPI-4): communicators without MPI_Init, before it, beside it and after MPI_Finalize. */
#include "report.h"

static int is_mpich, errors;

static void counted(MPI_Session *session, int *code, ...) {
    int class;
    MPI_Error_class(*code, &class);
    errors += class == MPI_ERR_ARG;
    check(*session != MPI_SESSION_NULL, "the session of an error");
}

static MPI_Comm made(MPI_Session session, const char *set, const char *tag) {
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, set, &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    return comm;
}

/* What a session says of itself and of the sets that are always there. */
static void asked(MPI_Session session) {
    int n, length = 0, flag, found = 0, room = 64;
    char name[64] = "none", value[64];
    MPI_Info info;
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n);
    check(n >= 2, "sets that are always there");
    for (int i = 0; i < n; i++) {
        length = 0;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        check(length > 1 && length < 64, "the length of a name");
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        check(is_mpich || length == (int)strlen(name) + 1, "a name");
        MPI_Session_get_pset_info(session, name, &info);
        MPI_Info_get(info, "mpi_size", 63, value, &flag);
        check(flag, "how many are in a set");
        found += !strcmp(name, "mpi://WORLD") && atoi(value) == size;
        found += !strcmp(name, "mpi://SELF") && atoi(value) == 1;
        MPI_Info_free(&info);
    }
    check(found == 2, "all, and oneself");
    length = 6;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    check(!strcmp(name, "mpi:/") && (is_mpich || length == 12), "a name that is cut");
    MPI_Session_get_info(session, &info);
    MPI_Info_get_string(info, "thread_level", &room, value, &flag);
    check(flag && !strncmp(value, "MPI_THREAD_", 11), "the level of threads");
    MPI_Info_free(&info);
}

/* A communicator of all does what one does. */
static void used(MPI_Comm comm, const char *what, int round) {
    int n, me, value = rank * 10 + round, *all, sum = 0, flag, *most, next = -1, result;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    check(n == size && me == rank, "all, in the order of the set");
    all = malloc(n * sizeof *all);
    MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, comm);
    for (int i = 0; i < n; i++) sum += all[i] * (i + 1);
    MPI_Sendrecv(&value, 1, MPI_INT, (me + 1) % n, 5, &next, 1, MPI_INT, (me + n - 1) % n, 5, comm, MPI_STATUS_IGNORE);
    MPI_Comm_get_attr(comm, MPI_TAG_UB, &most, &flag);
    check(flag && *most >= 32767, "the largest tag");
    MPI_Comm other;
    MPI_Comm_split(comm, me % 2, n - me, &other);
    MPI_Comm_compare(comm, other, &result);
    check(result == (n == 1 ? MPI_CONGRUENT : MPI_UNEQUAL), "another communicator");
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, other);
    MPI_Comm_free(&other);
    printf("%s %d: %d %d %d\n", what, rank, sum, next, value);
    free(all);
}

/* Groups of some: all make theirs at once, by tags. */
static void parts(MPI_Session session, int round) {
    MPI_Group all, mine, theirs;
    MPI_Comm comm, between;
    int half = rank % 2, n = 0, other = 0, members[64], others[64], value = rank, got = -1, is_inter;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    for (int i = 0; i < size; i++) if (i % 2 == half) members[n++] = i; else others[other++] = i;
    MPI_Group_incl(all, n, members, &mine);
    MPI_Group_incl(all, other, others, &theirs);
    for (int again = 0; again < 3; again++) {
        MPI_Comm_create_from_group(mine, half ? "odd" : "even", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        value = rank + again;
        MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, comm);
        MPI_Comm_disconnect(&comm);
        check(comm == MPI_COMM_NULL, "a communicator that is gone");
    }
    if (size > 1) {
        MPI_Intercomm_create_from_groups(mine, n - 1, theirs, other - 1, "both halves", MPI_INFO_NULL,
                                         MPI_ERRORS_ARE_FATAL, &between);
        MPI_Comm_test_inter(between, &is_inter);
        check(is_inter, "a communicator of two groups");
        int me, remote;
        MPI_Comm_rank(between, &me);
        MPI_Comm_remote_size(between, &remote);
        check(remote == other && members[me] == rank, "the two groups");
        MPI_Request request;
        int to = me < remote ? me : MPI_PROC_NULL;
        MPI_Irecv(&got, 1, MPI_INT, to, 2, between, &request);
        MPI_Send(&rank, 1, MPI_INT, to, 2, between);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(to == MPI_PROC_NULL || got == others[me], "a message to the other group");
        MPI_Comm_free(&between);
    }
    printf("parts %d: %d %d\n", rank, value, got);
    MPI_Group_free(&all);
    MPI_Group_free(&mine);
    MPI_Group_free(&theirs);
}

/* Errors go to the handler of the session. */
static void misused(MPI_Session session) {
    MPI_Errhandler own, now;
    MPI_Group group = MPI_GROUP_NULL;
    int code, class, length = 0;
    char name[8];
    MPI_Session_get_errhandler(session, &now);
    check(now == MPI_ERRORS_RETURN, "the handler of a session");
    code = MPI_Group_from_session_pset(session, "mpi://NOBODY", &group);
    MPI_Error_class(code, &class);
    check(class == MPI_ERR_ARG && errors == 0, "a set that is not there");
    MPI_Session_create_errhandler(counted, &own);
    MPI_Session_set_errhandler(session, own);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, &length, name);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name);
    MPI_Session_call_errhandler(session, MPI_ERR_ARG);
    check(errors == 3, "the handler was called");
    MPI_Session_get_errhandler(session, &now);
    check(now == own, "the handler that was set");
    MPI_Errhandler_free(&now);
    MPI_Errhandler_free(&own);
    errors = 0;
    MPI_Session none = MPI_SESSION_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Session_finalize(&none);
    MPI_Error_class(code, &class);
    check(class == MPI_ERR_SESSION, "no session");
}

int main(int argc, char **argv) {
    MPI_Session first, second, third;
    MPI_Info level;
    int is_begun = -1, length;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    if (argc > 1) rounds = atoi(argv[1]);
    MPI_Get_library_version(library, &length);
    is_mpich = !strncmp(library, "MPICH", 5);
    rank = atoi(getenv("PMI_RANK")), size = atoi(getenv("PMI_SIZE"));
    MPI_Info_create(&level);
    MPI_Info_set(level, "thread_level", "MPI_THREAD_SINGLE");
    MPI_Session_init(level, MPI_ERRORS_RETURN, &first);
    MPI_Info_free(&level);
    MPI_Initialized(&is_begun);
    check(!is_begun, "sessions alone");
    if (argc > 2 && !strcmp(argv[2], "open")) return 0;
    if (argc > 2 && rank > 0) made(first, "mpi://WORLD", "not all");
    if (argc > 2) made(first, "mpi://SELF", "one"), MPI_Session_finalize(&first), exit(0);
    asked(first);
    for (int round = 0; round < rounds; round++) {
        MPI_Comm all = made(first, "mpi://WORLD", "all"), self = made(first, "mpi://SELF", "self");
        used(all, "alone", round);
        MPI_Comm_size(self, &length);
        check(length == 1, "oneself");
        MPI_Comm_free(&self);
        parts(first, round);
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second);
        check(first != second, "two sessions");
        MPI_Comm others = made(second, "mpi://WORLD", "all");
        used(others, "at once", round);
        int one = rank, got = -1;
        MPI_Request request;
        MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, all, &request);
        MPI_Barrier(others);
        MPI_Send(&one, 1, MPI_INT, after(1), 3, others);
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 3, others, MPI_STATUS_IGNORE);
        MPI_Send(&rank, 1, MPI_INT, after(2), 4, all);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(one == before(1) && got == before(2), "messages of two sessions");
        MPI_Comm_disconnect(&others);
        MPI_Session_finalize(&second);
        check(second == MPI_SESSION_NULL, "a session that has ended");
        used(all, "still", round);
        MPI_Comm_free(&all);
    }
    MPI_Init(&argc, &argv);
    MPI_Initialized(&is_begun);
    check(is_begun, "both");
    MPI_Comm beside = made(first, "mpi://WORLD", "beside");
    used(MPI_COMM_WORLD, "world", 1);
    used(beside, "beside", 1);
    if (!is_mpich) misused(first);
    MPI_Comm_free(&beside);
    MPI_Finalize();
    if (!is_mpich) { /* Its sessions do not outlive MPI_Finalize. */
        MPI_Comm late = made(first, "mpi://WORLD", "late");
        int sum = 1;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, late);
        check(sum == size, "after the end of the others");
        MPI_Comm_free(&late);
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &third);
        MPI_Session_finalize(&third);
    }
    MPI_Session_finalize(&first);
    return 0;
}
