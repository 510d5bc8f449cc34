//! Predefined datatypes of one value.

use talisman_pup::Pup;

/// A value that the machine knows. Types of C, Fortran and Rust are mapped to these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pup)]
pub enum Basic {
    /// A byte without a meaning (`MPI_BYTE`, `MPI_PACKED`): moved, not converted. Operations take it for an unsigned integer, as Open MPI's do.
    Byte,
    /// A truth value of one byte.
    Bool,
    /// Signed integers.
    I8,
    /// Of two bytes.
    I16,
    /// Of four bytes.
    I32,
    /// Of eight bytes.
    I64,
    /// Unsigned integers.
    U8,
    /// Of two bytes.
    U16,
    /// Of four bytes.
    U32,
    /// Of eight bytes.
    U64,
    /// Floating point of four bytes.
    F32,
    /// Floating point of eight bytes.
    F64,
    /// Two `F32`: a complex number.
    C32,
    /// Two `F64`: a complex number.
    C64,
    /// Floating point of 80 bits in 16 bytes (`long double` of C).
    F80,
    /// `long` of C: as [`Basic::I64`], but in external32 it has four bytes.
    Long,
    /// `unsigned long` of C: as [`Basic::U64`], but in external32 it has four bytes.
    UnsignedLong,
    /// `wchar_t` of C: as [`Basic::I32`], but in external32 it has two bytes.
    WideChar,
    /// Floating point of 128 bits (`REAL(16)` of Fortran).
    F128,
    /// Two `F80`: a complex number.
    C80,
    /// Two `F128`: a complex number.
    C128,
}

/// In the order of their handles. The others have no handle of their own.
pub const BASICS: [Basic; 15] = {
    use Basic::{Bool, Byte, C32, C64, F32, F64, F80, I8, I16, I32, I64, U8, U16, U32, U64};
    [Byte, Bool, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, C32, C64, F80]
};

impl Basic {
    /// Length in bytes, which is its extent too.
    #[inline]
    pub fn size(self) -> u64 {
        match self {
            Basic::Byte | Basic::Bool | Basic::I8 | Basic::U8 => 1,
            Basic::I16 | Basic::U16 => 2,
            Basic::I32 | Basic::U32 | Basic::F32 | Basic::WideChar => 4,
            Basic::I64 | Basic::U64 | Basic::Long | Basic::UnsignedLong | Basic::F64 | Basic::C32 => 8,
            Basic::C64 | Basic::F80 | Basic::F128 => 16,
            Basic::C80 | Basic::C128 => 32,
        }
    }

    /// Bytes that change places when the byte order does: a complex number is two of them.
    pub fn unit(self) -> u64 {
        match self {
            Basic::C32 | Basic::C64 | Basic::C80 | Basic::C128 => self.size() / 2,
            other => other.size(),
        }
    }

    /// How a compiler of C aligns it on this machine.
    pub fn align(self) -> u64 {
        self.unit()
    }
}
