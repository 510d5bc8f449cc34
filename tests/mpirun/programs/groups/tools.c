/* The interface for tools: variables are listed and read, before MPI_Init, after MPI_Finalize and between, and what is not there
   is said to be so. What there is differs between libraries. */
#include "report.h"

enum { FAR = 1 << 20 };
static int is_ours, is_open_mpi; /* Whose version 4.1 has faults where values are read and after MPI_Finalize. */

static void is(int code, int expected, const char *subject) {
    if (code != expected) fprintf(stderr, "%s: %d instead of %d\n", subject, code, expected);
    check(code == expected, subject);
}

/* Open MPI 4 has another word for an index that is too large. */
static void is_no_index(int code, const char *subject) {
    is(code == MPI_T_ERR_INVALID && !is_ours ? MPI_T_ERR_INVALID_INDEX : code, MPI_T_ERR_INVALID_INDEX, subject);
}

/* All control variables: their names, and the values of those that are numbers and of no object. */
static int controls(void) {
    int n, verbosity, bound, scope, at, count, left = 0;
    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        char name[256] = "", is_for[1024] = "", cut[4];
        int name_room = 0, room = sizeof is_for, cut_room = sizeof cut;
        MPI_Datatype datatype;
        MPI_T_enum values;
        MPI_T_cvar_handle handle;
        if (MPI_T_cvar_get_info(i, NULL, &name_room, NULL, NULL, NULL, NULL, NULL, NULL, NULL)) continue;
        check(name_room > 1 && name_room < 256, "the length of a name");
        if (MPI_T_cvar_get_info(i, name, &name_room, &verbosity, &datatype, &values, is_for, &room, &bound, &scope)) continue;
        check((int)strlen(name) == name_room - 1, "a name");
        MPI_T_cvar_get_info(i, cut, &cut_room, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
        check(strlen(cut) == (name_room > 4 ? 3 : name_room - 1) && !strncmp(cut, name, strlen(cut)), "a name that is cut");
        is(MPI_T_cvar_get_index(name, &at), MPI_SUCCESS, "a variable by its name");
        check(at == i, "its place");
        if (bound != MPI_T_BIND_NO_OBJECT || datatype == MPI_CHAR || is_open_mpi) continue;
        if (MPI_T_cvar_handle_alloc(i, NULL, &handle, &count)) continue;
        unsigned long value[16] = {0}, again[16] = {0};
        check(count <= 16, "how long a value is");
        is(MPI_T_cvar_read(handle, value), MPI_SUCCESS, "a variable that is read");
        MPI_T_cvar_read(handle, again);
        check(!memcmp(value, again, sizeof value), "it is the same");
        if (is_ours) {
            check(!strcmp(name, "talisman_eager_max") && datatype == MPI_UNSIGNED_LONG && count == 1, "the only one");
            check(value[0] == 8192 && verbosity == MPI_T_VERBOSITY_USER_BASIC && scope == MPI_T_SCOPE_CONSTANT, "its value");
            is(MPI_T_cvar_write(handle, value), MPI_T_ERR_CVAR_SET_NEVER, "nobody sets it");
        }
        is(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS, "a handle that is freed");
        check(handle == MPI_T_CVAR_HANDLE_NULL, "it is null");
        left++;
    }
    is_no_index(MPI_T_cvar_get_info(FAR, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), "no variable");
    is(MPI_T_cvar_get_index("no such variable", &at), MPI_T_ERR_INVALID_NAME, "no name");
    return left;
}

