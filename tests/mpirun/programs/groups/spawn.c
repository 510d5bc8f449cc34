/* Ranks that are started while the job runs. The program is its own child, unless another one is given: then it has
   arguments of a child. */
#include "report.h"
#include <unistd.h>

static const char *self, *broken;

static int appnum(void) {
    int *number, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
    return flag ? *number : -1;
}

/* A child: child TEXT PARENTS. It tells its parents what it sees, and takes part in what they do. */
static int child(int argc, char **argv, MPI_Comm parent) {
    int parents, sum, is_inter, value, me, next = -1;
    char folder[256] = "";
    MPI_Comm all, again;
    check(argc == 4, "arguments of a child");
    MPI_Comm_remote_size(parent, &parents);
    MPI_Comm_test_inter(parent, &is_inter);
    check(is_inter && parents == atoi(argv[3]), "parents");
    value = rank + 1;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, parent);
    MPI_Intercomm_merge(parent, 1, &all);
    MPI_Comm_rank(all, &me);
    check(me == parents + rank, "children stand behind their parents");
    int everybody;
    MPI_Comm_size(all, &everybody);
    check(everybody == parents + size, "both groups as one");
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % everybody, 1, &next, 1, MPI_INT, (me + everybody - 1) % everybody, 1, all,
                 MPI_STATUS_IGNORE);
    check(next == me - 1, "a ring of all");
    MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(value == size * (size - 1) / 2, "a world of their own");
    check(getcwd(folder, sizeof folder) != NULL, "a folder");
    char text[512];
    sprintf(text, "%s: child %d of %d, number %d, parents' sum %d%s", argv[2], rank, size, appnum(), sum,
            strcmp(folder, "/usr") ? "" : ", in /usr");
    MPI_Send(text, strlen(text) + 1, MPI_CHAR, 0, 7, parent);
    MPI_Comm_free(&all);
    MPI_Comm_get_parent(&again);
    check(again == parent, "the same parent");
    MPI_Comm_disconnect(&parent);
    MPI_Comm_get_parent(&again);
    check(again == MPI_COMM_NULL, "no parent any more");
    MPI_Finalize();
    return 0;
}

/* What a parent does with its children, whose texts are printed in order. */
static void with(MPI_Comm children, MPI_Comm side, const char *what) {
    int n, count, value, sum, me, everybody, next = -1, parents;
    MPI_Comm all;
    MPI_Comm_rank(side, &me);
    MPI_Comm_size(side, &parents);
    MPI_Comm_remote_size(children, &n);
    value = 10 * (me + 1);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, children);
    check(sum == n * (n + 1) / 2, "what children add up");
    MPI_Intercomm_merge(children, 0, &all);
    MPI_Comm_rank(all, &me);
    MPI_Comm_size(all, &everybody);
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % everybody, 1, &next, 1, MPI_INT, (me + everybody - 1) % everybody, 1, all,
                 MPI_STATUS_IGNORE);
    check(next == (me + everybody - 1) % everybody, "a ring of everybody");
    if (me == 0) for (int from = 0; from < n; from++) {
        char text[512];
        MPI_Status status;
        MPI_Recv(text, sizeof text, MPI_CHAR, from, 7, children, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        check(count == (int)strlen(text) + 1, "a whole text");
        printf("%s %s\n", what, text);
    }
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&children);
    printf("%s %d: %d\n", what, rank, sum);
}

static void one_command(int round) {
    char text[64], parents[16];
    char *arguments[] = {"child", text, parents, NULL};
    int codes[3] = {7, 7, 7}, root = round % size;
    MPI_Comm children;
    sprintf(text, "round %d", round);
    sprintf(parents, "%d", size);
    MPI_Comm_spawn((char *)self, arguments, 3, MPI_INFO_NULL, root, MPI_COMM_WORLD, &children, codes);
    check(codes[0] == MPI_SUCCESS && codes[2] == MPI_SUCCESS, "codes");
    with(children, MPI_COMM_WORLD, "one");
}

static void several_commands(int round) {
    char *commands[] = {(char *)self, (char *)self};
    char *first[] = {"child", "first", "1", NULL}, *second[] = {"child", "second", "1", NULL};
    char **arguments[] = {first, second};
    int ranks[] = {1, 2};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm children;
    if (rank != round % size) return;
    MPI_Info_create(&infos[1]);
    MPI_Info_set(infos[1], "wdir", "/usr");
    MPI_Comm_spawn_multiple(2, commands, arguments, ranks, infos, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
    with(children, MPI_COMM_SELF, "several");
    MPI_Info_free(&infos[1]);
}

static void not_there(void) {
    MPI_Comm children = MPI_COMM_NULL;
    int codes[2] = {0, 0}, class, code;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Comm_spawn("/nowhere/at/all", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes);
    MPI_Error_class(code, &class);
    check(class == MPI_ERR_SPAWN && children == MPI_COMM_NULL, "a program that is not there");
    MPI_Error_class(codes[1], &class);
    check(class == MPI_ERR_SPAWN, "a code of each");
    if (broken) {
        char *commands[] = {(char *)self, (char *)broken};
        int ranks[] = {2, 1};
        MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
        code = MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, ranks, infos, size - 1, MPI_COMM_WORLD, &children,
                                       MPI_ERRCODES_IGNORE);
        MPI_Error_class(code, &class);
        check(class == MPI_ERR_SPAWN && children == MPI_COMM_NULL, "a program that cannot be loaded");
    }
    code = MPI_Comm_spawn((char *)self, MPI_ARGV_NULL, 1000000, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                          MPI_ERRCODES_IGNORE);
    MPI_Error_class(code, &class);
    check(class == MPI_ERR_SPAWN, "more than there can be");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) return child(argc, argv, parent);
    if (argc > 1) rounds = atoi(argv[1]);
    self = argc > 2 ? argv[2] : realpath(argv[0], NULL);
    if (argc > 3) broken = argv[3];
    MPI_Get_library_version(library, &length);
    if (!strncmp(library, "Talisman", 8)) not_there();
    for (int round = 0; round < rounds; round++) {
        one_command(round);
        several_commands(round);
    }
    printf("end %d\n", rank);
    MPI_Finalize();
    return 0;
}
