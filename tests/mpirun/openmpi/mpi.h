/* What these tests use of Open MPI's binary interface: handles are addresses of objects in its library. */
#ifndef TALISMAN_TEST_MPI_H
#define TALISMAN_TEST_MPI_H

typedef struct ompi_communicator_t *MPI_Comm;
typedef struct ompi_datatype_t *MPI_Datatype;
typedef struct ompi_op_t *MPI_Op;
typedef struct ompi_request_t *MPI_Request;
typedef struct ompi_info_t *MPI_Info;
typedef struct ompi_file_t *MPI_File;
typedef long long MPI_Offset;
typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int cancelled;
    unsigned long count;
} MPI_Status;

struct object {
    char bytes[512];
};
extern struct object ompi_mpi_comm_world, ompi_mpi_char, ompi_mpi_int, ompi_mpi_long, ompi_mpi_double;
extern struct object ompi_mpi_op_max, ompi_mpi_op_sum, ompi_mpi_info_null;

#define MPI_COMM_WORLD ((MPI_Comm)(void *)&ompi_mpi_comm_world)
#define MPI_CHAR ((MPI_Datatype)(void *)&ompi_mpi_char)
#define MPI_INT ((MPI_Datatype)(void *)&ompi_mpi_int)
#define MPI_LONG ((MPI_Datatype)(void *)&ompi_mpi_long)
#define MPI_DOUBLE ((MPI_Datatype)(void *)&ompi_mpi_double)
#define MPI_INFO_NULL ((MPI_Info)(void *)&ompi_mpi_info_null)
#define MPI_MAX ((MPI_Op)(void *)&ompi_mpi_op_max)
#define MPI_SUM ((MPI_Op)(void *)&ompi_mpi_op_sum)
#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG (-1)
#define MPI_IN_PLACE ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)

#define MPI_MODE_CREATE 1
#define MPI_MODE_RDONLY 2
#define MPI_MODE_WRONLY 4
#define MPI_MODE_RDWR 8
#define MPI_MODE_EXCL 64
#define MPI_MODE_SEQUENTIAL 256
#define MPI_SEEK_END 604
#define MPI_SUCCESS 0

#include "functions.h"
#endif