static void performance(void) {
    int n, at, count;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_pvar_get_num(&n);
    check(n >= 0 && (!is_ours || n == 0), "performance variables");
    is(MPI_T_pvar_session_create(&session), MPI_SUCCESS, "a session of tools");
    check(session != MPI_T_PVAR_SESSION_NULL, "it is there");
    is(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_COUNTER, &at), MPI_T_ERR_INVALID_NAME, "no name");
    if (is_ours) /* MPICH 4.0 ends with a fault there. */
        is_no_index(MPI_T_pvar_handle_alloc(session, FAR, NULL, &handle, &count), "no performance variable");
    is(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS, "all of none start");
    is(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS, "all of none stop");
    is(MPI_T_pvar_session_free(&session), MPI_SUCCESS, "a session that is freed");
    check(session == MPI_T_PVAR_SESSION_NULL, "it is null");
    if (is_ours) {
        unsigned long value;
        MPI_T_pvar_session_create(&session);
        is(MPI_T_pvar_read(session, (MPI_T_pvar_handle)&value, &value), MPI_T_ERR_INVALID_HANDLE, "no handle");
        MPI_T_pvar_session former = session;
        MPI_T_pvar_session_free(&session);
        is(MPI_T_pvar_reset(former, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION, "a session that has ended");
        MPI_T_cvar_handle none = (MPI_T_cvar_handle)&value;
        is(MPI_T_cvar_read(none, &value), MPI_T_ERR_INVALID_HANDLE, "no handle");
    }
}

static void others(void) {
    int n, at, stamp, again, room = 0, indices[1];
    MPI_T_category_get_num(&n);
    check(n >= 0, "categories");
    MPI_T_category_changed(&stamp);
    MPI_T_category_changed(&again);
    check(stamp == again, "nothing has changed");
    is_no_index(MPI_T_category_get_info(FAR, NULL, &room, NULL, &room, NULL, NULL, NULL), "no category");
    is_no_index(MPI_T_category_get_cvars(FAR, 1, indices), "its variables");
    is(MPI_T_category_get_index("no such category", &at), MPI_T_ERR_INVALID_NAME, "no name");
#if MPI_VERSION >= 4
    MPI_T_event_get_num(&n);
    check(n >= 0, "events");
    is(MPI_T_event_get_index("no such event", &at), MPI_T_ERR_INVALID_NAME, "no name");
    MPI_T_source_get_num(&n);
    check(n >= 0, "sources");
    MPI_Count now;
    if (is_ours) {
        MPI_T_event_registration event;
        is_no_index(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &event), "no event");
        is_no_index(MPI_T_source_get_timestamp(0, &now), "no source");
    }
#endif
}

int main(int argc, char **argv) {
    int level, twice, length, left, n, class;
    char text[MPI_MAX_ERROR_STRING], library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_library_version(library, &length);
    is_ours = !strncmp(library, "Talisman", 8);
    is_open_mpi = !strncmp(library, "Open MPI", 8);
    if (is_ours) is(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED, "before tools begin");
    is(MPI_T_init_thread(MPI_THREAD_SINGLE, &level), MPI_SUCCESS, "tools begin");
    check(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE, "the level of threads");
    left = controls();
    check(!is_ours || left == 1, "one variable");
    performance();
    begin(&argc, &argv);
    for (int round = 0; round < rounds; round++) {
        is(MPI_T_init_thread(MPI_THREAD_SINGLE, &twice), MPI_SUCCESS, "tools begin twice");
        MPI_Barrier(MPI_COMM_WORLD);
        check(controls() >= left, "as many as before");
        performance();
        others();
        is(MPI_T_finalize(), MPI_SUCCESS, "tools end once");
        MPI_Error_class(MPI_T_ERR_INVALID_INDEX, &class);
        is(class, MPI_T_ERR_INVALID_INDEX, "a class");
        MPI_Error_string(MPI_T_ERR_INVALID_INDEX, text, &length);
        check(length > 5, "a text");
        printf("tools %d %d\n", rank, round);
    }
    MPI_Finalize();
    if (is_open_mpi) return 0;
    check(controls() >= left, "after all others");
    is(MPI_T_finalize(), MPI_SUCCESS, "tools end");
    if (is_ours) is(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED, "they have ended");
    return 0;
}
