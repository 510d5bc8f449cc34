//! What the binary interfaces differ in: one trait, by which each function is compiled once for each of them.

use std::ffi::c_int;

use talisman_ampi::datatype::Combiner;
use talisman_ampi::objects::Kind;

use crate::Interface;
use crate::class::Class;

/// The number of a null handle.
pub const NULL: u32 = u32::MAX;

/// What a receive or a probe tells, before it is written into a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The sender's number in the communicator, as the interface has it.
    pub source: c_int,
    /// The tag, as the interface has it.
    pub tag: c_int,
    /// Bytes of the message.
    pub bytes: u64,
    /// Whether the operation was taken back.
    pub is_cancelled: bool,
}

/// A predefined attribute of communicators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// The largest tag.
    TagUb,
    /// The rank of the host: none.
    Host,
    /// Ranks that can do input and output: any.
    Io,
    /// Clocks are the same everywhere.
    WtimeIsGlobal,
    /// Number of the program.
    AppNum,
    /// The last error code.
    LastUsedCode,
    /// How many ranks there could be.
    UniverseSize,
}

/// A predefined attribute of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowAttribute {
    /// The address of the rank's memory.
    Base,
    /// Its length.
    Size,
    /// The unit of displacements.
    Unit,
    /// How the window was made.
    Flavor,
    /// How loads and stores see it.
    Model,
}

impl WindowAttribute {
    /// In the order of their keys in MPICH and in Open MPI.
    pub const ALL: [WindowAttribute; 5] = [
        WindowAttribute::Base,
        WindowAttribute::Size,
        WindowAttribute::Unit,
        WindowAttribute::Flavor,
        WindowAttribute::Model,
    ];
}

