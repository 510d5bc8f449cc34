/* What these tests use of MPICH's binary interface (https://www.mpich.org/abi/): handles are integers. */
#ifndef TALISMAN_TEST_MPI_H
#define TALISMAN_TEST_MPI_H

typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Info;
typedef struct ADIOI_FileD *MPI_File;
typedef long long MPI_Offset;
typedef struct {
    int count_lo;
    int count_hi_and_cancelled;
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
} MPI_Status;

#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)
#define MPI_CHAR ((MPI_Datatype)0x4c000101)
#define MPI_INT ((MPI_Datatype)0x4c000405)
#define MPI_LONG ((MPI_Datatype)0x4c000807)
#define MPI_DOUBLE ((MPI_Datatype)0x4c00080b)
#define MPI_INFO_NULL ((MPI_Info)0x1c000000)
#define MPI_MAX ((MPI_Op)0x58000001)
#define MPI_SUM ((MPI_Op)0x58000003)
#define MPI_ANY_SOURCE (-2)
#define MPI_ANY_TAG (-1)
#define MPI_IN_PLACE ((void *)-1)
#define MPI_STATUS_IGNORE ((MPI_Status *)1)
#define MPI_STATUSES_IGNORE ((MPI_Status *)1)

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
