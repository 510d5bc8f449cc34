/* MPI for C and C++: the binary interface of the standard (MPI-5.0, chapter 20, version 1.0).
 *
 * Programs that are compiled with it run on the virtual ranks of `talisman mpirun`, and with any other library that has
 * this interface. Constants and functions are those of the standard, in its names; arguments are there by their types.
 */
#ifndef MPI_H_ABI
#define MPI_H_ABI

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;

/* Handles point to nothing that a program could look at. */
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Win *MPI_Win;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Session *MPI_Session;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_T_enum *MPI_T_enum;
typedef struct MPI_ABI_T_cvar_handle *MPI_T_cvar_handle;
typedef struct MPI_ABI_T_pvar_handle *MPI_T_pvar_handle;
typedef struct MPI_ABI_T_pvar_session *MPI_T_pvar_session;
typedef struct MPI_ABI_T_event_registration *MPI_T_event_registration;
typedef struct MPI_ABI_T_event_instance *MPI_T_event_instance;

/* MPI_Op */
#define MPI_OP_NULL ((MPI_Op) 0x20)
#define MPI_SUM ((MPI_Op) 0x21)
#define MPI_MIN ((MPI_Op) 0x22)
#define MPI_MAX ((MPI_Op) 0x23)
#define MPI_PROD ((MPI_Op) 0x24)
#define MPI_BAND ((MPI_Op) 0x28)
#define MPI_BOR ((MPI_Op) 0x29)
#define MPI_BXOR ((MPI_Op) 0x2a)
#define MPI_LAND ((MPI_Op) 0x30)
#define MPI_LOR ((MPI_Op) 0x31)
#define MPI_LXOR ((MPI_Op) 0x32)
#define MPI_MINLOC ((MPI_Op) 0x38)
#define MPI_MAXLOC ((MPI_Op) 0x39)
#define MPI_REPLACE ((MPI_Op) 0x3c)
#define MPI_NO_OP ((MPI_Op) 0x3d)

/* MPI_Comm */
#define MPI_COMM_NULL ((MPI_Comm) 0x100)
#define MPI_COMM_WORLD ((MPI_Comm) 0x101)
#define MPI_COMM_SELF ((MPI_Comm) 0x102)

/* MPI_Group */
#define MPI_GROUP_NULL ((MPI_Group) 0x108)
#define MPI_GROUP_EMPTY ((MPI_Group) 0x109)

/* MPI_Win */
#define MPI_WIN_NULL ((MPI_Win) 0x110)

/* MPI_File */
#define MPI_FILE_NULL ((MPI_File) 0x118)

/* MPI_Session */
#define MPI_SESSION_NULL ((MPI_Session) 0x120)

/* MPI_Message */
#define MPI_MESSAGE_NULL ((MPI_Message) 0x128)
#define MPI_MESSAGE_NO_PROC ((MPI_Message) 0x129)

/* MPI_Info */
#define MPI_INFO_NULL ((MPI_Info) 0x130)
#define MPI_INFO_ENV ((MPI_Info) 0x131)

/* MPI_Errhandler */
#define MPI_ERRHANDLER_NULL ((MPI_Errhandler) 0x140)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler) 0x141)
#define MPI_ERRORS_ABORT ((MPI_Errhandler) 0x142)
#define MPI_ERRORS_RETURN ((MPI_Errhandler) 0x143)

/* MPI_Request */
#define MPI_REQUEST_NULL ((MPI_Request) 0x180)

/* MPI_Datatype */
#define MPI_DATATYPE_NULL ((MPI_Datatype) 0x200)
#define MPI_AINT ((MPI_Datatype) 0x201)
#define MPI_COUNT ((MPI_Datatype) 0x202)
#define MPI_OFFSET ((MPI_Datatype) 0x203)
#define MPI_PACKED ((MPI_Datatype) 0x207)
#define MPI_SHORT ((MPI_Datatype) 0x208)
#define MPI_INT ((MPI_Datatype) 0x209)
#define MPI_LONG ((MPI_Datatype) 0x20a)
#define MPI_LONG_LONG ((MPI_Datatype) 0x20b)
#define MPI_UNSIGNED_SHORT ((MPI_Datatype) 0x20c)
#define MPI_UNSIGNED ((MPI_Datatype) 0x20d)
#define MPI_UNSIGNED_LONG ((MPI_Datatype) 0x20e)
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype) 0x20f)
#define MPI_FLOAT ((MPI_Datatype) 0x210)
#define MPI_C_FLOAT_COMPLEX ((MPI_Datatype) 0x212)
#define MPI_CXX_FLOAT_COMPLEX ((MPI_Datatype) 0x213)
#define MPI_DOUBLE ((MPI_Datatype) 0x214)
#define MPI_C_DOUBLE_COMPLEX ((MPI_Datatype) 0x216)
#define MPI_CXX_DOUBLE_COMPLEX ((MPI_Datatype) 0x217)
#define MPI_LOGICAL ((MPI_Datatype) 0x218)
#define MPI_INTEGER ((MPI_Datatype) 0x219)
#define MPI_REAL ((MPI_Datatype) 0x21a)
#define MPI_COMPLEX ((MPI_Datatype) 0x21b)
#define MPI_DOUBLE_PRECISION ((MPI_Datatype) 0x21c)
#define MPI_DOUBLE_COMPLEX ((MPI_Datatype) 0x21d)
#define MPI_CHARACTER ((MPI_Datatype) 0x21e)
#define MPI_LONG_DOUBLE ((MPI_Datatype) 0x220)
#define MPI_C_LONG_DOUBLE_COMPLEX ((MPI_Datatype) 0x224)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ((MPI_Datatype) 0x225)
#define MPI_FLOAT_INT ((MPI_Datatype) 0x228)
#define MPI_DOUBLE_INT ((MPI_Datatype) 0x229)
#define MPI_LONG_INT ((MPI_Datatype) 0x22a)
#define MPI_2INT ((MPI_Datatype) 0x22b)
#define MPI_SHORT_INT ((MPI_Datatype) 0x22c)
#define MPI_LONG_DOUBLE_INT ((MPI_Datatype) 0x22d)
#define MPI_2REAL ((MPI_Datatype) 0x230)
#define MPI_2DOUBLE_PRECISION ((MPI_Datatype) 0x231)
#define MPI_2INTEGER ((MPI_Datatype) 0x232)
#define MPI_C_BOOL ((MPI_Datatype) 0x238)
#define MPI_CXX_BOOL ((MPI_Datatype) 0x239)
#define MPI_WCHAR ((MPI_Datatype) 0x23c)
#define MPI_INT8_T ((MPI_Datatype) 0x240)
#define MPI_UINT8_T ((MPI_Datatype) 0x241)
#define MPI_CHAR ((MPI_Datatype) 0x243)
#define MPI_SIGNED_CHAR ((MPI_Datatype) 0x244)
#define MPI_UNSIGNED_CHAR ((MPI_Datatype) 0x245)
#define MPI_BYTE ((MPI_Datatype) 0x247)
#define MPI_INT16_T ((MPI_Datatype) 0x248)
#define MPI_UINT16_T ((MPI_Datatype) 0x249)
#define MPI_INT32_T ((MPI_Datatype) 0x250)
#define MPI_UINT32_T ((MPI_Datatype) 0x251)
#define MPI_INT64_T ((MPI_Datatype) 0x258)
#define MPI_UINT64_T ((MPI_Datatype) 0x259)
#define MPI_LOGICAL1 ((MPI_Datatype) 0x2c0)
#define MPI_INTEGER1 ((MPI_Datatype) 0x2c1)
#define MPI_LOGICAL2 ((MPI_Datatype) 0x2c8)
#define MPI_INTEGER2 ((MPI_Datatype) 0x2c9)
#define MPI_REAL2 ((MPI_Datatype) 0x2ca)
#define MPI_LOGICAL4 ((MPI_Datatype) 0x2d0)
#define MPI_INTEGER4 ((MPI_Datatype) 0x2d1)
#define MPI_REAL4 ((MPI_Datatype) 0x2d2)
#define MPI_COMPLEX4 ((MPI_Datatype) 0x2d3)
#define MPI_LOGICAL8 ((MPI_Datatype) 0x2d8)
#define MPI_INTEGER8 ((MPI_Datatype) 0x2d9)
#define MPI_REAL8 ((MPI_Datatype) 0x2da)
#define MPI_COMPLEX8 ((MPI_Datatype) 0x2db)
#define MPI_LOGICAL16 ((MPI_Datatype) 0x2e0)
#define MPI_INTEGER16 ((MPI_Datatype) 0x2e1)
#define MPI_REAL16 ((MPI_Datatype) 0x2e2)
#define MPI_COMPLEX16 ((MPI_Datatype) 0x2e3)
#define MPI_COMPLEX32 ((MPI_Datatype) 0x2eb)
#define MPI_LONG_LONG_INT MPI_LONG_LONG
#define MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX

/* MPI_T_enum */
#define MPI_T_ENUM_NULL ((MPI_T_enum) 0x0)

/* MPI_T_cvar_handle */
#define MPI_T_CVAR_HANDLE_NULL ((MPI_T_cvar_handle) 0x0)

/* MPI_T_pvar_session */
#define MPI_T_PVAR_SESSION_NULL ((MPI_T_pvar_session) 0x0)

/* MPI_T_pvar_handle */
#define MPI_T_PVAR_HANDLE_NULL ((MPI_T_pvar_handle) 0x0)
#define MPI_T_PVAR_ALL_HANDLES ((MPI_T_pvar_handle) 0x1)

/* Sizes. */
#define MPI_MAX_DATAREP_STRING 128
#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_INFO_KEY 256
#define MPI_MAX_INFO_VAL 1024
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_OBJECT_NAME 128
#define MPI_MAX_PORT_NAME 1024
#define MPI_MAX_PROCESSOR_NAME 256
#define MPI_MAX_STRINGTAG_LEN 1024
#define MPI_MAX_PSET_NAME_LEN 1024
#define MPI_BSEND_OVERHEAD 512

/* Special addresses and numbers. */
#define MPI_BOTTOM ((void *) 0)
#define MPI_IN_PLACE ((void *) 1)
#define MPI_BUFFER_AUTOMATIC ((void *) 2)
#define MPI_ARGV_NULL ((char **) 0)
#define MPI_ARGVS_NULL ((char ***) 0)
#define MPI_ERRCODES_IGNORE ((int *) 0)
#define MPI_UNWEIGHTED ((int *) 10)
#define MPI_WEIGHTS_EMPTY ((int *) 11)

#define MPI_DISPLACEMENT_CURRENT ((MPI_Offset) -1)

