// The interface for C++ that MPI-3 has removed: classes, operations on objects, attributes, exceptions.
#include <cstdio>
#include <cstdlib>
#include <mpi.h>

static int rank, size;

static void check(bool holds, const char *subject) {
    if (!holds) {
        std::fprintf(stderr, "rank %d: %s\n", rank, subject);
        MPI::COMM_WORLD.Abort(99);
    }
}

static void largest(const void *left, void *right, int count, const MPI::Datatype &datatype) {
    check(datatype == MPI::INT, "the datatype of an operation");
    const int *a = static_cast<const int *>(left);
    int *b = static_cast<int *>(right);
    for (int i = 0; i < count; i++)
        if (a[i] > b[i]) b[i] = a[i];
}

static int copies(const MPI::Comm &, int, void *extra, void *value, void *copied, bool &flag) {
    *static_cast<void **>(copied) = static_cast<char *>(value) + *static_cast<int *>(extra);
    flag = true;
    return MPI_SUCCESS;
}

static int deleted;
static int deletes(MPI::Comm &, int, void *, void *) {
    deleted++;
    return MPI_SUCCESS;
}

static int handled;
static void handles(MPI::Comm &communicator, int *code, ...) {
    check(communicator.Get_size() == size && MPI::Get_error_class(*code) == MPI::ERR_RANK, "what a handler is given");
    handled++;
}

static void handles_window(MPI::Win &, int *code, ...) {
    check(MPI::Get_error_class(*code) == MPI::ERR_RMA_SYNC, "what a handler of a window is given");
    handled++;
}

// Unwound by what is thrown through functions of MPI.
struct Counted {
    int &count;
    ~Counted() { count++; }
};

static int unwound;
static void send_to_nobody() {
    Counted counted{unwound};
    int value = 0;
    MPI::COMM_WORLD.Send(&value, 1, MPI::INT, size, 0);
}

static void exceptions() {
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    int caught = 0;
    for (int i = 0; i < 3; i++) {
        try {
            send_to_nobody();
        } catch (MPI::Exception &error) {
            caught += error.Get_error_class() == MPI::ERR_RANK;
        }
        try {
            MPI::COMM_WORLD.Call_errhandler(MPI::ERR_TAG);
        } catch (MPI::Exception &error) {
            caught += error.Get_error_class() == MPI::ERR_TAG;
        }
    }
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_ARE_FATAL);
    std::printf("caught %d: %d, unwound %d\n", rank, caught, unwound);
}

static void handlers() {
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(handles);
    MPI::COMM_WORLD.Set_errhandler(handler);
    int value = 0;
    MPI::COMM_WORLD.Send(&value, 1, MPI::INT, size, 0);
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_ARE_FATAL);
    handler.Free();
    MPI::Win window = MPI::Win::Create(&value, sizeof value, 1, MPI::INFO_NULL, MPI::COMM_WORLD);
    handler = MPI::Win::Create_errhandler(handles_window);
    window.Set_errhandler(handler);
    window.Unlock(0);
    handler.Free();
    window.Free();
    std::printf("handled %d: %d\n", rank, handled);
}

static void operations() {
    int values[4] = {rank, -rank, rank % 2, 7}, results[4], lower[4] = {-1, -1, -1, -1};
    MPI::Op op;
    op.Init(largest, true);
    MPI::COMM_WORLD.Allreduce(values, results, 4, MPI::INT, op);
    MPI::COMM_WORLD.Exscan(values, lower, 4, MPI::INT, op);
    op.Free();
    std::printf("largest %d: %d %d %d %d, below %d\n", rank, results[0], results[1], results[2], results[3], lower[0]);
}

static void attributes() {
    static int step = 2;
    static char there[8];
    int key = MPI::Comm::Create_keyval(copies, deletes, &step);
    MPI::Intracomm one = MPI::COMM_WORLD.Dup();
    one.Set_attr(key, there);
    MPI::Intracomm two = one.Dup();
    void *found = nullptr;
    check(two.Get_attr(key, &found) && found == there + step, "an attribute that was copied");
    two.Free();
    one.Free();
    MPI::Comm::Free_keyval(key);
    std::printf("attributes %d: %d deleted\n", rank, deleted);
}

int main(int argc, char **argv) {
    MPI::Init(argc, argv);
    rank = MPI::COMM_WORLD.Get_rank();
    size = MPI::COMM_WORLD.Get_size();
    for (int round = argc > 1 ? std::atoi(argv[1]) : 1; round > 0; round--) {
        operations();
        attributes();
        handlers();
        exceptions();
    }
    MPI::Finalize();
    return 0;
}