/// A binary interface: handles, constants, layouts.
pub trait Abi: 'static {
    /// A handle of any kind, but of files.
    type Handle: Copy + PartialEq;
    /// A handle of a file: in C an address in each interface.
    type File: Copy + PartialEq;

    /// The same interface in C.
    type C: Abi;
    /// The same interface in Fortran; that of C if there is none.
    type Fortran: Abi;

    /// Which interface it is.
    const INTERFACE: Interface;
    /// `MPI_ANY_SOURCE`.
    const ANY_SOURCE: c_int;
    /// `MPI_ANY_TAG`.
    const ANY_TAG: c_int = -1;
    /// `MPI_PROC_NULL`.
    const PROC_NULL: c_int;
    /// `MPI_ROOT`.
    const ROOT: c_int;
    /// `MPI_UNDEFINED`.
    const UNDEFINED: c_int = -32_766;
    /// `MPI_IN_PLACE`.
    const IN_PLACE: usize;
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
    const STATUS_IGNORE: usize;
    /// `MPI_UNWEIGHTED`, and `MPI_WEIGHTS_EMPTY`.
    const WEIGHTS: fn() -> [usize; 2];
    /// Bytes of a status.
    const STATUS_SIZE: usize;
    /// `MPI_COMBINER_NAMED`; the others follow.
    const COMBINER_NAMED: c_int;
    /// `MPI_ORDER_C`, `MPI_ORDER_FORTRAN`.
    const ORDERS: [c_int; 2];
    /// `MPI_DISTRIBUTE_BLOCK`, `_CYCLIC`, `_NONE`, `_DFLT_DARG`.
    const DISTRIBUTE: [c_int; 4];
    /// `MPI_GRAPH`, `MPI_CART`, `MPI_DIST_GRAPH`.
    const TOPOLOGIES: [c_int; 3];
    /// `MPI_TYPECLASS_REAL`, `_INTEGER`, `_COMPLEX`.
    const TYPECLASSES: [c_int; 3];
    /// `MPI_COMM_TYPE_SHARED`.
    const TYPE_SHARED: c_int;
    /// `MPI_KEYVAL_INVALID`.
    const KEYVAL_INVALID: c_int;
    /// The keys of the program begin here.
    const FIRST_KEYVAL: c_int;
    /// `MPI_VERSION`, `MPI_SUBVERSION`.
    const VERSION: [c_int; 2];
    /// `MPI_BSEND_OVERHEAD`.
    const BSEND_OVERHEAD: c_int;
    /// `MPI_MAX_OBJECT_NAME`, `MPI_MAX_PROCESSOR_NAME`, `MPI_MAX_ERROR_STRING`, with the zero at the end.
    const NAME_ROOM: [usize; 3];
    /// `MPI_IDENT`; `MPI_CONGRUENT`, `MPI_SIMILAR` and `MPI_UNEQUAL` follow.
    const IDENT: c_int = 0;
    /// `MPI_THREAD_SINGLE`, `_FUNNELED`, `_SERIALIZED`, `_MULTIPLE`.
    const THREADS: [c_int; 4] = [0, 1, 2, 3];
    /// `MPI_T_VERBOSITY_USER_BASIC`, `MPI_T_BIND_NO_OBJECT`, `MPI_T_SCOPE_CONSTANT`.
    const TOOLS: [c_int; 3];
    /// `MPI_T_PVAR_ALL_HANDLES`.
    const ALL_HANDLES: fn() -> usize;
    /// `MPI_LOCK_EXCLUSIVE`, `MPI_LOCK_SHARED`.
    const LOCKS: [c_int; 2];
    /// `MPI_WIN_FLAVOR_CREATE`, `_ALLOCATE`, `_DYNAMIC`, `_SHARED`.
    const FLAVORS: [c_int; 4] = [1, 2, 3, 4];
    /// `MPI_WIN_UNIFIED`.
    const UNIFIED: c_int;
    /// `MPI_MODE_NOCHECK`.
    const NO_CHECK: c_int = 1_024;
    /// `MPI_ERR_LASTCODE`: codes of the program are larger.
    const LAST_CODE: c_int = 0x3fff_ffff;
    /// The numbers from that on: a program gets the address of one as `MPI_LASTUSEDCODE`, of the last one if it has made more.
    const CODES: &'static [c_int; 1024] = &numbers_from(Self::LAST_CODE);
    /// `MPI_MODE_NOSUCCEED`.
    const NO_SUCCEED: c_int = 16_384;
    /// Whether a function returns the code that an error handler of the program has left.
    const HANDLERS_CHANGE_CODES: bool = true;
    /// `MPI_MODE_RDONLY`, `_WRONLY`, `_RDWR`, `_CREATE`, `_EXCL`, `_DELETE_ON_CLOSE`, `_UNIQUE_OPEN`, `_APPEND`,
    /// `_SEQUENTIAL`.
    const FILE_MODES: [c_int; 9] = [2, 4, 8, 1, 64, 16, 32, 128, 256];
    /// Whether the name of a file may begin with a kind of file system: `ufs:name`.
    const NAMES_HAVE_KINDS: bool = true;
    /// `MPI_SEEK_SET`, `_CUR`, `_END`.
    const SEEKS: [c_int; 3] = [600, 602, 604];
    /// `MPI_DISPLACEMENT_CURRENT`.
    const DISPLACEMENT_CURRENT: i64 = -54_278_278;
    /// Whether a handle is one of Fortran.
    const IS_FORTRAN: bool = false;

    /// The number of the object that a handle names: [`NULL`] for a null handle; none if it names none of this kind.
    ///
    /// # Safety
    /// The handle is the program's: where handles are addresses, what it points to is there.
    unsafe fn number(kind: Kind, handle: Self::Handle) -> Option<u32>;

    /// The same of a datatype: each message has one.
    ///
    /// # Safety
    /// As for [`Abi::number`].
    #[inline]
    unsafe fn datatype_number(handle: Self::Handle) -> Option<u32> {
        // SAFETY: the caller's promise.
        unsafe { Self::number(Kind::Datatype, handle) }
    }

    /// The handle of an object, to be given to the program.
    fn handle(kind: Kind, number: u32) -> Self::Handle;

    /// The object of this number is gone, and the program does not use its handle any more.
    ///
    /// # Safety
    /// `handle` is that of the object.
    unsafe fn forget(kind: Kind, number: u32, handle: Self::Handle);

    /// The number of the file that a handle names: [`NULL`] for a null handle; none if it names none.
    ///
    /// # Safety
    /// As for [`Abi::number`].
    unsafe fn file_number(handle: Self::File) -> Option<u32>;

    /// The handle of a file, to be given to the program.
    fn file(number: u32) -> Self::File;

    /// The file of this number is closed, and the program does not use its handle any more.
    ///
    /// # Safety
    /// `handle` is that of the file.
    unsafe fn forget_file(number: u32, handle: Self::File);

    /// The error code of a class.
    fn code(class: Class) -> c_int;

    /// The class of an error code; none for success and what is no code.
    fn class(code: c_int) -> Option<Class>;

    /// The number of a combiner. MPICH and Open MPI have three that MPI-3 has removed among them.
    fn combiner(combiner: Combiner) -> c_int {
        let place = match combiner {
            Combiner::Named => 0,
            Combiner::Dup => 1,
            Combiner::Contiguous => 2,
            Combiner::Vector => 3,
            Combiner::Hvector => 5,
            Combiner::Indexed => 6,
            Combiner::Hindexed => 8,
            Combiner::IndexedBlock => 9,
            Combiner::Struct => 11,
            Combiner::Subarray => 12,
            Combiner::Darray => 13,
            Combiner::F90Real => 14,
            Combiner::F90Complex => 15,
            Combiner::F90Integer => 16,
            Combiner::Resized => 17,
            Combiner::HindexedBlock => 18,
        };
        Self::COMBINER_NAMED + place
    }

    /// The predefined attribute of this key.
    fn attribute(key: c_int) -> Option<Attribute>;

    /// The predefined attribute of windows of this key.
    fn window_attribute(key: c_int) -> Option<WindowAttribute>;

    /// Writes a status, but for its error.
    ///
    /// # Safety
    /// `at` is a status of the program.
    unsafe fn write_status(at: usize, told: Told);

    /// Reads a status.
    ///
    /// # Safety
    /// As for [`Abi::write_status`].
    unsafe fn read_status(at: usize) -> Told;

    /// Where the error of a status is.
    fn error_of(status: usize) -> *mut c_int;
}

