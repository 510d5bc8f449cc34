//! The libraries as a program in C knows them: handles and constants of their headers.

use std::ffi::c_int;
use std::fmt::Debug;

use talisman_abi::{Interface, symbol};

/// A library that a program is linked with.
pub trait Library: 'static {
    type Handle: Copy + PartialEq + Debug;
    const INTERFACE: Interface;
    const ANY_SOURCE: c_int;
    const ANY_TAG: c_int = -1;
    const PROC_NULL: c_int;
    const ROOT: c_int;
    const UNDEFINED: c_int = -32_766;
    const IN_PLACE: usize;
    const IGNORE: usize;
    const UNWEIGHTED: fn() -> usize;
    /// `MPI_ERR_TRUNCATE`, `MPI_ERR_RANK`, `MPI_ERR_IN_STATUS`.
    const ERRORS: [c_int; 3];
    /// Where the source, the tag and the error are in a status, in ints.
    const STATUS: [usize; 3];
    /// How many ints a status has.
    const INTS: usize;
    /// `MPI_COMBINER_NAMED`, `_VECTOR`, `_STRUCT`.
    const COMBINERS: [c_int; 3];
    const ORDER_C: c_int;
    /// `MPI_GRAPH`, `MPI_CART`, `MPI_DIST_GRAPH`.
    const TOPOLOGIES: [c_int; 3];
    /// `MPI_IDENT`.
    const IDENT: c_int = 0;
    /// `MPI_COMM_TYPE_SHARED`.
    const SHARED: c_int;
    const TAG_UB: c_int;
    const NULL_COPY: fn() -> usize;

    /// The predefined object of this name in the header, without `MPI_`.
    fn object(name: &str) -> Self::Handle;

    fn world() -> Self::Handle {
        Self::object("COMM_WORLD")
    }

    fn int() -> Self::Handle {
        Self::object("INT")
    }

    fn double() -> Self::Handle {
        Self::object("DOUBLE")
    }

    fn no_request() -> Self::Handle {
        Self::object("REQUEST_NULL")
    }
}

pub struct Mpich;
pub struct OpenMpi;
pub struct Standard;

impl Library for Mpich {
    type Handle = c_int;
    const INTERFACE: Interface = Interface::Mpich;
    const ANY_SOURCE: c_int = -2;
    const PROC_NULL: c_int = -1;
    const ROOT: c_int = -3;
    const IN_PLACE: usize = usize::MAX;
    const IGNORE: usize = 1;
    const UNWEIGHTED: fn() -> usize = || {
        let at = symbol(Interface::Mpich, "MPI_UNWEIGHTED").unwrap() as *const usize;
        // SAFETY: the symbol is a pointer.
        unsafe { at.read() }
    };
    const ERRORS: [c_int; 3] = [14, 6, 17];
    const STATUS: [usize; 3] = [2, 3, 4];
    const INTS: usize = 5;
    const COMBINERS: [c_int; 3] = [1, 4, 12];
    const ORDER_C: c_int = 56;
    const TOPOLOGIES: [c_int; 3] = [1, 2, 3];
    const SHARED: c_int = 1;
    const TAG_UB: c_int = 0x6440_0001;
    const NULL_COPY: fn() -> usize = || 0;

    fn object(name: &str) -> c_int {
        let handle: u32 = match name {
            "COMM_NULL" => 0x0400_0000,
            "COMM_WORLD" => 0x4400_0000,
            "COMM_SELF" => 0x4400_0001,
            "GROUP_NULL" => 0x0800_0000,
            "GROUP_EMPTY" => 0x4800_0000,
            "REQUEST_NULL" | "MESSAGE_NULL" => 0x2c00_0000,
            "MESSAGE_NO_PROC" => 0x6c00_0000,
            "DATATYPE_NULL" => 0x0c00_0000,
            "OP_NULL" => 0x1800_0000,
            "INFO_NULL" => 0x1c00_0000,
            "SESSION_NULL" => 0x3800_0000,
            "WIN_NULL" => 0x2000_0000,
            "ERRORS_RETURN" => 0x5400_0001,
            "INT" => 0x4c00_0405,
            "DOUBLE" => 0x4c00_080b,
            "BYTE" => 0x4c00_010d,
            "CHAR" => 0x4c00_0101,
            "PACKED" => 0x4c00_010f,
            "DOUBLE_INT" => 0x8c00_0001,
            "LONG" => 0x4c00_0807,
            "MAX" => 0x5800_0001,
            "SUM" => 0x5800_0003,
            "BOR" => 0x5800_0008,
            "MAXLOC" => 0x5800_000c,
            _ => panic!("MPI_{name}"),
        };
        handle as c_int
    }
}

