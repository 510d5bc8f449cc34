//! The datatypes that MPI brings along, by their names (MPI-3.1, 3.2.2, 5.9.4 and 17.2).

use super::{BASICS, Basic, Datatype};
use crate::op::Location;

/// How the values of a predefined datatype lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One value.
    One(Basic),
    /// Two of a kind: the second is an index for `MPI_MAXLOC` and `MPI_MINLOC`.
    Two(Basic),
    /// A value and an `i32`, as a compiler of C lays them out.
    Pair(Basic),
    /// A bound without values (`MPI_LB`, `MPI_UB`, which MPI-3 has removed).
    Bound,
}

/// A predefined datatype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name in MPI.
    pub name: &'static str,
    /// How its values lie.
    pub shape: Shape,
}

macro_rules! named {
    ($($name:literal: $shape:expr),* $(,)?) => {
        /// All of them, in the order of their handles: first one for each of [`BASICS`].
        pub const NAMED: &[Named] = &{
            use Basic::{
                Bool, Byte, C32, C64, C80, C128, F32, F64, F80, F128, I8, I16, I32, I64, Long, U8, U16, U32,
                U64, UnsignedLong, WideChar,
            };
            use Shape::{Bound, One, Pair, Two};
            [$(Named { name: $name, shape: $shape }),*]
        };
    };
}

named! {
    "MPI_BYTE": One(Byte),
    "MPI_C_BOOL": One(Bool),
    "MPI_INT8_T": One(I8),
    "MPI_INT16_T": One(I16),
    "MPI_INT32_T": One(I32),
    "MPI_INT64_T": One(I64),
    "MPI_UINT8_T": One(U8),
    "MPI_UINT16_T": One(U16),
    "MPI_UINT32_T": One(U32),
    "MPI_UINT64_T": One(U64),
    "MPI_FLOAT": One(F32),
    "MPI_DOUBLE": One(F64),
    "MPI_C_COMPLEX": One(C32),
    "MPI_C_DOUBLE_COMPLEX": One(C64),
    "MPI_LONG_DOUBLE": One(F80),
    // Other names of C for the same values.
    "MPI_PACKED": One(Byte),
    "MPI_CHAR": One(I8),
    "MPI_SIGNED_CHAR": One(I8),
    "MPI_UNSIGNED_CHAR": One(U8),
    "MPI_WCHAR": One(WideChar),
    "MPI_SHORT": One(I16),
    "MPI_UNSIGNED_SHORT": One(U16),
    "MPI_INT": One(I32),
    "MPI_UNSIGNED": One(U32),
    "MPI_LONG": One(Long),
    "MPI_UNSIGNED_LONG": One(UnsignedLong),
    "MPI_LONG_LONG_INT": One(I64),
    "MPI_UNSIGNED_LONG_LONG": One(U64),
    "MPI_AINT": One(I64),
    "MPI_OFFSET": One(I64),
    "MPI_COUNT": One(I64),
    "MPI_C_LONG_DOUBLE_COMPLEX": One(C80),
    "MPI_CXX_BOOL": One(Bool),
    "MPI_CXX_FLOAT_COMPLEX": One(C32),
    "MPI_CXX_DOUBLE_COMPLEX": One(C64),
    "MPI_CXX_LONG_DOUBLE_COMPLEX": One(C80),
    // Pairs of a value and an index.
    "MPI_FLOAT_INT": Pair(F32),
    "MPI_DOUBLE_INT": Pair(F64),
    "MPI_LONG_INT": Pair(Long),
    "MPI_SHORT_INT": Pair(I16),
    "MPI_2INT": Two(I32),
    "MPI_LONG_DOUBLE_INT": Pair(F80),
    // Fortran's, as its compilers have them by default.
    "MPI_CHARACTER": One(U8),
    "MPI_LOGICAL": One(I32),
    "MPI_INTEGER": One(I32),
    "MPI_REAL": One(F32),
    "MPI_DOUBLE_PRECISION": One(F64),
    "MPI_COMPLEX": One(C32),
    "MPI_DOUBLE_COMPLEX": One(C64),
    "MPI_LOGICAL1": One(I8),
    "MPI_LOGICAL2": One(I16),
    "MPI_LOGICAL4": One(I32),
    "MPI_LOGICAL8": One(I64),
    "MPI_INTEGER1": One(I8),
    "MPI_INTEGER2": One(I16),
    "MPI_INTEGER4": One(I32),
    "MPI_INTEGER8": One(I64),
    "MPI_REAL4": One(F32),
    "MPI_REAL8": One(F64),
    "MPI_REAL16": One(F128),
    "MPI_COMPLEX8": One(C32),
    "MPI_COMPLEX16": One(C64),
    "MPI_COMPLEX32": One(C128),
    "MPI_2INTEGER": Two(I32),
    "MPI_2REAL": Two(F32),
    "MPI_2DOUBLE_PRECISION": Two(F64),
    "MPI_2COMPLEX": Two(C32),
    "MPI_2DOUBLE_COMPLEX": Two(C64),
    "MPI_LB": Bound,
    "MPI_UB": Bound,
}

impl Named {
    /// The handle of the datatype of this name.
    pub fn handle(name: &str) -> Option<u32> {
        NAMED.iter().position(|named| named.name == name).map(|at| at as u32)
    }

    /// What it is.
    pub fn datatype(&self) -> Datatype {
        let made = match self.shape {
            Shape::One(basic) => Ok(Datatype::of(basic)),
            Shape::Two(basic) => Datatype::of(basic).contiguous(2),
            Shape::Pair(basic) => Location::datatype(basic),
            Shape::Bound => Datatype::of(Basic::Byte).contiguous(0),
        };
        made.expect("a predefined datatype is small")
    }
}

const _: () = assert!(NAMED.len() > BASICS.len(), "each basic value has a name");
