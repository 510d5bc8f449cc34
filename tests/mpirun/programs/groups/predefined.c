/* What MPI brings along, and what a program may change of it: operations on values of all sizes, datatypes that Fortran describes by
   numbers, names, error codes; and messages that are taken back. */
#include "report.h"
#include <complex.h>

/* Sums and products of values that few programs have. */
static void operations(int round) {
    long double complex own = rank + 1 + (round - 2.5L) * I, sum, product;
    MPI_Allreduce(&own, &sum, 1, MPI_C_LONG_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&own, &product, 1, MPI_C_LONG_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD);
    printf("complex %d: %Lg %Lg %Lg %Lg\n", rank, creall(sum), cimagl(sum), creall(product), cimagl(product));
    int size_of;
    MPI_Aint lower, extent;
    MPI_Datatype shape, parts[] = {MPI_CHAR, MPI_C_LONG_DOUBLE_COMPLEX, MPI_CHAR};
    MPI_Type_create_struct(3, (int[]){1, 1, 1}, (MPI_Aint[]){0, 16, 48}, parts, &shape);
    MPI_Type_size(shape, &size_of);
    MPI_Type_get_extent(shape, &lower, &extent);
    check(size_of == 34 && lower == 0 && extent == 64, "a structure is as long as a compiler makes it");
    MPI_Type_free(&shape);
#ifdef OMPI_MAJOR_VERSION /* MPICH refuses that. */
    unsigned char bytes[2] = {200, rank}, most[2], sums[2];
    MPI_Allreduce(bytes, most, 2, MPI_BYTE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(bytes, sums, 2, MPI_BYTE, MPI_SUM, MPI_COMM_WORLD);
    printf("bytes %d: %d %d %d %d\n", rank, most[0], most[1], sums[0], sums[1]);
#endif
}

/* Who asks for the same gets the same, and may ask what that was. */
static void described(void) {
    int integers, addresses, datatypes, combiner, said[2], bytes;
    MPI_Datatype real, again, number, two;
    MPI_Type_create_f90_real(6, 30, &real);
    MPI_Type_create_f90_real(6, 30, &again);
    check(real == again, "the same datatype");
    MPI_Type_get_envelope(real, &integers, &addresses, &datatypes, &combiner);
    check(integers == 2 && addresses == 0 && datatypes == 0 && combiner == MPI_COMBINER_F90_REAL, "an envelope");
    MPI_Type_get_contents(real, 2, 0, 0, said, NULL, NULL);
    check(said[0] == 6 && said[1] == 30, "its contents");
    MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &two);
    MPI_Type_get_envelope(two, &integers, &addresses, &datatypes, &combiner);
    MPI_Type_size(two, &bytes);
    check(combiner == MPI_COMBINER_F90_COMPLEX && bytes == 16, "a complex number");
    MPI_Type_create_f90_integer(9, &number);
    MPI_Type_get_envelope(number, &integers, &addresses, &datatypes, &combiner);
    MPI_Type_get_contents(number, 1, 0, 0, said, NULL, NULL);
    check(integers == 1 && combiner == MPI_COMBINER_F90_INTEGER && said[0] == 9, "an integer");
    float one = rank + 0.5f, sum;
    MPI_Allreduce(&one, &sum, 1, real, MPI_SUM, MPI_COMM_WORLD);
    printf("described %d: %g\n", rank, sum);
}

static void names_and_codes(int round) {
    char name[MPI_MAX_OBJECT_NAME];
    int length, flag, class, code, *last;
    MPI_Type_get_name(MPI_INT, name, &length);
    check(round > 0 || !strcmp(name, "MPI_INT"), "a name of MPI");
    MPI_Type_set_name(MPI_INT, "a number");
    MPI_Type_get_name(MPI_INT, name, &length);
    check(length == 8 && !strcmp(name, "a number"), "a name of the program");
    MPI_Add_error_class(&class);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    check(flag && *last >= class && class > MPI_ERR_LASTCODE, "the last code is the new class");
    MPI_Add_error_code(class, &code);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    check(flag && *last >= class, "the last code");
}

/* Synonyms have one name. */
static void names(void) {
    MPI_Datatype all[] = {MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_LONG_LONG, MPI_C_DOUBLE_COMPLEX};
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    for (int i = 0; i < 4; i++) {
        MPI_Type_get_name(all[i], name, &length);
        printf("names %d: %s\n", rank, name);
    }
}

/* A message is taken back while its receiver, or the sender itself, looks for any. */
static void taken_back(void) {
    int value = rank, got = -1, flag, left = before(1);
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    MPI_Issend(&value, 1, MPI_INT, after(1), 1, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    for (int tag = 1; tag != 2;) {
        /* The one of tag 2 comes in any case, but not before this one knows that its own is taken back, or taken. */
        if (rank % 2 == 0) {
            MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
            MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        } else {
            if (request != MPI_REQUEST_NULL) {
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                MPI_Send(&value, 1, MPI_INT, after(1), 2, MPI_COMM_WORLD);
            }
            MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Recv(&got, 1, MPI_INT, left, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        tag = status.MPI_TAG;
    }
    if (rank % 2 == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, after(1), 2, MPI_COMM_WORLD);
    }
    check(got == left, "the message that stays");
    MPI_Issend(&value, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_get_status(request, &flag, &status);
    if (!flag) MPI_Recv(&got, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iprobe(rank, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    check(!flag, "nothing is left");
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int round = 0; round < rounds; round++) {
        operations(round);
        described();
        names();
        names_and_codes(round);
        if (size % 2 == 0) taken_back();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