enum {
    MPI_F_STATUS_SIZE = 8,
    MPI_F_SOURCE = 0,
    MPI_F_TAG = 1,
    MPI_F_ERROR = 2
};

enum {
    MPI_SUCCESS = 0,
    MPI_ERR_BUFFER = 1,
    MPI_ERR_COUNT = 2,
    MPI_ERR_TYPE = 3,
    MPI_ERR_TAG = 4,
    MPI_ERR_COMM = 5,
    MPI_ERR_RANK = 6,
    MPI_ERR_REQUEST = 7,
    MPI_ERR_ROOT = 8,
    MPI_ERR_GROUP = 9,
    MPI_ERR_OP = 10,
    MPI_ERR_TOPOLOGY = 11,
    MPI_ERR_DIMS = 12,
    MPI_ERR_ARG = 13,
    MPI_ERR_UNKNOWN = 14,
    MPI_ERR_TRUNCATE = 15,
    MPI_ERR_OTHER = 16,
    MPI_ERR_INTERN = 17,
    MPI_ERR_PENDING = 18,
    MPI_ERR_IN_STATUS = 19,
    MPI_ERR_ACCESS = 20,
    MPI_ERR_AMODE = 21,
    MPI_ERR_ASSERT = 22,
    MPI_ERR_BAD_FILE = 23,
    MPI_ERR_BASE = 24,
    MPI_ERR_CONVERSION = 25,
    MPI_ERR_DISP = 26,
    MPI_ERR_DUP_DATAREP = 27,
    MPI_ERR_FILE_EXISTS = 28,
    MPI_ERR_FILE_IN_USE = 29,
    MPI_ERR_FILE = 30,
    MPI_ERR_INFO_KEY = 31,
    MPI_ERR_INFO_NOKEY = 32,
    MPI_ERR_INFO_VALUE = 33,
    MPI_ERR_INFO = 34,
    MPI_ERR_IO = 35,
    MPI_ERR_KEYVAL = 36,
    MPI_ERR_LOCKTYPE = 37,
    MPI_ERR_NAME = 38,
    MPI_ERR_NO_MEM = 39,
    MPI_ERR_NOT_SAME = 40,
    MPI_ERR_NO_SPACE = 41,
    MPI_ERR_NO_SUCH_FILE = 42,
    MPI_ERR_PORT = 43,
    MPI_ERR_QUOTA = 44,
    MPI_ERR_READ_ONLY = 45,
    MPI_ERR_RMA_ATTACH = 46,
    MPI_ERR_RMA_CONFLICT = 47,
    MPI_ERR_RMA_RANGE = 48,
    MPI_ERR_RMA_SHARED = 49,
    MPI_ERR_RMA_SYNC = 50,
    MPI_ERR_SERVICE = 51,
    MPI_ERR_SIZE = 52,
    MPI_ERR_SPAWN = 53,
    MPI_ERR_UNSUPPORTED_DATAREP = 54,
    MPI_ERR_UNSUPPORTED_OPERATION = 55,
    MPI_ERR_WIN = 56,
    MPI_ERR_RMA_FLAVOR = 57,
    MPI_ERR_PROC_ABORTED = 58,
    MPI_ERR_VALUE_TOO_LARGE = 59,
    MPI_ERR_SESSION = 60,
    MPI_ERR_ERRHANDLER = 61,
    MPI_ERR_ABI = 62,
    MPI_T_ERR_CANNOT_INIT = 1001,
    MPI_T_ERR_NOT_ACCESSIBLE = 1002,
    MPI_T_ERR_NOT_INITIALIZED = 1003,
    MPI_T_ERR_NOT_SUPPORTED = 1004,
    MPI_T_ERR_MEMORY = 1005,
    MPI_T_ERR_INVALID = 1006,
    MPI_T_ERR_INVALID_INDEX = 1007,
    MPI_T_ERR_INVALID_ITEM = 1008,
    MPI_T_ERR_INVALID_SESSION = 1009,
    MPI_T_ERR_INVALID_HANDLE = 1010,
    MPI_T_ERR_INVALID_NAME = 1011,
    MPI_T_ERR_OUT_OF_HANDLES = 1012,
    MPI_T_ERR_OUT_OF_SESSIONS = 1013,
    MPI_T_ERR_CVAR_SET_NOT_NOW = 1014,
    MPI_T_ERR_CVAR_SET_NEVER = 1015,
    MPI_T_ERR_PVAR_NO_WRITE = 1016,
    MPI_T_ERR_PVAR_NO_STARTSTOP = 1017,
    MPI_T_ERR_PVAR_NO_ATOMIC = 1018,
    MPI_ERR_LASTCODE = 16383
};

enum {
    MPI_MODE_APPEND = 1,
    MPI_MODE_CREATE = 2,
    MPI_MODE_DELETE_ON_CLOSE = 4,
    MPI_MODE_EXCL = 8,
    MPI_MODE_RDONLY = 16,
    MPI_MODE_RDWR = 32,
    MPI_MODE_SEQUENTIAL = 64,
    MPI_MODE_UNIQUE_OPEN = 128,
    MPI_MODE_WRONLY = 256,
    MPI_MODE_NOCHECK = 1024,
    MPI_MODE_NOPRECEDE = 2048,
    MPI_MODE_NOPUT = 4096,
    MPI_MODE_NOSTORE = 8192,
    MPI_MODE_NOSUCCEED = 16384
};

enum {
    MPI_ANY_SOURCE = -1,
    MPI_ANY_TAG = -2,
    MPI_PROC_NULL = -3,
    MPI_ROOT = -4,
    MPI_UNDEFINED = -32766
};

enum {
    MPI_THREAD_SINGLE = 0,
    MPI_THREAD_FUNNELED = 1024,
    MPI_THREAD_SERIALIZED = 2048,
    MPI_THREAD_MULTIPLE = 4096,
    MPI_ORDER_C = 0xC,
    MPI_ORDER_FORTRAN = 0xF,
    MPI_DISTRIBUTE_NONE = 16,
    MPI_DISTRIBUTE_BLOCK = 17,
    MPI_DISTRIBUTE_CYCLIC = 18,
    MPI_DISTRIBUTE_DFLT_DARG = 19,
    MPI_COMBINER_NAMED = 101,
    MPI_COMBINER_DUP = 102,
    MPI_COMBINER_CONTIGUOUS = 103,
    MPI_COMBINER_VECTOR = 104,
    MPI_COMBINER_HVECTOR = 105,
    MPI_COMBINER_INDEXED = 106,
    MPI_COMBINER_HINDEXED = 107,
    MPI_COMBINER_INDEXED_BLOCK = 108,
    MPI_COMBINER_HINDEXED_BLOCK = 109,
    MPI_COMBINER_STRUCT = 110,
    MPI_COMBINER_SUBARRAY = 111,
    MPI_COMBINER_DARRAY = 112,
    MPI_COMBINER_F90_REAL = 113,
    MPI_COMBINER_F90_COMPLEX = 114,
    MPI_COMBINER_F90_INTEGER = 115,
    MPI_COMBINER_RESIZED = 116,
    MPI_COMBINER_VALUE_INDEX = 117,
    MPIX_TYPECLASS_LOGICAL = 191,
    MPI_TYPECLASS_INTEGER = 192,
    MPI_TYPECLASS_REAL = 193,
    MPI_TYPECLASS_COMPLEX = 194,
    MPI_IDENT = 201,
    MPI_CONGRUENT = 202,
    MPI_SIMILAR = 203,
    MPI_UNEQUAL = 204,
    MPI_CART = 211,
    MPI_GRAPH = 212,
    MPI_DIST_GRAPH = 213,
    MPI_COMM_TYPE_SHARED = 221,
    MPI_COMM_TYPE_HW_UNGUIDED = 222,
    MPI_COMM_TYPE_HW_GUIDED = 223,
    MPI_COMM_TYPE_RESOURCE_GUIDED = 224,
    MPI_LOCK_EXCLUSIVE = 301,
    MPI_LOCK_SHARED = 302,
    MPI_WIN_FLAVOR_CREATE = 311,
    MPI_WIN_FLAVOR_ALLOCATE = 312,
    MPI_WIN_FLAVOR_DYNAMIC = 313,
    MPI_WIN_FLAVOR_SHARED = 314,
    MPI_WIN_UNIFIED = 321,
    MPI_WIN_SEPARATE = 322,
    MPI_SEEK_CUR = 401,
    MPI_SEEK_END = 402,
    MPI_SEEK_SET = 403
};

enum {
    MPI_KEYVAL_INVALID = 0,
    MPI_TAG_UB = 501,
    MPI_IO = 502,
    MPI_HOST = 503,
    MPI_WTIME_IS_GLOBAL = 504,
    MPI_APPNUM = 505,
    MPI_LASTUSEDCODE = 506,
    MPI_UNIVERSE_SIZE = 507,
    MPI_WIN_BASE = 601,
    MPI_WIN_DISP_UNIT = 602,
    MPI_WIN_SIZE = 603,
    MPI_WIN_CREATE_FLAVOR = 604,
    MPI_WIN_MODEL = 605
};

enum {
    MPI_T_VERBOSITY_USER_BASIC = 0x09,
    MPI_T_VERBOSITY_USER_DETAIL = 0x0a,
    MPI_T_VERBOSITY_USER_ALL = 0x0c,
    MPI_T_VERBOSITY_TUNER_BASIC = 0x11,
    MPI_T_VERBOSITY_TUNER_DETAIL = 0x12,
    MPI_T_VERBOSITY_TUNER_ALL = 0x14,
    MPI_T_VERBOSITY_MPIDEV_BASIC = 0x21,
    MPI_T_VERBOSITY_MPIDEV_DETAIL = 0x22,
    MPI_T_VERBOSITY_MPIDEV_ALL = 0x24
};

enum {
    MPI_T_BIND_NO_OBJECT = 1,
    MPI_T_BIND_MPI_COMM = 2,
    MPI_T_BIND_MPI_DATATYPE = 3,
    MPI_T_BIND_MPI_ERRHANDLER = 4,
    MPI_T_BIND_MPI_FILE = 5,
    MPI_T_BIND_MPI_GROUP = 6,
    MPI_T_BIND_MPI_OP = 7,
    MPI_T_BIND_MPI_REQUEST = 8,
    MPI_T_BIND_MPI_WIN = 9,
    MPI_T_BIND_MPI_MESSAGE = 10,
    MPI_T_BIND_MPI_INFO = 11,
    MPI_T_BIND_MPI_SESSION = 12
};

enum {
    MPI_T_SCOPE_CONSTANT = 1,
    MPI_T_SCOPE_READONLY = 2,
    MPI_T_SCOPE_LOCAL = 3,
    MPI_T_SCOPE_GROUP = 4,
    MPI_T_SCOPE_GROUP_EQ = 5,
    MPI_T_SCOPE_ALL = 6,
    MPI_T_SCOPE_ALL_EQ = 7
};

