! MPI for Fortran: constants of the binary interface of MPICH, since
! the standard has none for Fortran. For fixed and for free form.
      integer MPI_SOURCE
      parameter (MPI_SOURCE = 3)
      integer MPI_TAG
      parameter (MPI_TAG = 4)
      integer MPI_ERROR
      parameter (MPI_ERROR = 5)
      integer MPI_STATUS_SIZE
      parameter (MPI_STATUS_SIZE = 5)
      integer MPI_2DOUBLE_PRECISION
      parameter (MPI_2DOUBLE_PRECISION = 1275072547)
      integer MPI_2INT
      parameter (MPI_2INT = 1275070486)
      integer MPI_2INTEGER
      parameter (MPI_2INTEGER = 1275070496)
      integer MPI_2REAL
      parameter (MPI_2REAL = 1275070497)
      integer MPI_ADDRESS_KIND
      parameter (MPI_ADDRESS_KIND = 8)
      integer MPI_AINT
      parameter (MPI_AINT = 1275070531)
      integer MPI_ANY_SOURCE
      parameter (MPI_ANY_SOURCE = -2)
      integer MPI_ANY_TAG
      parameter (MPI_ANY_TAG = -1)
      integer MPI_APPNUM
      parameter (MPI_APPNUM = 1681915918)
      integer MPI_BAND
      parameter (MPI_BAND = 1476395014)
      integer MPI_BOR
      parameter (MPI_BOR = 1476395016)
      integer MPI_BSEND_OVERHEAD
      parameter (MPI_BSEND_OVERHEAD = 96)
      integer MPI_BXOR
      parameter (MPI_BXOR = 1476395018)
      integer MPI_BYTE
      parameter (MPI_BYTE = 1275068685)
      integer MPI_CART
      parameter (MPI_CART = 2)
      integer MPI_CHAR
      parameter (MPI_CHAR = 1275068673)
      integer MPI_CHARACTER
      parameter (MPI_CHARACTER = 1275068698)
      integer MPI_COMBINER_CONTIGUOUS
      parameter (MPI_COMBINER_CONTIGUOUS = 3)
      integer MPI_COMBINER_DARRAY
      parameter (MPI_COMBINER_DARRAY = 14)
      integer MPI_COMBINER_DUP
      parameter (MPI_COMBINER_DUP = 2)
      integer MPI_COMBINER_F90_COMPLEX
      parameter (MPI_COMBINER_F90_COMPLEX = 16)
      integer MPI_COMBINER_F90_INTEGER
      parameter (MPI_COMBINER_F90_INTEGER = 17)
      integer MPI_COMBINER_F90_REAL
      parameter (MPI_COMBINER_F90_REAL = 15)
      integer MPI_COMBINER_HINDEXED
      parameter (MPI_COMBINER_HINDEXED = 9)
      integer MPI_COMBINER_HINDEXED_BLOCK
      parameter (MPI_COMBINER_HINDEXED_BLOCK = 19)
      integer MPI_COMBINER_HINDEXED_INTEGER
      parameter (MPI_COMBINER_HINDEXED_INTEGER = 8)
      integer MPI_COMBINER_HVECTOR
      parameter (MPI_COMBINER_HVECTOR = 6)
      integer MPI_COMBINER_HVECTOR_INTEGER
      parameter (MPI_COMBINER_HVECTOR_INTEGER = 5)
      integer MPI_COMBINER_INDEXED
      parameter (MPI_COMBINER_INDEXED = 7)
      integer MPI_COMBINER_INDEXED_BLOCK
      parameter (MPI_COMBINER_INDEXED_BLOCK = 10)
      integer MPI_COMBINER_NAMED
      parameter (MPI_COMBINER_NAMED = 1)
      integer MPI_COMBINER_RESIZED
      parameter (MPI_COMBINER_RESIZED = 18)
      integer MPI_COMBINER_STRUCT
      parameter (MPI_COMBINER_STRUCT = 12)
      integer MPI_COMBINER_STRUCT_INTEGER
      parameter (MPI_COMBINER_STRUCT_INTEGER = 11)
      integer MPI_COMBINER_SUBARRAY
      parameter (MPI_COMBINER_SUBARRAY = 13)
      integer MPI_COMBINER_VECTOR
      parameter (MPI_COMBINER_VECTOR = 4)
      integer MPI_COMM_NULL
      parameter (MPI_COMM_NULL = 67108864)
      integer MPI_COMM_SELF
      parameter (MPI_COMM_SELF = 1140850689)
      integer MPI_COMM_TYPE_SHARED
      parameter (MPI_COMM_TYPE_SHARED = 1)
      integer MPI_COMM_WORLD
      parameter (MPI_COMM_WORLD = 1140850688)
      integer MPI_COMPLEX
      parameter (MPI_COMPLEX = 1275070494)
      integer MPI_COMPLEX16
      parameter (MPI_COMPLEX16 = 1275072554)
      integer MPI_COMPLEX32
      parameter (MPI_COMPLEX32 = 1275076652)
      integer MPI_COMPLEX8
      parameter (MPI_COMPLEX8 = 1275070504)
      integer MPI_CONGRUENT
      parameter (MPI_CONGRUENT = 1)
      integer MPI_COUNT
      parameter (MPI_COUNT = 1275070533)
      integer MPI_COUNT_KIND
      parameter (MPI_COUNT_KIND = 8)
      integer MPI_CXX_BOOL
      parameter (MPI_CXX_BOOL = 1275068723)
      integer MPI_CXX_DOUBLE_COMPLEX
      parameter (MPI_CXX_DOUBLE_COMPLEX = 1275072565)
      integer MPI_CXX_FLOAT_COMPLEX
      parameter (MPI_CXX_FLOAT_COMPLEX = 1275070516)
      integer MPI_CXX_LONG_DOUBLE_COMPLEX
      parameter (MPI_CXX_LONG_DOUBLE_COMPLEX = 1275076662)
      integer MPI_C_BOOL
      parameter (MPI_C_BOOL = 1275068735)
      integer MPI_C_COMPLEX
      parameter (MPI_C_COMPLEX = 1275070528)
      integer MPI_C_DOUBLE_COMPLEX
      parameter (MPI_C_DOUBLE_COMPLEX = 1275072577)
      integer MPI_C_FLOAT_COMPLEX
      parameter (MPI_C_FLOAT_COMPLEX = 1275070528)
      integer MPI_C_LONG_DOUBLE_COMPLEX
      parameter (MPI_C_LONG_DOUBLE_COMPLEX = 1275076674)
      integer MPI_DATATYPE_NULL
      parameter (MPI_DATATYPE_NULL = 201326592)
      integer MPI_DISTRIBUTE_BLOCK
      parameter (MPI_DISTRIBUTE_BLOCK = 121)
      integer MPI_DISTRIBUTE_CYCLIC
      parameter (MPI_DISTRIBUTE_CYCLIC = 122)
      integer MPI_DISTRIBUTE_DFLT_DARG
      parameter (MPI_DISTRIBUTE_DFLT_DARG = -49767)
      integer MPI_DISTRIBUTE_NONE
      parameter (MPI_DISTRIBUTE_NONE = 123)
      integer MPI_DIST_GRAPH
      parameter (MPI_DIST_GRAPH = 3)
      integer MPI_DOUBLE
      parameter (MPI_DOUBLE = 1275070475)
      integer MPI_DOUBLE_COMPLEX
      parameter (MPI_DOUBLE_COMPLEX = 1275072546)
      integer MPI_DOUBLE_INT
      parameter (MPI_DOUBLE_INT = -1946157055)
      integer MPI_DOUBLE_PRECISION
      parameter (MPI_DOUBLE_PRECISION = 1275070495)
      integer MPI_ERRHANDLER_NULL
      parameter (MPI_ERRHANDLER_NULL = 335544320)
      integer MPI_ERRORS_ARE_FATAL
      parameter (MPI_ERRORS_ARE_FATAL = 1409286144)
      integer MPI_ERRORS_RETURN
      parameter (MPI_ERRORS_RETURN = 1409286145)
      integer MPI_ERR_ACCESS
      parameter (MPI_ERR_ACCESS = 20)
      integer MPI_ERR_AMODE
      parameter (MPI_ERR_AMODE = 21)
      integer MPI_ERR_ARG
      parameter (MPI_ERR_ARG = 12)
      integer MPI_ERR_ASSERT
      parameter (MPI_ERR_ASSERT = 53)
      integer MPI_ERR_BAD_FILE
      parameter (MPI_ERR_BAD_FILE = 22)
      integer MPI_ERR_BASE
      parameter (MPI_ERR_BASE = 46)
      integer MPI_ERR_BUFFER
      parameter (MPI_ERR_BUFFER = 1)
      integer MPI_ERR_COMM
      parameter (MPI_ERR_COMM = 5)
      integer MPI_ERR_CONVERSION
      parameter (MPI_ERR_CONVERSION = 23)
      integer MPI_ERR_COUNT
      parameter (MPI_ERR_COUNT = 2)
      integer MPI_ERR_DIMS
      parameter (MPI_ERR_DIMS = 11)
      integer MPI_ERR_DISP
      parameter (MPI_ERR_DISP = 52)
      integer MPI_ERR_DUP_DATAREP
      parameter (MPI_ERR_DUP_DATAREP = 24)
      integer MPI_ERR_FILE
      parameter (MPI_ERR_FILE = 27)
      integer MPI_ERR_FILE_EXISTS
      parameter (MPI_ERR_FILE_EXISTS = 25)
      integer MPI_ERR_FILE_IN_USE
      parameter (MPI_ERR_FILE_IN_USE = 26)
      integer MPI_ERR_GROUP
      parameter (MPI_ERR_GROUP = 8)
      integer MPI_ERR_INFO
      parameter (MPI_ERR_INFO = 28)
      integer MPI_ERR_INFO_KEY
      parameter (MPI_ERR_INFO_KEY = 29)
      integer MPI_ERR_INFO_NOKEY
      parameter (MPI_ERR_INFO_NOKEY = 31)
      integer MPI_ERR_INFO_VALUE
      parameter (MPI_ERR_INFO_VALUE = 30)
      integer MPI_ERR_INTERN
      parameter (MPI_ERR_INTERN = 16)
      integer MPI_ERR_IN_STATUS
      parameter (MPI_ERR_IN_STATUS = 17)
      integer MPI_ERR_IO
      parameter (MPI_ERR_IO = 32)
      integer MPI_ERR_KEYVAL
      parameter (MPI_ERR_KEYVAL = 48)
      integer MPI_ERR_LASTCODE
      parameter (MPI_ERR_LASTCODE = 1073741823)
      integer MPI_ERR_LOCKTYPE
      parameter (MPI_ERR_LOCKTYPE = 47)
      integer MPI_ERR_NAME
      parameter (MPI_ERR_NAME = 33)
      integer MPI_ERR_NOT_SAME
      parameter (MPI_ERR_NOT_SAME = 35)
      integer MPI_ERR_NO_MEM
      parameter (MPI_ERR_NO_MEM = 34)
      integer MPI_ERR_NO_SPACE
      parameter (MPI_ERR_NO_SPACE = 36)
      integer MPI_ERR_NO_SUCH_FILE
      parameter (MPI_ERR_NO_SUCH_FILE = 37)
      integer MPI_ERR_OP
      parameter (MPI_ERR_OP = 9)
      integer MPI_ERR_OTHER
      parameter (MPI_ERR_OTHER = 15)
      integer MPI_ERR_PENDING
      parameter (MPI_ERR_PENDING = 18)
      integer MPI_ERR_PORT
      parameter (MPI_ERR_PORT = 38)
      integer MPI_ERR_PROC_ABORTED
      parameter (MPI_ERR_PROC_ABORTED = 76)
      integer MPI_ERR_QUOTA
      parameter (MPI_ERR_QUOTA = 39)
      integer MPI_ERR_RANK
      parameter (MPI_ERR_RANK = 6)
      integer MPI_ERR_READ_ONLY
      parameter (MPI_ERR_READ_ONLY = 40)
      integer MPI_ERR_REQUEST
      parameter (MPI_ERR_REQUEST = 19)
      integer MPI_ERR_RMA_ATTACH
      parameter (MPI_ERR_RMA_ATTACH = 56)
      integer MPI_ERR_RMA_CONFLICT
      parameter (MPI_ERR_RMA_CONFLICT = 49)
      integer MPI_ERR_RMA_FLAVOR
      parameter (MPI_ERR_RMA_FLAVOR = 58)
      integer MPI_ERR_RMA_RANGE
      parameter (MPI_ERR_RMA_RANGE = 55)
      integer MPI_ERR_RMA_SHARED
      parameter (MPI_ERR_RMA_SHARED = 57)
      integer MPI_ERR_RMA_SYNC
      parameter (MPI_ERR_RMA_SYNC = 50)
      integer MPI_ERR_ROOT
      parameter (MPI_ERR_ROOT = 7)
      integer MPI_ERR_SERVICE
      parameter (MPI_ERR_SERVICE = 41)
      integer MPI_ERR_SESSION
      parameter (MPI_ERR_SESSION = 75)
      integer MPI_ERR_SIZE
      parameter (MPI_ERR_SIZE = 51)
      integer MPI_ERR_SPAWN
      parameter (MPI_ERR_SPAWN = 42)
      integer MPI_ERR_TAG
      parameter (MPI_ERR_TAG = 4)
      integer MPI_ERR_TOPOLOGY
      parameter (MPI_ERR_TOPOLOGY = 10)
      integer MPI_ERR_TRUNCATE
      parameter (MPI_ERR_TRUNCATE = 14)
      integer MPI_ERR_TYPE
      parameter (MPI_ERR_TYPE = 3)
      integer MPI_ERR_UNKNOWN
      parameter (MPI_ERR_UNKNOWN = 13)
      integer MPI_ERR_UNSUPPORTED_DATAREP
      parameter (MPI_ERR_UNSUPPORTED_DATAREP = 43)
      integer MPI_ERR_UNSUPPORTED_OPERATION
      parameter (MPI_ERR_UNSUPPORTED_OPERATION = 44)
      integer MPI_ERR_VALUE_TOO_LARGE
      parameter (MPI_ERR_VALUE_TOO_LARGE = 77)
      integer MPI_ERR_WIN
      parameter (MPI_ERR_WIN = 45)
      integer MPI_FILE_NULL
      parameter (MPI_FILE_NULL = 0)
      integer MPI_FLOAT
      parameter (MPI_FLOAT = 1275069450)
      integer MPI_FLOAT_INT
      parameter (MPI_FLOAT_INT = -1946157056)
      integer MPI_GRAPH
      parameter (MPI_GRAPH = 1)
      integer MPI_GROUP_EMPTY
      parameter (MPI_GROUP_EMPTY = 1207959552)
      integer MPI_GROUP_NULL
      parameter (MPI_GROUP_NULL = 134217728)
      integer MPI_HOST
      parameter (MPI_HOST = 1681915908)
      integer MPI_IDENT
      parameter (MPI_IDENT = 0)
      integer MPI_INFO_ENV
      parameter (MPI_INFO_ENV = 1543503873)
      integer MPI_INFO_NULL
      parameter (MPI_INFO_NULL = 469762048)
      integer MPI_INT
      parameter (MPI_INT = 1275069445)
      integer MPI_INT16_T
      parameter (MPI_INT16_T = 1275068984)
      integer MPI_INT32_T
      parameter (MPI_INT32_T = 1275069497)
      integer MPI_INT64_T
      parameter (MPI_INT64_T = 1275070522)
      integer MPI_INT8_T
      parameter (MPI_INT8_T = 1275068727)
      integer MPI_INTEGER
      parameter (MPI_INTEGER = 1275069467)
      integer MPI_INTEGER1
      parameter (MPI_INTEGER1 = 1275068717)
      integer MPI_INTEGER16
      parameter (MPI_INTEGER16 = MPI_DATATYPE_NULL)
      integer MPI_INTEGER2
      parameter (MPI_INTEGER2 = 1275068975)
      integer MPI_INTEGER4
      parameter (MPI_INTEGER4 = 1275069488)
      integer MPI_INTEGER8
      parameter (MPI_INTEGER8 = 1275070513)
      integer MPI_INTEGER_KIND
      parameter (MPI_INTEGER_KIND = 4)
      integer MPI_IO
      parameter (MPI_IO = 1681915910)
      integer MPI_KEYVAL_INVALID
      parameter (MPI_KEYVAL_INVALID = 603979776)
      integer MPI_LAND
      parameter (MPI_LAND = 1476395013)
      integer MPI_LASTUSEDCODE
      parameter (MPI_LASTUSEDCODE = 1681915916)
      integer MPI_LB
      parameter (MPI_LB = 1275068432)
      integer MPI_LOCK_EXCLUSIVE
      parameter (MPI_LOCK_EXCLUSIVE = 234)
      integer MPI_LOCK_SHARED
      parameter (MPI_LOCK_SHARED = 235)
      integer MPI_LOGICAL
      parameter (MPI_LOGICAL = 1275069469)
      integer MPI_LONG
      parameter (MPI_LONG = 1275070471)
      integer MPI_LONG_DOUBLE
      parameter (MPI_LONG_DOUBLE = 1275072524)
      integer MPI_LONG_DOUBLE_INT
      parameter (MPI_LONG_DOUBLE_INT = -1946157052)
      integer MPI_LONG_INT
      parameter (MPI_LONG_INT = -1946157054)
      integer MPI_LONG_LONG
      parameter (MPI_LONG_LONG = 1275070473)
      integer MPI_LONG_LONG_INT
      parameter (MPI_LONG_LONG_INT = 1275070473)
      integer MPI_LOR
      parameter (MPI_LOR = 1476395015)
      integer MPI_LXOR
      parameter (MPI_LXOR = 1476395017)
      integer MPI_MAX
      parameter (MPI_MAX = 1476395009)
      integer MPI_MAXLOC
      parameter (MPI_MAXLOC = 1476395020)
      integer MPI_MAX_DATAREP_STRING
      parameter (MPI_MAX_DATAREP_STRING = 127)
      integer MPI_MAX_ERROR_STRING
      parameter (MPI_MAX_ERROR_STRING = 512-1)
      integer MPI_MAX_INFO_KEY
      parameter (MPI_MAX_INFO_KEY = 254)
      integer MPI_MAX_INFO_VAL
      parameter (MPI_MAX_INFO_VAL = 1023)
      integer MPI_MAX_LIBRARY_VERSION_STRING
      parameter (MPI_MAX_LIBRARY_VERSION_STRING = 8192-1)
      integer MPI_MAX_OBJECT_NAME
      parameter (MPI_MAX_OBJECT_NAME = 127)
      integer MPI_MAX_PORT_NAME
      parameter (MPI_MAX_PORT_NAME = 255)
      integer MPI_MAX_PROCESSOR_NAME
      parameter (MPI_MAX_PROCESSOR_NAME = 128-1)
      integer MPI_MESSAGE_NO_PROC
      parameter (MPI_MESSAGE_NO_PROC = 1811939328)
      integer MPI_MESSAGE_NULL
      parameter (MPI_MESSAGE_NULL = 738197504)
      integer MPI_MIN
      parameter (MPI_MIN = 1476395010)
      integer MPI_MINLOC
      parameter (MPI_MINLOC = 1476395019)
      integer MPI_MODE_APPEND
      parameter (MPI_MODE_APPEND = 128)
      integer MPI_MODE_CREATE
      parameter (MPI_MODE_CREATE = 1)
      integer MPI_MODE_DELETE_ON_CLOSE
      parameter (MPI_MODE_DELETE_ON_CLOSE = 16)
      integer MPI_MODE_EXCL
      parameter (MPI_MODE_EXCL = 64)
      integer MPI_MODE_NOCHECK
      parameter (MPI_MODE_NOCHECK = 1024)
      integer MPI_MODE_NOPRECEDE
      parameter (MPI_MODE_NOPRECEDE = 8192)
      integer MPI_MODE_NOPUT
      parameter (MPI_MODE_NOPUT = 4096)
      integer MPI_MODE_NOSTORE
      parameter (MPI_MODE_NOSTORE = 2048)
      integer MPI_MODE_NOSUCCEED
      parameter (MPI_MODE_NOSUCCEED = 16384)
      integer MPI_MODE_RDONLY
      parameter (MPI_MODE_RDONLY = 2)
      integer MPI_MODE_RDWR
      parameter (MPI_MODE_RDWR = 8)
      integer MPI_MODE_SEQUENTIAL
      parameter (MPI_MODE_SEQUENTIAL = 256)
      integer MPI_MODE_UNIQUE_OPEN
      parameter (MPI_MODE_UNIQUE_OPEN = 32)
      integer MPI_MODE_WRONLY
      parameter (MPI_MODE_WRONLY = 4)
      integer MPI_NO_OP
      parameter (MPI_NO_OP = 1476395022)
      integer MPI_OFFSET
      parameter (MPI_OFFSET = 1275070532)
      integer MPI_OFFSET_KIND
      parameter (MPI_OFFSET_KIND = 8)
      integer MPI_OP_NULL
      parameter (MPI_OP_NULL = 402653184)
      integer MPI_ORDER_C
      parameter (MPI_ORDER_C = 56)
      integer MPI_ORDER_FORTRAN
      parameter (MPI_ORDER_FORTRAN = 57)
      integer MPI_PACKED
      parameter (MPI_PACKED = 1275068687)
      integer MPI_PROC_NULL
      parameter (MPI_PROC_NULL = -1)
      integer MPI_PROD
      parameter (MPI_PROD = 1476395012)
      integer MPI_REAL
      parameter (MPI_REAL = 1275069468)
      integer MPI_REAL16
      parameter (MPI_REAL16 = 1275072555)
      integer MPI_REAL4
      parameter (MPI_REAL4 = 1275069479)
      integer MPI_REAL8
      parameter (MPI_REAL8 = 1275070505)
      integer MPI_REPLACE
      parameter (MPI_REPLACE = 1476395021)
      integer MPI_REQUEST_NULL
      parameter (MPI_REQUEST_NULL = 738197504)
      integer MPI_ROOT
      parameter (MPI_ROOT = -3)
      integer MPI_SEEK_CUR
      parameter (MPI_SEEK_CUR = 602)
      integer MPI_SEEK_END
      parameter (MPI_SEEK_END = 604)
      integer MPI_SEEK_SET
      parameter (MPI_SEEK_SET = 600)
      integer MPI_SHORT
      parameter (MPI_SHORT = 1275068931)
      integer MPI_SHORT_INT
      parameter (MPI_SHORT_INT = -1946157053)
      integer MPI_SIGNED_CHAR
      parameter (MPI_SIGNED_CHAR = 1275068696)
      integer MPI_SIMILAR
      parameter (MPI_SIMILAR = 2)
      integer MPI_SUBVERSION
      parameter (MPI_SUBVERSION = 0)
      integer MPI_SUCCESS
      parameter (MPI_SUCCESS = 0)
      integer MPI_SUM
      parameter (MPI_SUM = 1476395011)
      integer MPI_TAG_UB
      parameter (MPI_TAG_UB = 1681915906)
      integer MPI_THREAD_FUNNELED
      parameter (MPI_THREAD_FUNNELED = 1)
      integer MPI_THREAD_MULTIPLE
      parameter (MPI_THREAD_MULTIPLE = 3)
      integer MPI_THREAD_SERIALIZED
      parameter (MPI_THREAD_SERIALIZED = 2)
      integer MPI_THREAD_SINGLE
      parameter (MPI_THREAD_SINGLE = 0)
      integer MPI_TYPECLASS_COMPLEX
      parameter (MPI_TYPECLASS_COMPLEX = 3)
      integer MPI_TYPECLASS_INTEGER
      parameter (MPI_TYPECLASS_INTEGER = 2)
      integer MPI_TYPECLASS_REAL
      parameter (MPI_TYPECLASS_REAL = 1)
      integer MPI_UB
      parameter (MPI_UB = 1275068433)
      integer MPI_UINT16_T
      parameter (MPI_UINT16_T = 1275068988)
      integer MPI_UINT32_T
      parameter (MPI_UINT32_T = 1275069501)
      integer MPI_UINT64_T
      parameter (MPI_UINT64_T = 1275070526)
      integer MPI_UINT8_T
      parameter (MPI_UINT8_T = 1275068731)
      integer MPI_UNDEFINED
      parameter (MPI_UNDEFINED = -32766)
      integer MPI_UNEQUAL
      parameter (MPI_UNEQUAL = 3)
      integer MPI_UNIVERSE_SIZE
      parameter (MPI_UNIVERSE_SIZE = 1681915914)
      integer MPI_UNSIGNED
      parameter (MPI_UNSIGNED = 1275069446)
      integer MPI_UNSIGNED_CHAR
      parameter (MPI_UNSIGNED_CHAR = 1275068674)
      integer MPI_UNSIGNED_LONG
      parameter (MPI_UNSIGNED_LONG = 1275070472)
      integer MPI_UNSIGNED_LONG_LONG
      parameter (MPI_UNSIGNED_LONG_LONG = 1275070489)
      integer MPI_UNSIGNED_SHORT
      parameter (MPI_UNSIGNED_SHORT = 1275068932)
      integer MPI_VERSION
      parameter (MPI_VERSION = 4)
      integer MPI_WCHAR
      parameter (MPI_WCHAR = 1275069454)
      integer MPI_WIN_BASE
      parameter (MPI_WIN_BASE = 1711276034)
      integer MPI_WIN_CREATE_FLAVOR
      parameter (MPI_WIN_CREATE_FLAVOR = 1711276040)
      integer MPI_WIN_DISP_UNIT
      parameter (MPI_WIN_DISP_UNIT = 1711276038)
      integer MPI_WIN_FLAVOR_ALLOCATE
      parameter (MPI_WIN_FLAVOR_ALLOCATE = 2)
      integer MPI_WIN_FLAVOR_CREATE
      parameter (MPI_WIN_FLAVOR_CREATE = 1)
      integer MPI_WIN_FLAVOR_DYNAMIC
      parameter (MPI_WIN_FLAVOR_DYNAMIC = 3)
      integer MPI_WIN_FLAVOR_SHARED
      parameter (MPI_WIN_FLAVOR_SHARED = 4)
      integer MPI_WIN_MODEL
      parameter (MPI_WIN_MODEL = 1711276042)
      integer MPI_WIN_NULL
      parameter (MPI_WIN_NULL = 536870912)
      integer MPI_WIN_SEPARATE
      parameter (MPI_WIN_SEPARATE = 1)
      integer MPI_WIN_SIZE
      parameter (MPI_WIN_SIZE = 1711276036)
      integer MPI_WIN_UNIFIED
      parameter (MPI_WIN_UNIFIED = 2)
      integer MPI_WTIME_IS_GLOBAL
      parameter (MPI_WTIME_IS_GLOBAL = 1681915912)
      integer*8 MPI_DISPLACEMENT_CURRENT
      parameter (MPI_DISPLACEMENT_CURRENT = -54278278)
      logical MPI_SUBARRAYS_SUPPORTED
      parameter (MPI_SUBARRAYS_SUPPORTED = .false.)
      logical MPI_ASYNC_PROTECTS_NONBLOCKING
      parameter (MPI_ASYNC_PROTECTS_NONBLOCKING = .false.)
