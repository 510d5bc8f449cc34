/* Communicators, groups, topologies, attributes with functions that call MPI, info objects, error handlers. */
#include "report.h"

static void groups(void) {
    MPI_Group all, odd, rest, both;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int range[1][3] = {{1, size - 1, 2}}, place, relation, theirs[4];
    MPI_Group_range_incl(all, size > 1, range, &odd);
    MPI_Group_difference(all, odd, &rest);
    MPI_Group_union(rest, odd, &both);
    MPI_Group_compare(all, both, &relation);
    int numbers[2] = {0, size - 1};
    MPI_Group_translate_ranks(both, 2, numbers, all, theirs);
    MPI_Group_rank(odd, &place);
    MPI_Comm made, by_group;
    MPI_Comm_create(MPI_COMM_WORLD, odd, &made);
    int of = -1;
    if (made != MPI_COMM_NULL) MPI_Comm_size(made, &of);
    if (rank % 2 == 1) {
        MPI_Comm_create_group(MPI_COMM_WORLD, odd, 3, &by_group);
        MPI_Comm_compare(made, by_group, &relation);
        check(relation == MPI_CONGRUENT, "congruent");
        MPI_Comm_free(&by_group);
        MPI_Comm_free(&made);
    }
    printf("groups %d: %d %d %d %d\n", rank, place == MPI_UNDEFINED ? -1 : place, of, theirs[0], theirs[1]);
    MPI_Group_free(&all);
    MPI_Group_free(&odd);
    MPI_Group_free(&rest);
    MPI_Group_free(&both);
}

static int copies, deletions;

static int copy(MPI_Comm from, int key, void *extra, void *value, void *copied, int *flag) {
    int me;
    MPI_Comm_rank(from, &me);
    copies += me + 1;
    *(void **)copied = (char *)value + *(int *)extra;
    *flag = key != MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm of, int key, void *value, void *extra) {
    int me;
    MPI_Comm_rank(of, &me);
    deletions += me + 1 + *(int *)extra;
    (void)key, (void)value;
    return MPI_SUCCESS;
}

static void attributes(void) {
    static char place[100];
    int key, by = 7, flag, *limit;
    char *found, name[MPI_MAX_OBJECT_NAME];
    MPI_Comm twin;
    MPI_Comm_create_keyval(copy, delete, &key, &by);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, place);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_get_attr(twin, key, &found, &flag);
    check(flag && found == place + 7, "a copied attribute");
    MPI_Comm_set_name(twin, "the twin");
    MPI_Comm_get_name(twin, name, &flag);
    MPI_Comm_free(&twin);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &flag);
    check(flag && *limit >= 32767, "the largest tag");
    printf("attributes %d: %d %d %s\n", rank, copies, deletions, name);
}

static void topologies(void) {
    int dims[2] = {0, 0}, around[2] = {1, 0}, at[2], up, down, of, kept[2] = {0, 1};
    MPI_Dims_create(size, 2, dims);
    MPI_Comm grid, row, graph;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, around, 0, &grid);
    MPI_Cart_coords(grid, rank, 2, at);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_sub(grid, kept, &row);
    MPI_Comm_size(row, &of);
    int source = before(1), target = after(1), in, out, weighted, from[1], to[1];
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, MPI_UNWEIGHTED, 1, &target, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    MPI_Dist_graph_neighbors(graph, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED);
    printf("topologies %d: %dx%d at %d,%d, %d %d, row of %d, %d->%d->%d %d\n", rank, dims[0], dims[1], at[0], at[1],
           up, down, of, from[0], in + out, to[0], weighted);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
}

static int handled;

static void handle(MPI_Comm *of, int *code, ...) {
    int class, me;
    MPI_Comm_rank(*of, &me);
    MPI_Error_class(*code, &class);
    handled += class == MPI_ERR_RANK ? 10 + me : 1000;
}

static void errors(void) {
    MPI_Errhandler own;
    int value = 0, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_create_errhandler(handle, &own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
    int code = MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    check(code != MPI_SUCCESS, "an error is returned");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&own);
    code = MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    check(code != MPI_SUCCESS && !MPI_Error_string(code, text, &length) && length > 0, "a text");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    printf("errors %d: %d\n", rank, handled);
}

static void hints(void) {
    MPI_Info info, twin;
    int keys, flag;
    char key[MPI_MAX_INFO_KEY], value[20];
    MPI_Info_create(&info);
    MPI_Info_set(info, "colour", "green");
    MPI_Info_set(info, "shape", "round");
    MPI_Info_dup(info, &twin);
    MPI_Info_delete(info, "colour");
    MPI_Info_get_nkeys(info, &keys);
    MPI_Info_get_nthkey(info, 0, key);
    MPI_Info_get(twin, "colour", 19, value, &flag);
    printf("hints %d: %d %s %d %s\n", rank, keys, key, flag, value);
    MPI_Info_free(&info);
    MPI_Info_free(&twin);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    while (rounds-- > 0) {
        groups();
        attributes();
        topologies();
        errors();
        hints();
    }
    MPI_Finalize();
    return 0;
}