/// A number of the program: counts and displacements are of 32 bits, or of 64 in large-count functions.
pub trait Count: Copy + 'static {
    /// Whether it has 64 bits.
    const IS_LARGE: bool;
    /// Its value.
    fn get(self) -> i64;
    /// A number of this value, if there is one.
    fn of(value: i64) -> Option<Self>;
}

impl Count for c_int {
    const IS_LARGE: bool = false;

    fn get(self) -> i64 {
        i64::from(self)
    }

    fn of(value: i64) -> Option<c_int> {
        c_int::try_from(value).ok()
    }
}

impl Count for i64 {
    const IS_LARGE: bool = true;

    fn get(self) -> i64 {
        self
    }

    fn of(value: i64) -> Option<i64> {
        Some(value)
    }
}

/// What an interface has in Fortran as in C: all but handles.
macro_rules! as_in_c {
    ($interface:ty) => {
        type C = $interface;
        type Fortran = Self;

        const INTERFACE: $crate::Interface = <$interface>::INTERFACE;
        const ANY_SOURCE: std::ffi::c_int = <$interface>::ANY_SOURCE;
        const PROC_NULL: std::ffi::c_int = <$interface>::PROC_NULL;
        const ROOT: std::ffi::c_int = <$interface>::ROOT;
        const IN_PLACE: usize = <$interface>::IN_PLACE;
        const STATUS_IGNORE: usize = <$interface>::STATUS_IGNORE;
        const WEIGHTS: fn() -> [usize; 2] = <$interface>::WEIGHTS;
        const STATUS_SIZE: usize = <$interface>::STATUS_SIZE;
        const COMBINER_NAMED: std::ffi::c_int = <$interface>::COMBINER_NAMED;
        const ORDERS: [std::ffi::c_int; 2] = <$interface>::ORDERS;
        const DISTRIBUTE: [std::ffi::c_int; 4] = <$interface>::DISTRIBUTE;
        const TOPOLOGIES: [std::ffi::c_int; 3] = <$interface>::TOPOLOGIES;
        const TYPECLASSES: [std::ffi::c_int; 3] = <$interface>::TYPECLASSES;
        const TYPE_SHARED: std::ffi::c_int = <$interface>::TYPE_SHARED;
        const KEYVAL_INVALID: std::ffi::c_int = <$interface>::KEYVAL_INVALID;
        const FIRST_KEYVAL: std::ffi::c_int = <$interface>::FIRST_KEYVAL;
        const VERSION: [std::ffi::c_int; 2] = <$interface>::VERSION;
        const BSEND_OVERHEAD: std::ffi::c_int = <$interface>::BSEND_OVERHEAD;
        const NAME_ROOM: [usize; 3] = <$interface>::NAME_ROOM;
        const TOOLS: [std::ffi::c_int; 3] = <$interface>::TOOLS;
        const ALL_HANDLES: fn() -> usize = <$interface>::ALL_HANDLES;
        const LOCKS: [std::ffi::c_int; 2] = <$interface>::LOCKS;
        const FLAVORS: [std::ffi::c_int; 4] = <$interface>::FLAVORS;
        const UNIFIED: std::ffi::c_int = <$interface>::UNIFIED;
        const NO_CHECK: std::ffi::c_int = <$interface>::NO_CHECK;
        const NO_SUCCEED: std::ffi::c_int = <$interface>::NO_SUCCEED;
        const HANDLERS_CHANGE_CODES: bool = <$interface>::HANDLERS_CHANGE_CODES;
        const NAMES_HAVE_KINDS: bool = <$interface>::NAMES_HAVE_KINDS;
        const LAST_CODE: std::ffi::c_int = <$interface>::LAST_CODE;
        const IS_FORTRAN: bool = true;

        fn code(class: $crate::class::Class) -> std::ffi::c_int {
            <$interface>::code(class)
        }

        fn class(code: std::ffi::c_int) -> Option<$crate::class::Class> {
            <$interface>::class(code)
        }

        fn attribute(key: std::ffi::c_int) -> Option<$crate::abi::Attribute> {
            <$interface>::attribute(key)
        }

        fn window_attribute(key: std::ffi::c_int) -> Option<$crate::abi::WindowAttribute> {
            <$interface>::window_attribute(key)
        }

        unsafe fn write_status(at: usize, told: $crate::abi::Told) {
            // SAFETY: the caller's promise.
            unsafe { <$interface>::write_status(at, told) }
        }

        unsafe fn read_status(at: usize) -> $crate::abi::Told {
            // SAFETY: the caller's promise.
            unsafe { <$interface>::read_status(at) }
        }

        fn error_of(status: usize) -> *mut std::ffi::c_int {
            <$interface>::error_of(status)
        }
    };
}
pub(crate) use as_in_c;

/// As many numbers as there is room for, from this one on.
pub const fn numbers_from<const N: usize>(first: c_int) -> [c_int; N] {
    let mut numbers = [first; N];
    let mut at = 0;
    while at < N {
        numbers[at] += at as c_int;
        at += 1;
    }
    numbers
}