enum {
    MPI_T_PVAR_CLASS_STATE = 1,
    MPI_T_PVAR_CLASS_LEVEL = 2,
    MPI_T_PVAR_CLASS_SIZE = 3,
    MPI_T_PVAR_CLASS_PERCENTAGE = 4,
    MPI_T_PVAR_CLASS_HIGHWATERMARK = 5,
    MPI_T_PVAR_CLASS_LOWWATERMARK = 6,
    MPI_T_PVAR_CLASS_COUNTER = 7,
    MPI_T_PVAR_CLASS_AGGREGATE = 8,
    MPI_T_PVAR_CLASS_TIMER = 9,
    MPI_T_PVAR_CLASS_GENERIC = 10
};

typedef enum {
    MPI_T_CB_REQUIRE_NONE = 0x00,
    MPI_T_CB_REQUIRE_MPI_RESTRICTED = 0x03,
    MPI_T_CB_REQUIRE_THREAD_SAFE = 0x0F,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE = 0x3F
} MPI_T_cb_safety;

typedef enum {
    MPI_T_SOURCE_ORDERED = 1,
    MPI_T_SOURCE_UNORDERED = 2
} MPI_T_source_order;

/* Functions of programs that MPI calls. */
typedef void MPI_User_function(void *, void *, int *, MPI_Datatype *);
typedef void MPI_User_function_c(void *, void *, MPI_Count *, MPI_Datatype *);
typedef int MPI_Grequest_query_function(void *, MPI_Status *);
typedef int MPI_Grequest_free_function(void *);
typedef int MPI_Grequest_cancel_function(void *, int);
typedef int MPI_Copy_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Delete_function(MPI_Comm, int, void *, void *);
typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void *, void *);
typedef int MPI_Type_copy_attr_function(MPI_Datatype, int, void *, void *, void *, int *);
typedef int MPI_Type_delete_attr_function(MPI_Datatype, int, void *, void *);
typedef int MPI_Win_copy_attr_function(MPI_Win, int, void *, void *, void *, int *);
typedef int MPI_Win_delete_attr_function(MPI_Win, int, void *, void *);
typedef int MPI_Datarep_extent_function(MPI_Datatype, MPI_Aint *, void *);
typedef int MPI_Datarep_conversion_function(void *, MPI_Datatype, int, void *, MPI_Offset, void *);
typedef int MPI_Datarep_conversion_function_c(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
typedef void MPI_Comm_errhandler_function(MPI_Comm *, int *, ...);
typedef void MPI_File_errhandler_function(MPI_File *, int *, ...);
typedef void MPI_Win_errhandler_function(MPI_Win *, int *, ...);
typedef void MPI_Session_errhandler_function(MPI_Session *, int *, ...);
typedef void MPI_T_event_cb_function(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void *);
typedef void MPI_T_event_free_cb_function(MPI_T_event_registration, MPI_T_cb_safety, void *);
typedef void MPI_T_event_dropped_cb_function(MPI_Count, MPI_T_event_registration, int, MPI_T_cb_safety, void *);
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_Session_errhandler_function MPI_Session_errhandler_fn;
#define MPI_STATUS_IGNORE ((MPI_Status *) 0)
#define MPI_STATUSES_IGNORE ((MPI_Status *) 0)
#define MPI_NULL_COPY_FN ((MPI_Copy_function *) 0)
#define MPI_DUP_FN ((MPI_Copy_function *) 1)
#define MPI_NULL_DELETE_FN ((MPI_Delete_function *) 0)
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function *) 0)
#define MPI_COMM_DUP_FN ((MPI_Comm_copy_attr_function *) 1)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function *) 0)
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function *) 0)
#define MPI_TYPE_DUP_FN ((MPI_Type_copy_attr_function *) 1)
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function *) 0)
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function *) 0)
#define MPI_WIN_DUP_FN ((MPI_Win_copy_attr_function *) 1)
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function *) 0)
#define MPI_CONVERSION_FN_NULL ((MPI_Datarep_conversion_function *) 0)
#define MPI_CONVERSION_FN_NULL_C ((MPI_Datarep_conversion_function_c *) 0)

/* Each function is there as PMPI_ too. */
#define MPI_FUNCTION(result, name, arguments) result MPI_##name arguments; result PMPI_##name arguments;

MPI_FUNCTION(int, Abi_get_fortran_booleans, (int, void *, void *, int *))
MPI_FUNCTION(int, Abi_get_fortran_info, (MPI_Info *))
MPI_FUNCTION(int, Abi_get_info, (MPI_Info *))
MPI_FUNCTION(int, Abi_get_version, (int *, int *))
MPI_FUNCTION(int, Abi_set_fortran_booleans, (int, void *, void *))
MPI_FUNCTION(int, Abi_set_fortran_info, (MPI_Info))
MPI_FUNCTION(int, Abort, (MPI_Comm, int))
MPI_FUNCTION(int, Accumulate, (const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Op, MPI_Win))
MPI_FUNCTION(int, Accumulate_c, (const void *, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype,
    MPI_Op, MPI_Win))
MPI_FUNCTION(int, Add_error_class, (int *))
MPI_FUNCTION(int, Add_error_code, (int, int *))
MPI_FUNCTION(int, Add_error_string, (int, const char *))
MPI_FUNCTION(MPI_Aint, Aint_add, (MPI_Aint, MPI_Aint))
MPI_FUNCTION(MPI_Aint, Aint_diff, (MPI_Aint, MPI_Aint))
MPI_FUNCTION(int, Allgather, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Allgather_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Allgather_init, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Info,
    MPI_Request *))
MPI_FUNCTION(int, Allgather_init_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm,
    MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Allgatherv, (const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype,
    MPI_Comm))
MPI_FUNCTION(int, Allgatherv_c, (const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count *, const MPI_Aint *,
    MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Allgatherv_init, (const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype,
    MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Allgatherv_init_c, (const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count *, const MPI_Aint
    *, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Alloc_mem, (MPI_Aint, MPI_Info, void *))
MPI_FUNCTION(int, Allreduce, (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm))
MPI_FUNCTION(int, Allreduce_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm))
MPI_FUNCTION(int, Allreduce_init, (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request
    *))
MPI_FUNCTION(int, Allreduce_init_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
    MPI_Request *))
MPI_FUNCTION(int, Alltoall, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Alltoall_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Alltoall_init, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Info,
    MPI_Request *))