impl Library for OpenMpi {
    type Handle = usize;
    const INTERFACE: Interface = Interface::OpenMpi;
    const ANY_SOURCE: c_int = -1;
    const PROC_NULL: c_int = -2;
    const ROOT: c_int = -4;
    const IN_PLACE: usize = 1;
    const IGNORE: usize = 0;
    const UNWEIGHTED: fn() -> usize = || 2;
    const ERRORS: [c_int; 3] = [15, 6, 18];
    const STATUS: [usize; 3] = [0, 1, 2];
    const INTS: usize = 6;
    const COMBINERS: [c_int; 3] = [0, 3, 11];
    const ORDER_C: c_int = 0;
    const TOPOLOGIES: [c_int; 3] = [2, 1, 3];
    const SHARED: c_int = 0;
    const TAG_UB: c_int = 0;
    const NULL_COPY: fn() -> usize = || symbol(Interface::OpenMpi, "OMPI_C_MPI_COMM_NULL_COPY_FN").unwrap();

    fn object(name: &str) -> usize {
        let symbol_of = match name {
            "REQUEST_NULL" => "ompi_request_null".to_owned(),
            "MESSAGE_NULL" | "MESSAGE_NO_PROC" => format!("ompi_{}", name.to_lowercase()),
            "SESSION_NULL" => "ompi_mpi_instance_null".to_owned(),
            "MAX" | "SUM" | "BOR" | "MAXLOC" => format!("ompi_mpi_op_{}", name.to_lowercase()),
            _ => format!("ompi_mpi_{}", name.to_lowercase()),
        };
        symbol(Interface::OpenMpi, &symbol_of).unwrap_or_else(|| panic!("{symbol_of}"))
    }
}

impl Library for Standard {
    type Handle = usize;
    const INTERFACE: Interface = Interface::Standard;
    const ANY_SOURCE: c_int = -1;
    const ANY_TAG: c_int = -2;
    const PROC_NULL: c_int = -3;
    const ROOT: c_int = -4;
    const IN_PLACE: usize = 1;
    const IGNORE: usize = 0;
    const UNWEIGHTED: fn() -> usize = || 10;
    const ERRORS: [c_int; 3] = [15, 6, 19];
    const STATUS: [usize; 3] = [0, 1, 2];
    const INTS: usize = 8;
    const COMBINERS: [c_int; 3] = [101, 104, 110];
    const ORDER_C: c_int = 12;
    const TOPOLOGIES: [c_int; 3] = [212, 211, 213];
    const IDENT: c_int = 201;
    const SHARED: c_int = 221;
    const TAG_UB: c_int = 501;
    const NULL_COPY: fn() -> usize = || 0;

    fn object(name: &str) -> usize {
        match name {
            "COMM_NULL" => 0x100,
            "COMM_WORLD" => 0x101,
            "COMM_SELF" => 0x102,
            "GROUP_NULL" => 0x108,
            "GROUP_EMPTY" => 0x109,
            "REQUEST_NULL" => 0x180,
            "MESSAGE_NULL" => 0x128,
            "MESSAGE_NO_PROC" => 0x129,
            "DATATYPE_NULL" => 0x200,
            "OP_NULL" => 0x20,
            "INFO_NULL" => 0x130,
            "SESSION_NULL" => 0x120,
            "WIN_NULL" => 0x110,
            "ERRORS_RETURN" => 0x143,
            "INT" => 0x209,
            "DOUBLE" => 0x214,
            "BYTE" => 0x247,
            "CHAR" => 0x243,
            "PACKED" => 0x207,
            "DOUBLE_INT" => 0x229,
            "LONG" => 0x20a,
            "SUM" => 0x21,
            "MAX" => 0x23,
            "BOR" => 0x29,
            "MAXLOC" => 0x39,
            _ => panic!("MPI_{name}"),
        }
    }
}

/// A status of any of them.
pub type Status = [c_int; 8];

pub fn source<L: Library>(status: &Status) -> c_int {
    status[L::STATUS[0]]
}

pub fn tag<L: Library>(status: &Status) -> c_int {
    status[L::STATUS[1]]
}

/// How many values a status tells of.
pub fn count<L: Library>(status: &Status, datatype: L::Handle) -> c_int {
    let mut count = -1;
    mpi!(L, "MPI_Get_count", status, datatype, &mut count);
    count
}

/// Calls a function by its name; its result is its error code.
macro_rules! code_of {
    ($library:ty, $name:literal $(, $argument:expr)*) => {{
        let at = talisman_abi::symbol(<$library as crate::library::Library>::INTERFACE, $name).expect($name);
        // SAFETY: the function of this name has arguments of such types.
        unsafe {
            let function: unsafe extern "C" fn($(crate::library::any!($argument)),*) -> std::ffi::c_int =
                std::mem::transmute(at);
            function($($argument),*)
        }
    }};
}
pub(crate) use code_of;

/// The same, which succeeds.
macro_rules! mpi {
    ($library:ty, $name:literal $(, $argument:expr)*) => {
        assert_eq!(crate::library::code_of!($library, $name $(, $argument)*), 0, $name)
    };
}
pub(crate) use mpi;

macro_rules! any {
    ($argument:expr) => {
        _
    };
}
pub(crate) use any;