! Known by their addresses.
      integer MPI_BOTTOM, MPI_IN_PLACE
      integer MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
      integer MPI_STATUSES_IGNORE(MPI_STATUS_SIZE, 1)
      integer MPI_ERRCODES_IGNORE(1)
      integer MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY
      character*1 MPI_ARGVS_NULL(1, 1), MPI_ARGV_NULL(1)
      common /MPIPRIV1/ MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE
      common /MPIPRIV2/ MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE
      common /MPIPRIVC/ MPI_ARGVS_NULL, MPI_ARGV_NULL
      common /MPIFCMB5/ MPI_UNWEIGHTED
      common /MPIFCMB9/ MPI_WEIGHTS_EMPTY
      save /MPIPRIV1/, /MPIPRIV2/, /MPIPRIVC/, /MPIFCMB5/, /MPIFCMB9/
! Functions.
      double precision MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK
      external MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK
      external MPI_DUP_FN, MPI_NULL_COPY_FN
      external MPI_NULL_DELETE_FN
      external MPI_COMM_DUP_FN, MPI_COMM_NULL_COPY_FN
      external MPI_COMM_NULL_DELETE_FN
      external MPI_TYPE_DUP_FN, MPI_TYPE_NULL_COPY_FN
      external MPI_TYPE_NULL_DELETE_FN
      external MPI_WIN_DUP_FN, MPI_WIN_NULL_COPY_FN
      external MPI_WIN_NULL_DELETE_FN
      external MPI_CONVERSION_FN_NULL
