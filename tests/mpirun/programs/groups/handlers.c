/* What error handlers and functions of attributes do to the codes that functions return, and whose handler is called. */
#include "report.h"

static int handled, own_code;

static void forgives(MPI_Comm *communicator, int *code, ...) {
    handled++;
    *code = MPI_SUCCESS;
}

static void says_otherwise(MPI_Win *window, int *code, ...) {
    handled++;
    *code = MPI_ERR_TAG;
}

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* MPICH returns what the handler has left. */
static void changed_codes(void) {
    MPI_Errhandler handler;
    int value = 0, code;
    MPI_Comm_create_errhandler(forgives, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    code = MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    printf("communicator %d: %s\n", rank, code ? "error" : "success");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);

    MPI_Win window;
    MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_create_errhandler(says_otherwise, &handler);
    MPI_Win_set_errhandler(window, handler);
    code = MPI_Win_unlock(0, window);
    printf("window %d: %s\n", rank, class_of(code) == MPI_ERR_TAG ? "changed" : "unchanged");
    check(handled == 2, "handlers that were called");
    MPI_Errhandler_free(&handler);
#ifndef OPEN_MPI /* It frees windows that are locked, and does not look at communicators that are gone. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    check(class_of(MPI_Win_free(&window)) == MPI_ERR_RMA_SYNC, "the handler of a window that is locked");
    MPI_Win_unlock(rank, window);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm twin, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    copy = twin;
    MPI_Comm_free(&copy);
    check(class_of(MPI_Barrier(twin)) == MPI_ERR_COMM, "a communicator that is gone");
#endif
    MPI_Win_free(&window);
    handled = 0;
}

static int fails(MPI_Comm old, int key, void *extra, void *value, void *copied, int *flag) {
    return own_code;
}

/* What a function of the program fails with is returned. */
static void own_codes(void) {
    int class, key, code;
    MPI_Comm twin;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &own_code);
    MPI_Comm_create_keyval(fails, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &class);
    code = MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    printf("copied %d: %s\n", rank, code == own_code && class_of(code) == class ? "its own code" : "another code");
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    while (rounds-- > 0) {
        changed_codes();
        own_codes();
    }
    MPI_Finalize();
    return 0;
}