MPI_FUNCTION(int, Alltoall_init_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm,
    MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Alltoallv, (const void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *,
    MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Alltoallv_c, (const void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, void *, const
    MPI_Count *, const MPI_Aint *, MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Alltoallv_init, (const void *, const int *, const int *, MPI_Datatype, void *, const int *, const
    int *, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Alltoallv_init_c, (const void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, void *, const
    MPI_Count *, const MPI_Aint *, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Alltoallw, (const void *, const int *, const int *, const MPI_Datatype *, void *, const int *, const
    int *, const MPI_Datatype *, MPI_Comm))
MPI_FUNCTION(int, Alltoallw_c, (const void *, const MPI_Count *, const MPI_Aint *, const MPI_Datatype *, void *, const
    MPI_Count *, const MPI_Aint *, const MPI_Datatype *, MPI_Comm))
MPI_FUNCTION(int, Alltoallw_init, (const void *, const int *, const int *, const MPI_Datatype *, void *, const int *,
    const int *, const MPI_Datatype *, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Alltoallw_init_c, (const void *, const MPI_Count *, const MPI_Aint *, const MPI_Datatype *, void *,
    const MPI_Count *, const MPI_Aint *, const MPI_Datatype *, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Attr_delete, (MPI_Comm, int))
MPI_FUNCTION(int, Attr_get, (MPI_Comm, int, void *, int *))
MPI_FUNCTION(int, Attr_put, (MPI_Comm, int, void *))
MPI_FUNCTION(int, Barrier, (MPI_Comm))
MPI_FUNCTION(int, Barrier_init, (MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Bcast, (void *, int, MPI_Datatype, int, MPI_Comm))
MPI_FUNCTION(int, Bcast_c, (void *, MPI_Count, MPI_Datatype, int, MPI_Comm))
MPI_FUNCTION(int, Bcast_init, (void *, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Bcast_init_c, (void *, MPI_Count, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Bsend, (const void *, int, MPI_Datatype, int, int, MPI_Comm))
MPI_FUNCTION(int, Bsend_c, (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm))
MPI_FUNCTION(int, Bsend_init, (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Bsend_init_c, (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Buffer_attach, (void *, int))
MPI_FUNCTION(int, Buffer_attach_c, (void *, MPI_Count))
MPI_FUNCTION(int, Buffer_detach, (void *, int *))
MPI_FUNCTION(int, Buffer_detach_c, (void *, MPI_Count *))
MPI_FUNCTION(int, Buffer_flush, (void))
MPI_FUNCTION(int, Buffer_iflush, (MPI_Request *))
MPI_FUNCTION(int, Cancel, (MPI_Request *))
MPI_FUNCTION(int, Cart_coords, (MPI_Comm, int, int, int *))
MPI_FUNCTION(int, Cart_create, (MPI_Comm, int, const int *, const int *, int, MPI_Comm *))
MPI_FUNCTION(int, Cart_get, (MPI_Comm, int, int *, int *, int *))
MPI_FUNCTION(int, Cart_map, (MPI_Comm, int, const int *, const int *, int *))
MPI_FUNCTION(int, Cart_rank, (MPI_Comm, const int *, int *))
MPI_FUNCTION(int, Cart_shift, (MPI_Comm, int, int, int *, int *))
MPI_FUNCTION(int, Cart_sub, (MPI_Comm, const int *, MPI_Comm *))
MPI_FUNCTION(int, Cartdim_get, (MPI_Comm, int *))
MPI_FUNCTION(int, Close_port, (const char *))
MPI_FUNCTION(int, Comm_accept, (const char *, MPI_Info, int, MPI_Comm, MPI_Comm *))
MPI_FUNCTION(int, Comm_attach_buffer, (MPI_Comm, void *, int))
MPI_FUNCTION(int, Comm_attach_buffer_c, (MPI_Comm, void *, MPI_Count))
MPI_FUNCTION(int, Comm_call_errhandler, (MPI_Comm, int))
MPI_FUNCTION(int, Comm_compare, (MPI_Comm, MPI_Comm, int *))
MPI_FUNCTION(int, Comm_connect, (const char *, MPI_Info, int, MPI_Comm, MPI_Comm *))
MPI_FUNCTION(int, Comm_create, (MPI_Comm, MPI_Group, MPI_Comm *))
MPI_FUNCTION(int, Comm_create_errhandler, (MPI_Comm_errhandler_function *, MPI_Errhandler *))
MPI_FUNCTION(int, Comm_create_from_group, (MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *))
MPI_FUNCTION(int, Comm_create_group, (MPI_Comm, MPI_Group, int, MPI_Comm *))
MPI_FUNCTION(int, Comm_create_keyval, (MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *, void *))
MPI_FUNCTION(int, Comm_delete_attr, (MPI_Comm, int))
MPI_FUNCTION(int, Comm_detach_buffer, (MPI_Comm, void *, int *))
MPI_FUNCTION(int, Comm_detach_buffer_c, (MPI_Comm, void *, MPI_Count *))
MPI_FUNCTION(int, Comm_disconnect, (MPI_Comm *))
MPI_FUNCTION(int, Comm_dup, (MPI_Comm, MPI_Comm *))
MPI_FUNCTION(int, Comm_dup_with_info, (MPI_Comm, MPI_Info, MPI_Comm *))
MPI_FUNCTION(int, Comm_flush_buffer, (MPI_Comm))
MPI_FUNCTION(int, Comm_free, (MPI_Comm *))
MPI_FUNCTION(int, Comm_free_keyval, (int *))
MPI_FUNCTION(MPI_Comm, Comm_fromint, (int))
MPI_FUNCTION(int, Comm_get_attr, (MPI_Comm, int, void *, int *))
MPI_FUNCTION(int, Comm_get_errhandler, (MPI_Comm, MPI_Errhandler *))
MPI_FUNCTION(int, Comm_get_info, (MPI_Comm, MPI_Info *))
MPI_FUNCTION(int, Comm_get_name, (MPI_Comm, char *, int *))
MPI_FUNCTION(int, Comm_get_parent, (MPI_Comm *))
MPI_FUNCTION(int, Comm_group, (MPI_Comm, MPI_Group *))
MPI_FUNCTION(int, Comm_idup, (MPI_Comm, MPI_Comm *, MPI_Request *))
MPI_FUNCTION(int, Comm_idup_with_info, (MPI_Comm, MPI_Info, MPI_Comm *, MPI_Request *))
MPI_FUNCTION(int, Comm_iflush_buffer, (MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Comm_join, (int, MPI_Comm *))
MPI_FUNCTION(int, Comm_rank, (MPI_Comm, int *))
MPI_FUNCTION(int, Comm_remote_group, (MPI_Comm, MPI_Group *))
MPI_FUNCTION(int, Comm_remote_size, (MPI_Comm, int *))
MPI_FUNCTION(int, Comm_set_attr, (MPI_Comm, int, void *))
MPI_FUNCTION(int, Comm_set_errhandler, (MPI_Comm, MPI_Errhandler))
MPI_FUNCTION(int, Comm_set_info, (MPI_Comm, MPI_Info))
MPI_FUNCTION(int, Comm_set_name, (MPI_Comm, const char *))
MPI_FUNCTION(int, Comm_size, (MPI_Comm, int *))
MPI_FUNCTION(int, Comm_spawn, (const char *, char **, int, MPI_Info, int, MPI_Comm, MPI_Comm *, int *))
MPI_FUNCTION(int, Comm_spawn_multiple, (int, char **, char ***, const int *, const MPI_Info *, int, MPI_Comm, MPI_Comm
    *, int *))
MPI_FUNCTION(int, Comm_split, (MPI_Comm, int, int, MPI_Comm *))
MPI_FUNCTION(int, Comm_split_type, (MPI_Comm, int, int, MPI_Info, MPI_Comm *))
MPI_FUNCTION(int, Comm_test_inter, (MPI_Comm, int *))
MPI_FUNCTION(int, Comm_toint, (MPI_Comm))
MPI_FUNCTION(int, Compare_and_swap, (const void *, const void *, void *, MPI_Datatype, int, MPI_Aint, MPI_Win))
MPI_FUNCTION(int, Dims_create, (int, int, int *))
MPI_FUNCTION(int, Dist_graph_create, (MPI_Comm, int, const int *, const int *, const int *, const int *, MPI_Info,
    int, MPI_Comm *))
MPI_FUNCTION(int, Dist_graph_create_adjacent, (MPI_Comm, int, const int *, const int *, int, const int *, const int *,
    MPI_Info, int, MPI_Comm *))
MPI_FUNCTION(int, Dist_graph_neighbors, (MPI_Comm, int, int *, int *, int, int *, int *))
MPI_FUNCTION(int, Dist_graph_neighbors_count, (MPI_Comm, int *, int *, int *))
MPI_FUNCTION(int, Errhandler_free, (MPI_Errhandler *))
MPI_FUNCTION(MPI_Errhandler, Errhandler_fromint, (int))
MPI_FUNCTION(int, Errhandler_toint, (MPI_Errhandler))
MPI_FUNCTION(int, Error_class, (int, int *))
MPI_FUNCTION(int, Error_string, (int, char *, int *))
MPI_FUNCTION(int, Exscan, (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm))
MPI_FUNCTION(int, Exscan_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm))
MPI_FUNCTION(int, Exscan_init, (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Exscan_init_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
    MPI_Request *))
MPI_FUNCTION(int, Fetch_and_op, (const void *, void *, MPI_Datatype, int, MPI_Aint, MPI_Op, MPI_Win))
MPI_FUNCTION(int, File_call_errhandler, (MPI_File, int))
MPI_FUNCTION(int, File_close, (MPI_File *))
MPI_FUNCTION(int, File_create_errhandler, (MPI_File_errhandler_function *, MPI_Errhandler *))
MPI_FUNCTION(int, File_delete, (const char *, MPI_Info))
MPI_FUNCTION(MPI_File, File_fromint, (int))
MPI_FUNCTION(int, File_get_amode, (MPI_File, int *))
MPI_FUNCTION(int, File_get_atomicity, (MPI_File, int *))
MPI_FUNCTION(int, File_get_byte_offset, (MPI_File, MPI_Offset, MPI_Offset *))
MPI_FUNCTION(int, File_get_errhandler, (MPI_File, MPI_Errhandler *))
MPI_FUNCTION(int, File_get_group, (MPI_File, MPI_Group *))
MPI_FUNCTION(int, File_get_info, (MPI_File, MPI_Info *))
MPI_FUNCTION(int, File_get_position, (MPI_File, MPI_Offset *))
MPI_FUNCTION(int, File_get_position_shared, (MPI_File, MPI_Offset *))
MPI_FUNCTION(int, File_get_size, (MPI_File, MPI_Offset *))
MPI_FUNCTION(int, File_get_type_extent, (MPI_File, MPI_Datatype, MPI_Aint *))
MPI_FUNCTION(int, File_get_type_extent_c, (MPI_File, MPI_Datatype, MPI_Count *))
MPI_FUNCTION(int, File_get_view, (MPI_File, MPI_Offset *, MPI_Datatype *, MPI_Datatype *, char *))
MPI_FUNCTION(int, File_iread, (MPI_File, void *, int, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iread_all, (MPI_File, void *, int, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iread_all_c, (MPI_File, void *, MPI_Count, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iread_at, (MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iread_at_all, (MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iread_at_all_c, (MPI_File, MPI_Offset, void *, MPI_Count, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iread_at_c, (MPI_File, MPI_Offset, void *, MPI_Count, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iread_c, (MPI_File, void *, MPI_Count, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iread_shared, (MPI_File, void *, int, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iread_shared_c, (MPI_File, void *, MPI_Count, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iwrite, (MPI_File, const void *, int, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iwrite_all, (MPI_File, const void *, int, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iwrite_all_c, (MPI_File, const void *, MPI_Count, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iwrite_at, (MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iwrite_at_all, (MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iwrite_at_all_c, (MPI_File, MPI_Offset, const void *, MPI_Count, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iwrite_at_c, (MPI_File, MPI_Offset, const void *, MPI_Count, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iwrite_c, (MPI_File, const void *, MPI_Count, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iwrite_shared, (MPI_File, const void *, int, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_iwrite_shared_c, (MPI_File, const void *, MPI_Count, MPI_Datatype, MPI_Request *))
MPI_FUNCTION(int, File_open, (MPI_Comm, const char *, int, MPI_Info, MPI_File *))
MPI_FUNCTION(int, File_preallocate, (MPI_File, MPI_Offset))
MPI_FUNCTION(int, File_read, (MPI_File, void *, int, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_read_all, (MPI_File, void *, int, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_read_all_begin, (MPI_File, void *, int, MPI_Datatype))
MPI_FUNCTION(int, File_read_all_begin_c, (MPI_File, void *, MPI_Count, MPI_Datatype))
MPI_FUNCTION(int, File_read_all_c, (MPI_File, void *, MPI_Count, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_read_all_end, (MPI_File, void *, MPI_Status *))
MPI_FUNCTION(int, File_read_at, (MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_read_at_all, (MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_read_at_all_begin, (MPI_File, MPI_Offset, void *, int, MPI_Datatype))
MPI_FUNCTION(int, File_read_at_all_begin_c, (MPI_File, MPI_Offset, void *, MPI_Count, MPI_Datatype))
MPI_FUNCTION(int, File_read_at_all_c, (MPI_File, MPI_Offset, void *, MPI_Count, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_read_at_all_end, (MPI_File, void *, MPI_Status *))
MPI_FUNCTION(int, File_read_at_c, (MPI_File, MPI_Offset, void *, MPI_Count, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_read_c, (MPI_File, void *, MPI_Count, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_read_ordered, (MPI_File, void *, int, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_read_ordered_begin, (MPI_File, void *, int, MPI_Datatype))
MPI_FUNCTION(int, File_read_ordered_begin_c, (MPI_File, void *, MPI_Count, MPI_Datatype))
MPI_FUNCTION(int, File_read_ordered_c, (MPI_File, void *, MPI_Count, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_read_ordered_end, (MPI_File, void *, MPI_Status *))
MPI_FUNCTION(int, File_read_shared, (MPI_File, void *, int, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_read_shared_c, (MPI_File, void *, MPI_Count, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_seek, (MPI_File, MPI_Offset, int))
MPI_FUNCTION(int, File_seek_shared, (MPI_File, MPI_Offset, int))
MPI_FUNCTION(int, File_set_atomicity, (MPI_File, int))
MPI_FUNCTION(int, File_set_errhandler, (MPI_File, MPI_Errhandler))
MPI_FUNCTION(int, File_set_info, (MPI_File, MPI_Info))
MPI_FUNCTION(int, File_set_size, (MPI_File, MPI_Offset))
MPI_FUNCTION(int, File_set_view, (MPI_File, MPI_Offset, MPI_Datatype, MPI_Datatype, const char *, MPI_Info))
MPI_FUNCTION(int, File_sync, (MPI_File))
MPI_FUNCTION(int, File_toint, (MPI_File))
MPI_FUNCTION(int, File_write, (MPI_File, const void *, int, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_write_all, (MPI_File, const void *, int, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_write_all_begin, (MPI_File, const void *, int, MPI_Datatype))
MPI_FUNCTION(int, File_write_all_begin_c, (MPI_File, const void *, MPI_Count, MPI_Datatype))
MPI_FUNCTION(int, File_write_all_c, (MPI_File, const void *, MPI_Count, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_write_all_end, (MPI_File, const void *, MPI_Status *))
MPI_FUNCTION(int, File_write_at, (MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_write_at_all, (MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_write_at_all_begin, (MPI_File, MPI_Offset, const void *, int, MPI_Datatype))
MPI_FUNCTION(int, File_write_at_all_begin_c, (MPI_File, MPI_Offset, const void *, MPI_Count, MPI_Datatype))
MPI_FUNCTION(int, File_write_at_all_c, (MPI_File, MPI_Offset, const void *, MPI_Count, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_write_at_all_end, (MPI_File, const void *, MPI_Status *))
MPI_FUNCTION(int, File_write_at_c, (MPI_File, MPI_Offset, const void *, MPI_Count, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_write_c, (MPI_File, const void *, MPI_Count, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_write_ordered, (MPI_File, const void *, int, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_write_ordered_begin, (MPI_File, const void *, int, MPI_Datatype))
MPI_FUNCTION(int, File_write_ordered_begin_c, (MPI_File, const void *, MPI_Count, MPI_Datatype))
MPI_FUNCTION(int, File_write_ordered_c, (MPI_File, const void *, MPI_Count, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_write_ordered_end, (MPI_File, const void *, MPI_Status *))
MPI_FUNCTION(int, File_write_shared, (MPI_File, const void *, int, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, File_write_shared_c, (MPI_File, const void *, MPI_Count, MPI_Datatype, MPI_Status *))
MPI_FUNCTION(int, Finalize, (void))
MPI_FUNCTION(int, Finalized, (int *))
MPI_FUNCTION(int, Free_mem, (void *))
MPI_FUNCTION(int, Gather, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm))
MPI_FUNCTION(int, Gather_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, int, MPI_Comm))
MPI_FUNCTION(int, Gather_init, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm, MPI_Info,
    MPI_Request *))
MPI_FUNCTION(int, Gather_init_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, int,
    MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Gatherv, (const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, int,
    MPI_Comm))
MPI_FUNCTION(int, Gatherv_c, (const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count *, const MPI_Aint *,
    MPI_Datatype, int, MPI_Comm))
MPI_FUNCTION(int, Gatherv_init, (const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, int,
    MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Gatherv_init_c, (const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count *, const MPI_Aint *,
    MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Get, (void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win))
MPI_FUNCTION(int, Get_accumulate, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Aint, int,
    MPI_Datatype, MPI_Op, MPI_Win))
MPI_FUNCTION(int, Get_accumulate_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, int,
    MPI_Aint, MPI_Count, MPI_Datatype, MPI_Op, MPI_Win))
MPI_FUNCTION(int, Get_address, (const void *, MPI_Aint *))
MPI_FUNCTION(int, Get_c, (void *, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype, MPI_Win))
MPI_FUNCTION(int, Get_count, (const MPI_Status *, MPI_Datatype, int *))
MPI_FUNCTION(int, Get_count_c, (const MPI_Status *, MPI_Datatype, MPI_Count *))
MPI_FUNCTION(int, Get_elements, (const MPI_Status *, MPI_Datatype, int *))
MPI_FUNCTION(int, Get_elements_c, (const MPI_Status *, MPI_Datatype, MPI_Count *))
MPI_FUNCTION(int, Get_elements_x, (const MPI_Status *, MPI_Datatype, MPI_Count *))
MPI_FUNCTION(int, Get_hw_resource_info, (MPI_Info *))
MPI_FUNCTION(int, Get_library_version, (char *, int *))
MPI_FUNCTION(int, Get_processor_name, (char *, int *))
MPI_FUNCTION(int, Get_version, (int *, int *))
MPI_FUNCTION(int, Graph_create, (MPI_Comm, int, const int *, const int *, int, MPI_Comm *))
MPI_FUNCTION(int, Graph_get, (MPI_Comm, int, int, int *, int *))
MPI_FUNCTION(int, Graph_map, (MPI_Comm, int, const int *, const int *, int *))
MPI_FUNCTION(int, Graph_neighbors, (MPI_Comm, int, int, int *))
MPI_FUNCTION(int, Graph_neighbors_count, (MPI_Comm, int, int *))
MPI_FUNCTION(int, Graphdims_get, (MPI_Comm, int *, int *))
MPI_FUNCTION(int, Grequest_complete, (MPI_Request))
MPI_FUNCTION(int, Grequest_start, (MPI_Grequest_query_function *, MPI_Grequest_free_function *,
    MPI_Grequest_cancel_function *, void *, MPI_Request *))
MPI_FUNCTION(int, Group_compare, (MPI_Group, MPI_Group, int *))
MPI_FUNCTION(int, Group_difference, (MPI_Group, MPI_Group, MPI_Group *))
MPI_FUNCTION(int, Group_excl, (MPI_Group, int, const int *, MPI_Group *))
MPI_FUNCTION(int, Group_free, (MPI_Group *))
MPI_FUNCTION(int, Group_from_session_pset, (MPI_Session, const char *, MPI_Group *))
MPI_FUNCTION(MPI_Group, Group_fromint, (int))
MPI_FUNCTION(int, Group_incl, (MPI_Group, int, const int *, MPI_Group *))
MPI_FUNCTION(int, Group_intersection, (MPI_Group, MPI_Group, MPI_Group *))
MPI_FUNCTION(int, Group_range_excl, (MPI_Group, int, int (*)[3], MPI_Group *))
MPI_FUNCTION(int, Group_range_incl, (MPI_Group, int, int (*)[3], MPI_Group *))
MPI_FUNCTION(int, Group_rank, (MPI_Group, int *))
MPI_FUNCTION(int, Group_size, (MPI_Group, int *))
MPI_FUNCTION(int, Group_toint, (MPI_Group))
MPI_FUNCTION(int, Group_translate_ranks, (MPI_Group, int, const int *, MPI_Group, int *))
MPI_FUNCTION(int, Group_union, (MPI_Group, MPI_Group, MPI_Group *))
MPI_FUNCTION(int, Iallgather, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Iallgather_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm,
    MPI_Request *))
MPI_FUNCTION(int, Iallgatherv, (const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype,
    MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Iallgatherv_c, (const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count *, const MPI_Aint *,
    MPI_Datatype, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Iallreduce, (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Iallreduce_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ialltoall, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ialltoall_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm,
    MPI_Request *))
MPI_FUNCTION(int, Ialltoallv, (const void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *,
    MPI_Datatype, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ialltoallv_c, (const void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, void *, const
    MPI_Count *, const MPI_Aint *, MPI_Datatype, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ialltoallw, (const void *, const int *, const int *, const MPI_Datatype *, void *, const int *,
    const int *, const MPI_Datatype *, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ialltoallw_c, (const void *, const MPI_Count *, const MPI_Aint *, const MPI_Datatype *, void *,
    const MPI_Count *, const MPI_Aint *, const MPI_Datatype *, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ibarrier, (MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ibcast, (void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ibcast_c, (void *, MPI_Count, MPI_Datatype, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ibsend, (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ibsend_c, (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Iexscan, (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Iexscan_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Igather, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Igather_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, int, MPI_Comm,
    MPI_Request *))
MPI_FUNCTION(int, Igatherv, (const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, int,
    MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Igatherv_c, (const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count *, const MPI_Aint *,
    MPI_Datatype, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Improbe, (int, int, MPI_Comm, int *, MPI_Message *, MPI_Status *))
MPI_FUNCTION(int, Imrecv, (void *, int, MPI_Datatype, MPI_Message *, MPI_Request *))
MPI_FUNCTION(int, Imrecv_c, (void *, MPI_Count, MPI_Datatype, MPI_Message *, MPI_Request *))
MPI_FUNCTION(int, Ineighbor_allgather, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
    MPI_Request *))
MPI_FUNCTION(int, Ineighbor_allgather_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype,
    MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ineighbor_allgatherv, (const void *, int, MPI_Datatype, void *, const int *, const int *,
    MPI_Datatype, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ineighbor_allgatherv_c, (const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count *, const
    MPI_Aint *, MPI_Datatype, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ineighbor_alltoall, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
    MPI_Request *))
MPI_FUNCTION(int, Ineighbor_alltoall_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype,
    MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ineighbor_alltoallv, (const void *, const int *, const int *, MPI_Datatype, void *, const int *,
    const int *, MPI_Datatype, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ineighbor_alltoallv_c, (const void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, void *,
    const MPI_Count *, const MPI_Aint *, MPI_Datatype, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ineighbor_alltoallw, (const void *, const int *, const MPI_Aint *, const MPI_Datatype *, void *,
    const int *, const MPI_Aint *, const MPI_Datatype *, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ineighbor_alltoallw_c, (const void *, const MPI_Count *, const MPI_Aint *, const MPI_Datatype *,
    void *, const MPI_Count *, const MPI_Aint *, const MPI_Datatype *, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Info_create, (MPI_Info *))
MPI_FUNCTION(int, Info_create_env, (int, char **, MPI_Info *))
MPI_FUNCTION(int, Info_delete, (MPI_Info, const char *))
MPI_FUNCTION(int, Info_dup, (MPI_Info, MPI_Info *))
MPI_FUNCTION(int, Info_free, (MPI_Info *))
MPI_FUNCTION(MPI_Info, Info_fromint, (int))
MPI_FUNCTION(int, Info_get, (MPI_Info, const char *, int, char *, int *))
MPI_FUNCTION(int, Info_get_nkeys, (MPI_Info, int *))
MPI_FUNCTION(int, Info_get_nthkey, (MPI_Info, int, char *))
MPI_FUNCTION(int, Info_get_string, (MPI_Info, const char *, int *, char *, int *))
MPI_FUNCTION(int, Info_get_valuelen, (MPI_Info, const char *, int *, int *))
MPI_FUNCTION(int, Info_set, (MPI_Info, const char *, const char *))
MPI_FUNCTION(int, Info_toint, (MPI_Info))
MPI_FUNCTION(int, Init, (int *, char ***))
MPI_FUNCTION(int, Init_thread, (int *, char ***, int, int *))
MPI_FUNCTION(int, Initialized, (int *))
MPI_FUNCTION(int, Intercomm_create, (MPI_Comm, int, MPI_Comm, int, int, MPI_Comm *))
MPI_FUNCTION(int, Intercomm_create_from_groups, (MPI_Group, int, MPI_Group, int, const char *, MPI_Info,
    MPI_Errhandler, MPI_Comm *))
MPI_FUNCTION(int, Intercomm_merge, (MPI_Comm, int, MPI_Comm *))
MPI_FUNCTION(int, Iprobe, (int, int, MPI_Comm, int *, MPI_Status *))
MPI_FUNCTION(int, Irecv, (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Irecv_c, (void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ireduce, (const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ireduce_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ireduce_scatter, (const void *, void *, const int *, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ireduce_scatter_block, (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ireduce_scatter_block_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm,
    MPI_Request *))
MPI_FUNCTION(int, Ireduce_scatter_c, (const void *, void *, const MPI_Count *, MPI_Datatype, MPI_Op, MPI_Comm,
    MPI_Request *))
MPI_FUNCTION(int, Irsend, (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Irsend_c, (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Is_thread_main, (int *))
MPI_FUNCTION(int, Iscan, (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Iscan_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Iscatter, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request
    *))
MPI_FUNCTION(int, Iscatter_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, int, MPI_Comm,
    MPI_Request *))
MPI_FUNCTION(int, Iscatterv, (const void *, const int *, const int *, MPI_Datatype, void *, int, MPI_Datatype, int,
    MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Iscatterv_c, (const void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, void *, MPI_Count,
    MPI_Datatype, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Isend, (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Isend_c, (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Isendrecv, (const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int,
    MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Isendrecv_c, (const void *, MPI_Count, MPI_Datatype, int, int, void *, MPI_Count, MPI_Datatype, int,
    int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Isendrecv_replace, (void *, int, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Isendrecv_replace_c, (void *, MPI_Count, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Issend, (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Issend_c, (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Keyval_create, (MPI_Copy_function *, MPI_Delete_function *, int *, void *))
MPI_FUNCTION(int, Keyval_free, (int *))
MPI_FUNCTION(int, Lookup_name, (const char *, MPI_Info, char *))
MPI_FUNCTION(MPI_Message, Message_fromint, (int))
MPI_FUNCTION(int, Message_toint, (MPI_Message))
MPI_FUNCTION(int, Mprobe, (int, int, MPI_Comm, MPI_Message *, MPI_Status *))
MPI_FUNCTION(int, Mrecv, (void *, int, MPI_Datatype, MPI_Message *, MPI_Status *))
MPI_FUNCTION(int, Mrecv_c, (void *, MPI_Count, MPI_Datatype, MPI_Message *, MPI_Status *))
MPI_FUNCTION(int, Neighbor_allgather, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Neighbor_allgather_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype,
    MPI_Comm))
MPI_FUNCTION(int, Neighbor_allgather_init, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
    MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Neighbor_allgather_init_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype,
    MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Neighbor_allgatherv, (const void *, int, MPI_Datatype, void *, const int *, const int *,
    MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Neighbor_allgatherv_c, (const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count *, const
    MPI_Aint *, MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Neighbor_allgatherv_init, (const void *, int, MPI_Datatype, void *, const int *, const int *,
    MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Neighbor_allgatherv_init_c, (const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count *, const
    MPI_Aint *, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Neighbor_alltoall, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Neighbor_alltoall_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype,
    MPI_Comm))
MPI_FUNCTION(int, Neighbor_alltoall_init, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
    MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Neighbor_alltoall_init_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype,
    MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Neighbor_alltoallv, (const void *, const int *, const int *, MPI_Datatype, void *, const int *,
    const int *, MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Neighbor_alltoallv_c, (const void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, void *,
    const MPI_Count *, const MPI_Aint *, MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Neighbor_alltoallv_init, (const void *, const int *, const int *, MPI_Datatype, void *, const int *,
    const int *, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Neighbor_alltoallv_init_c, (const void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, void *,
    const MPI_Count *, const MPI_Aint *, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Neighbor_alltoallw, (const void *, const int *, const MPI_Aint *, const MPI_Datatype *, void *,
    const int *, const MPI_Aint *, const MPI_Datatype *, MPI_Comm))
MPI_FUNCTION(int, Neighbor_alltoallw_c, (const void *, const MPI_Count *, const MPI_Aint *, const MPI_Datatype *, void
    *, const MPI_Count *, const MPI_Aint *, const MPI_Datatype *, MPI_Comm))
MPI_FUNCTION(int, Neighbor_alltoallw_init, (const void *, const int *, const MPI_Aint *, const MPI_Datatype *, void *,
    const int *, const MPI_Aint *, const MPI_Datatype *, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Neighbor_alltoallw_init_c, (const void *, const MPI_Count *, const MPI_Aint *, const MPI_Datatype *,
    void *, const MPI_Count *, const MPI_Aint *, const MPI_Datatype *, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Op_commutative, (MPI_Op, int *))
MPI_FUNCTION(int, Op_create, (MPI_User_function *, int, MPI_Op *))
MPI_FUNCTION(int, Op_create_c, (MPI_User_function_c *, int, MPI_Op *))
MPI_FUNCTION(int, Op_free, (MPI_Op *))
MPI_FUNCTION(MPI_Op, Op_fromint, (int))
MPI_FUNCTION(int, Op_toint, (MPI_Op))
MPI_FUNCTION(int, Open_port, (MPI_Info, char *))
MPI_FUNCTION(int, Pack, (const void *, int, MPI_Datatype, void *, int, int *, MPI_Comm))
MPI_FUNCTION(int, Pack_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Count *, MPI_Comm))
MPI_FUNCTION(int, Pack_external, (const char *, const void *, int, MPI_Datatype, void *, MPI_Aint, MPI_Aint *))
MPI_FUNCTION(int, Pack_external_c, (const char *, const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Count
    *))
MPI_FUNCTION(int, Pack_external_size, (const char *, int, MPI_Datatype, MPI_Aint *))
MPI_FUNCTION(int, Pack_external_size_c, (const char *, MPI_Count, MPI_Datatype, MPI_Count *))
MPI_FUNCTION(int, Pack_size, (int, MPI_Datatype, MPI_Comm, int *))
MPI_FUNCTION(int, Pack_size_c, (MPI_Count, MPI_Datatype, MPI_Comm, MPI_Count *))
MPI_FUNCTION(int, Parrived, (MPI_Request, int, int *))
MPI_FUNCTION(int, Pcontrol, (const int, ...))
MPI_FUNCTION(int, Pready, (int, MPI_Request))
MPI_FUNCTION(int, Pready_list, (int, const int *, MPI_Request))
MPI_FUNCTION(int, Pready_range, (int, int, MPI_Request))
MPI_FUNCTION(int, Precv_init, (void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Precv_init_c, (void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Probe, (int, int, MPI_Comm, MPI_Status *))
MPI_FUNCTION(int, Psend_init, (const void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Psend_init_c, (const void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request
    *))
MPI_FUNCTION(int, Publish_name, (const char *, MPI_Info, const char *))
MPI_FUNCTION(int, Put, (const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win))
MPI_FUNCTION(int, Put_c, (const void *, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype, MPI_Win))
MPI_FUNCTION(int, Query_thread, (int *))
MPI_FUNCTION(int, Raccumulate, (const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Op, MPI_Win,
    MPI_Request *))
MPI_FUNCTION(int, Raccumulate_c, (const void *, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype,
    MPI_Op, MPI_Win, MPI_Request *))
MPI_FUNCTION(int, Recv, (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *))
MPI_FUNCTION(int, Recv_c, (void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Status *))
MPI_FUNCTION(int, Recv_init, (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Recv_init_c, (void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Reduce, (const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm))
MPI_FUNCTION(int, Reduce_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm))
MPI_FUNCTION(int, Reduce_init, (const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Info, MPI_Request
    *))
MPI_FUNCTION(int, Reduce_init_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Info,
    MPI_Request *))
MPI_FUNCTION(int, Reduce_local, (const void *, void *, int, MPI_Datatype, MPI_Op))
MPI_FUNCTION(int, Reduce_local_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op))
MPI_FUNCTION(int, Reduce_scatter, (const void *, void *, const int *, MPI_Datatype, MPI_Op, MPI_Comm))
MPI_FUNCTION(int, Reduce_scatter_block, (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm))
MPI_FUNCTION(int, Reduce_scatter_block_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm))
MPI_FUNCTION(int, Reduce_scatter_block_init, (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
    MPI_Request *))
MPI_FUNCTION(int, Reduce_scatter_block_init_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm,
    MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Reduce_scatter_c, (const void *, void *, const MPI_Count *, MPI_Datatype, MPI_Op, MPI_Comm))
MPI_FUNCTION(int, Reduce_scatter_init, (const void *, void *, const int *, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
    MPI_Request *))
MPI_FUNCTION(int, Reduce_scatter_init_c, (const void *, void *, const MPI_Count *, MPI_Datatype, MPI_Op, MPI_Comm,
    MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Register_datarep, (const char *, MPI_Datarep_conversion_function *, MPI_Datarep_conversion_function
    *, MPI_Datarep_extent_function *, void *))
MPI_FUNCTION(int, Register_datarep_c, (const char *, MPI_Datarep_conversion_function_c *,
    MPI_Datarep_conversion_function_c *, MPI_Datarep_extent_function *, void *))
MPI_FUNCTION(int, Remove_error_class, (int))
MPI_FUNCTION(int, Remove_error_code, (int))
MPI_FUNCTION(int, Remove_error_string, (int))
MPI_FUNCTION(int, Request_free, (MPI_Request *))
MPI_FUNCTION(MPI_Request, Request_fromint, (int))
MPI_FUNCTION(int, Request_get_status, (MPI_Request, int *, MPI_Status *))
MPI_FUNCTION(int, Request_get_status_all, (int, const MPI_Request *, int *, MPI_Status *))
MPI_FUNCTION(int, Request_get_status_any, (int, const MPI_Request *, int *, int *, MPI_Status *))
MPI_FUNCTION(int, Request_get_status_some, (int, const MPI_Request *, int *, int *, MPI_Status *))
MPI_FUNCTION(int, Request_toint, (MPI_Request))
MPI_FUNCTION(int, Rget, (void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win, MPI_Request *))
MPI_FUNCTION(int, Rget_accumulate, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Aint, int,
    MPI_Datatype, MPI_Op, MPI_Win, MPI_Request *))
MPI_FUNCTION(int, Rget_accumulate_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, int,
    MPI_Aint, MPI_Count, MPI_Datatype, MPI_Op, MPI_Win, MPI_Request *))
MPI_FUNCTION(int, Rget_c, (void *, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype, MPI_Win,
    MPI_Request *))
MPI_FUNCTION(int, Rput, (const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win, MPI_Request *))
MPI_FUNCTION(int, Rput_c, (const void *, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype, MPI_Win,
    MPI_Request *))
MPI_FUNCTION(int, Rsend, (const void *, int, MPI_Datatype, int, int, MPI_Comm))
MPI_FUNCTION(int, Rsend_c, (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm))
MPI_FUNCTION(int, Rsend_init, (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Rsend_init_c, (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Scan, (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm))
MPI_FUNCTION(int, Scan_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm))
MPI_FUNCTION(int, Scan_init, (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Scan_init_c, (const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request
    *))
MPI_FUNCTION(int, Scatter, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm))
MPI_FUNCTION(int, Scatter_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, int, MPI_Comm))
MPI_FUNCTION(int, Scatter_init, (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm, MPI_Info,
    MPI_Request *))
MPI_FUNCTION(int, Scatter_init_c, (const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, int,
    MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Scatterv, (const void *, const int *, const int *, MPI_Datatype, void *, int, MPI_Datatype, int,
    MPI_Comm))
MPI_FUNCTION(int, Scatterv_c, (const void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, void *, MPI_Count,
    MPI_Datatype, int, MPI_Comm))
MPI_FUNCTION(int, Scatterv_init, (const void *, const int *, const int *, MPI_Datatype, void *, int, MPI_Datatype,
    int, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Scatterv_init_c, (const void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, void *,
    MPI_Count, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *))
MPI_FUNCTION(int, Send, (const void *, int, MPI_Datatype, int, int, MPI_Comm))
MPI_FUNCTION(int, Send_c, (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm))
MPI_FUNCTION(int, Send_init, (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Send_init_c, (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Sendrecv, (const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm,
    MPI_Status *))
MPI_FUNCTION(int, Sendrecv_c, (const void *, MPI_Count, MPI_Datatype, int, int, void *, MPI_Count, MPI_Datatype, int,
    int, MPI_Comm, MPI_Status *))
MPI_FUNCTION(int, Sendrecv_replace, (void *, int, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Status *))
MPI_FUNCTION(int, Sendrecv_replace_c, (void *, MPI_Count, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Status *))
MPI_FUNCTION(int, Session_attach_buffer, (MPI_Session, void *, int))
MPI_FUNCTION(int, Session_attach_buffer_c, (MPI_Session, void *, MPI_Count))
MPI_FUNCTION(int, Session_call_errhandler, (MPI_Session, int))
MPI_FUNCTION(int, Session_create_errhandler, (MPI_Session_errhandler_function *, MPI_Errhandler *))
MPI_FUNCTION(int, Session_detach_buffer, (MPI_Session, void *, int *))
MPI_FUNCTION(int, Session_detach_buffer_c, (MPI_Session, void *, MPI_Count *))
MPI_FUNCTION(int, Session_finalize, (MPI_Session *))
MPI_FUNCTION(int, Session_flush_buffer, (MPI_Session))
MPI_FUNCTION(MPI_Session, Session_fromint, (int))
MPI_FUNCTION(int, Session_get_errhandler, (MPI_Session, MPI_Errhandler *))
MPI_FUNCTION(int, Session_get_info, (MPI_Session, MPI_Info *))
MPI_FUNCTION(int, Session_get_nth_pset, (MPI_Session, MPI_Info, int, int *, char *))
MPI_FUNCTION(int, Session_get_num_psets, (MPI_Session, MPI_Info, int *))
MPI_FUNCTION(int, Session_get_pset_info, (MPI_Session, const char *, MPI_Info *))
MPI_FUNCTION(int, Session_iflush_buffer, (MPI_Session, MPI_Request *))
MPI_FUNCTION(int, Session_init, (MPI_Info, MPI_Errhandler, MPI_Session *))
MPI_FUNCTION(int, Session_set_errhandler, (MPI_Session, MPI_Errhandler))
MPI_FUNCTION(int, Session_toint, (MPI_Session))
MPI_FUNCTION(int, Ssend, (const void *, int, MPI_Datatype, int, int, MPI_Comm))
MPI_FUNCTION(int, Ssend_c, (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm))
MPI_FUNCTION(int, Ssend_init, (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Ssend_init_c, (const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
MPI_FUNCTION(int, Start, (MPI_Request *))
MPI_FUNCTION(int, Startall, (int, MPI_Request *))
MPI_FUNCTION(int, Status_get_error, (const MPI_Status *, int *))
MPI_FUNCTION(int, Status_get_source, (const MPI_Status *, int *))
MPI_FUNCTION(int, Status_get_tag, (const MPI_Status *, int *))
MPI_FUNCTION(int, Status_set_cancelled, (MPI_Status *, int))
MPI_FUNCTION(int, Status_set_elements, (MPI_Status *, MPI_Datatype, int))
MPI_FUNCTION(int, Status_set_elements_c, (MPI_Status *, MPI_Datatype, MPI_Count))
MPI_FUNCTION(int, Status_set_elements_x, (MPI_Status *, MPI_Datatype, MPI_Count))
MPI_FUNCTION(int, Status_set_error, (MPI_Status *, int))
MPI_FUNCTION(int, Status_set_source, (MPI_Status *, int))
MPI_FUNCTION(int, Status_set_tag, (MPI_Status *, int))
MPI_FUNCTION(int, T_category_changed, (int *))
MPI_FUNCTION(int, T_category_get_categories, (int, int, int *))
MPI_FUNCTION(int, T_category_get_cvars, (int, int, int *))
MPI_FUNCTION(int, T_category_get_events, (int, int, int *))
MPI_FUNCTION(int, T_category_get_index, (const char *, int *))
MPI_FUNCTION(int, T_category_get_info, (int, char *, int *, char *, int *, int *, int *, int *))
MPI_FUNCTION(int, T_category_get_num, (int *))
MPI_FUNCTION(int, T_category_get_num_events, (int, int *))
MPI_FUNCTION(int, T_category_get_pvars, (int, int, int *))
MPI_FUNCTION(int, T_cvar_get_index, (const char *, int *))
MPI_FUNCTION(int, T_cvar_get_info, (int, char *, int *, int *, MPI_Datatype *, MPI_T_enum *, char *, int *, int *, int
    *))
MPI_FUNCTION(int, T_cvar_get_num, (int *))
MPI_FUNCTION(int, T_cvar_handle_alloc, (int, void *, MPI_T_cvar_handle *, int *))
MPI_FUNCTION(int, T_cvar_handle_free, (MPI_T_cvar_handle *))
MPI_FUNCTION(int, T_cvar_read, (MPI_T_cvar_handle, void *))
MPI_FUNCTION(int, T_cvar_write, (MPI_T_cvar_handle, const void *))
MPI_FUNCTION(int, T_enum_get_info, (MPI_T_enum, int *, char *, int *))
MPI_FUNCTION(int, T_enum_get_item, (MPI_T_enum, int, int *, char *, int *))
MPI_FUNCTION(int, T_event_callback_get_info, (MPI_T_event_registration, MPI_T_cb_safety, MPI_Info *))
MPI_FUNCTION(int, T_event_callback_set_info, (MPI_T_event_registration, MPI_T_cb_safety, MPI_Info))
MPI_FUNCTION(int, T_event_copy, (MPI_T_event_instance, void *))
MPI_FUNCTION(int, T_event_get_index, (const char *, int *))
MPI_FUNCTION(int, T_event_get_info, (int, char *, int *, int *, MPI_Datatype *, MPI_Aint *, int *, MPI_T_enum *,
    MPI_Info *, char *, int *, int *))
MPI_FUNCTION(int, T_event_get_num, (int *))
MPI_FUNCTION(int, T_event_get_source, (MPI_T_event_instance, int *))
MPI_FUNCTION(int, T_event_get_timestamp, (MPI_T_event_instance, MPI_Count *))
MPI_FUNCTION(int, T_event_handle_alloc, (int, void *, MPI_Info, MPI_T_event_registration *))
MPI_FUNCTION(int, T_event_handle_free, (MPI_T_event_registration, void *, MPI_T_event_free_cb_function))
MPI_FUNCTION(int, T_event_handle_get_info, (MPI_T_event_registration, MPI_Info *))
MPI_FUNCTION(int, T_event_handle_set_info, (MPI_T_event_registration, MPI_Info))
MPI_FUNCTION(int, T_event_read, (MPI_T_event_instance, int, void *))
MPI_FUNCTION(int, T_event_register_callback, (MPI_T_event_registration, MPI_T_cb_safety, MPI_Info, void *,
    MPI_T_event_cb_function))
MPI_FUNCTION(int, T_event_set_dropped_handler, (MPI_T_event_registration, MPI_T_event_dropped_cb_function))
MPI_FUNCTION(int, T_finalize, (void))
MPI_FUNCTION(int, T_init_thread, (int, int *))
MPI_FUNCTION(int, T_pvar_get_index, (const char *, int, int *))
MPI_FUNCTION(int, T_pvar_get_info, (int, char *, int *, int *, int *, MPI_Datatype *, MPI_T_enum *, char *, int *, int
    *, int *, int *, int *))
MPI_FUNCTION(int, T_pvar_get_num, (int *))
MPI_FUNCTION(int, T_pvar_handle_alloc, (MPI_T_pvar_session, int, void *, MPI_T_pvar_handle *, int *))
MPI_FUNCTION(int, T_pvar_handle_free, (MPI_T_pvar_session, MPI_T_pvar_handle *))
MPI_FUNCTION(int, T_pvar_read, (MPI_T_pvar_session, MPI_T_pvar_handle, void *))
MPI_FUNCTION(int, T_pvar_readreset, (MPI_T_pvar_session, MPI_T_pvar_handle, void *))
MPI_FUNCTION(int, T_pvar_reset, (MPI_T_pvar_session, MPI_T_pvar_handle))
MPI_FUNCTION(int, T_pvar_session_create, (MPI_T_pvar_session *))
MPI_FUNCTION(int, T_pvar_session_free, (MPI_T_pvar_session *))
MPI_FUNCTION(int, T_pvar_start, (MPI_T_pvar_session, MPI_T_pvar_handle))
MPI_FUNCTION(int, T_pvar_stop, (MPI_T_pvar_session, MPI_T_pvar_handle))
MPI_FUNCTION(int, T_pvar_write, (MPI_T_pvar_session, MPI_T_pvar_handle, const void *))
MPI_FUNCTION(int, T_source_get_info, (int, char *, int *, char *, int *, MPI_T_source_order *, MPI_Count *, MPI_Count
    *, MPI_Info *))
MPI_FUNCTION(int, T_source_get_num, (int *))
MPI_FUNCTION(int, T_source_get_timestamp, (int, MPI_Count *))
MPI_FUNCTION(int, Test, (MPI_Request *, int *, MPI_Status *))
MPI_FUNCTION(int, Test_cancelled, (const MPI_Status *, int *))
MPI_FUNCTION(int, Testall, (int, MPI_Request *, int *, MPI_Status *))
MPI_FUNCTION(int, Testany, (int, MPI_Request *, int *, int *, MPI_Status *))
MPI_FUNCTION(int, Testsome, (int, MPI_Request *, int *, int *, MPI_Status *))
MPI_FUNCTION(int, Topo_test, (MPI_Comm, int *))
MPI_FUNCTION(int, Type_commit, (MPI_Datatype *))
MPI_FUNCTION(int, Type_contiguous, (int, MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_contiguous_c, (MPI_Count, MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_darray, (int, int, int, const int *, const int *, const int *, const int *, int,
    MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_darray_c, (int, int, int, const MPI_Count *, const int *, const int *, const int *, int,
    MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_f90_complex, (int, int, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_f90_integer, (int, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_f90_real, (int, int, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_hindexed, (int, const int *, const MPI_Aint *, MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_hindexed_block, (int, int, const MPI_Aint *, MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_hindexed_block_c, (MPI_Count, MPI_Count, const MPI_Count *, MPI_Datatype, MPI_Datatype
    *))
MPI_FUNCTION(int, Type_create_hindexed_c, (MPI_Count, const MPI_Count *, const MPI_Count *, MPI_Datatype, MPI_Datatype
    *))
MPI_FUNCTION(int, Type_create_hvector, (int, int, MPI_Aint, MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_hvector_c, (MPI_Count, MPI_Count, MPI_Count, MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_indexed_block, (int, int, const int *, MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_indexed_block_c, (MPI_Count, MPI_Count, const MPI_Count *, MPI_Datatype, MPI_Datatype
    *))
MPI_FUNCTION(int, Type_create_keyval, (MPI_Type_copy_attr_function *, MPI_Type_delete_attr_function *, int *, void *))
MPI_FUNCTION(int, Type_create_resized, (MPI_Datatype, MPI_Aint, MPI_Aint, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_resized_c, (MPI_Datatype, MPI_Count, MPI_Count, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_struct, (int, const int *, const MPI_Aint *, const MPI_Datatype *, MPI_Datatype *))
MPI_FUNCTION(int, Type_create_struct_c, (MPI_Count, const MPI_Count *, const MPI_Count *, const MPI_Datatype *,
    MPI_Datatype *))
MPI_FUNCTION(int, Type_create_subarray, (int, const int *, const int *, const int *, int, MPI_Datatype, MPI_Datatype
    *))
MPI_FUNCTION(int, Type_create_subarray_c, (int, const MPI_Count *, const MPI_Count *, const MPI_Count *, int,
    MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_delete_attr, (MPI_Datatype, int))
MPI_FUNCTION(int, Type_dup, (MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_free, (MPI_Datatype *))
MPI_FUNCTION(int, Type_free_keyval, (int *))
MPI_FUNCTION(MPI_Datatype, Type_fromint, (int))
MPI_FUNCTION(int, Type_get_attr, (MPI_Datatype, int, void *, int *))
MPI_FUNCTION(int, Type_get_contents, (MPI_Datatype, int, int, int, int *, MPI_Aint *, MPI_Datatype *))
MPI_FUNCTION(int, Type_get_contents_c, (MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int *, MPI_Aint *,
    MPI_Count *, MPI_Datatype *))
MPI_FUNCTION(int, Type_get_envelope, (MPI_Datatype, int *, int *, int *, int *))
MPI_FUNCTION(int, Type_get_envelope_c, (MPI_Datatype, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *, int *))
MPI_FUNCTION(int, Type_get_extent, (MPI_Datatype, MPI_Aint *, MPI_Aint *))
MPI_FUNCTION(int, Type_get_extent_c, (MPI_Datatype, MPI_Count *, MPI_Count *))
MPI_FUNCTION(int, Type_get_extent_x, (MPI_Datatype, MPI_Count *, MPI_Count *))
MPI_FUNCTION(int, Type_get_name, (MPI_Datatype, char *, int *))
MPI_FUNCTION(int, Type_get_true_extent, (MPI_Datatype, MPI_Aint *, MPI_Aint *))
MPI_FUNCTION(int, Type_get_true_extent_c, (MPI_Datatype, MPI_Count *, MPI_Count *))
MPI_FUNCTION(int, Type_get_true_extent_x, (MPI_Datatype, MPI_Count *, MPI_Count *))
MPI_FUNCTION(int, Type_get_value_index, (MPI_Datatype, MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_indexed, (int, const int *, const int *, MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_indexed_c, (MPI_Count, const MPI_Count *, const MPI_Count *, MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_match_size, (int, int, MPI_Datatype *))
MPI_FUNCTION(int, Type_set_attr, (MPI_Datatype, int, void *))
MPI_FUNCTION(int, Type_set_name, (MPI_Datatype, const char *))
MPI_FUNCTION(int, Type_size, (MPI_Datatype, int *))
MPI_FUNCTION(int, Type_size_c, (MPI_Datatype, MPI_Count *))
MPI_FUNCTION(int, Type_size_x, (MPI_Datatype, MPI_Count *))
MPI_FUNCTION(int, Type_toint, (MPI_Datatype))
MPI_FUNCTION(int, Type_vector, (int, int, int, MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Type_vector_c, (MPI_Count, MPI_Count, MPI_Count, MPI_Datatype, MPI_Datatype *))
MPI_FUNCTION(int, Unpack, (const void *, int, int *, void *, int, MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Unpack_c, (const void *, MPI_Count, MPI_Count *, void *, MPI_Count, MPI_Datatype, MPI_Comm))
MPI_FUNCTION(int, Unpack_external, (const char *, const void *, MPI_Aint, MPI_Aint *, void *, int, MPI_Datatype))
MPI_FUNCTION(int, Unpack_external_c, (const char *, const void *, MPI_Count, MPI_Count *, void *, MPI_Count,
    MPI_Datatype))
MPI_FUNCTION(int, Unpublish_name, (const char *, MPI_Info, const char *))
MPI_FUNCTION(int, Wait, (MPI_Request *, MPI_Status *))
MPI_FUNCTION(int, Waitall, (int, MPI_Request *, MPI_Status *))
MPI_FUNCTION(int, Waitany, (int, MPI_Request *, int *, MPI_Status *))
MPI_FUNCTION(int, Waitsome, (int, MPI_Request *, int *, int *, MPI_Status *))
MPI_FUNCTION(int, Win_allocate, (MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *))
MPI_FUNCTION(int, Win_allocate_c, (MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, void *, MPI_Win *))
MPI_FUNCTION(int, Win_allocate_shared, (MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *))
MPI_FUNCTION(int, Win_allocate_shared_c, (MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, void *, MPI_Win *))
MPI_FUNCTION(int, Win_attach, (MPI_Win, void *, MPI_Aint))
MPI_FUNCTION(int, Win_call_errhandler, (MPI_Win, int))
MPI_FUNCTION(int, Win_complete, (MPI_Win))
MPI_FUNCTION(int, Win_create, (void *, MPI_Aint, int, MPI_Info, MPI_Comm, MPI_Win *))
MPI_FUNCTION(int, Win_create_c, (void *, MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, MPI_Win *))
MPI_FUNCTION(int, Win_create_dynamic, (MPI_Info, MPI_Comm, MPI_Win *))
MPI_FUNCTION(int, Win_create_errhandler, (MPI_Win_errhandler_function *, MPI_Errhandler *))
MPI_FUNCTION(int, Win_create_keyval, (MPI_Win_copy_attr_function *, MPI_Win_delete_attr_function *, int *, void *))
MPI_FUNCTION(int, Win_delete_attr, (MPI_Win, int))
MPI_FUNCTION(int, Win_detach, (MPI_Win, const void *))
MPI_FUNCTION(int, Win_fence, (int, MPI_Win))
MPI_FUNCTION(int, Win_flush, (int, MPI_Win))
MPI_FUNCTION(int, Win_flush_all, (MPI_Win))
MPI_FUNCTION(int, Win_flush_local, (int, MPI_Win))
MPI_FUNCTION(int, Win_flush_local_all, (MPI_Win))
MPI_FUNCTION(int, Win_free, (MPI_Win *))
MPI_FUNCTION(int, Win_free_keyval, (int *))
MPI_FUNCTION(MPI_Win, Win_fromint, (int))
MPI_FUNCTION(int, Win_get_attr, (MPI_Win, int, void *, int *))
MPI_FUNCTION(int, Win_get_errhandler, (MPI_Win, MPI_Errhandler *))
MPI_FUNCTION(int, Win_get_group, (MPI_Win, MPI_Group *))
MPI_FUNCTION(int, Win_get_info, (MPI_Win, MPI_Info *))
MPI_FUNCTION(int, Win_get_name, (MPI_Win, char *, int *))
MPI_FUNCTION(int, Win_lock, (int, int, int, MPI_Win))
MPI_FUNCTION(int, Win_lock_all, (int, MPI_Win))
MPI_FUNCTION(int, Win_post, (MPI_Group, int, MPI_Win))
MPI_FUNCTION(int, Win_set_attr, (MPI_Win, int, void *))
MPI_FUNCTION(int, Win_set_errhandler, (MPI_Win, MPI_Errhandler))
MPI_FUNCTION(int, Win_set_info, (MPI_Win, MPI_Info))
MPI_FUNCTION(int, Win_set_name, (MPI_Win, const char *))
MPI_FUNCTION(int, Win_shared_query, (MPI_Win, int, MPI_Aint *, int *, void *))
MPI_FUNCTION(int, Win_shared_query_c, (MPI_Win, int, MPI_Aint *, MPI_Aint *, void *))
MPI_FUNCTION(int, Win_start, (MPI_Group, int, MPI_Win))
MPI_FUNCTION(int, Win_sync, (MPI_Win))
MPI_FUNCTION(int, Win_test, (MPI_Win, int *))
MPI_FUNCTION(int, Win_toint, (MPI_Win))
MPI_FUNCTION(int, Win_unlock, (int, MPI_Win))
MPI_FUNCTION(int, Win_unlock_all, (MPI_Win))
MPI_FUNCTION(int, Win_wait, (MPI_Win))
MPI_FUNCTION(double, Wtick, (void))
MPI_FUNCTION(double, Wtime, (void))

#undef MPI_FUNCTION

#ifdef __cplusplus
}
#endif

#endif
