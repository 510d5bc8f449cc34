//! The operations that MPI brings along.

use talisman_pup::Pup;
use thiserror::Error;

use super::extended::F80;
use super::quadruple::F128;
use crate::datatype::Basic;

/// An operation that MPI brings along, on single values. `MPI_MAXLOC` and `MPI_MINLOC` are
/// [`Location`](super::Location).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Predefined {
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The sum; integers wrap around.
    Sum,
    /// The product; integers wrap around.
    Product,
    /// Whether all are not zero.
    LogicalAnd,
    /// Whether one is not zero.
    LogicalOr,
    /// Whether an odd number of them is not zero.
    LogicalXor,
    /// Bits that all have.
    BitAnd,
    /// Bits that one has.
    BitOr,
    /// Bits that an odd number of them has.
    BitXor,
    /// The left one (`MPI_REPLACE` of one-sided communication).
    Replace,
    /// The right one (`MPI_NO_OP`).
    NoOp,
}

/// In the order of their handles.
pub const PREDEFINED: [Predefined; 12] = {
    use Predefined::{
        BitAnd, BitOr, BitXor, LogicalAnd, LogicalOr, LogicalXor, Max, Min, NoOp, Product, Replace, Sum,
    };
    [Max, Min, Sum, Product, LogicalAnd, LogicalOr, LogicalXor, BitAnd, BitOr, BitXor, Replace, NoOp]
};

/// The operation has no meaning for these values (`MPI_ERR_OP`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{op:?} is not defined for {basic:?}")]
pub struct Unfit {
    /// The operation.
    pub op: Predefined,
    /// The values.
    pub basic: Basic,
}

impl Predefined {
    /// Whether it has a meaning for these values (MPI-3.1, 5.9.2).
    pub fn fits(self, basic: Basic) -> bool {
        use Basic::{Bool, C32, C64, C80, C128, F32, F64, F80, F128};
        let is_complex = matches!(basic, C32 | C64 | C80 | C128);
        let is_float = matches!(basic, F32 | F64 | F80 | F128);
        match self {
            Predefined::Max | Predefined::Min => basic != Bool && !is_complex,
            Predefined::Sum | Predefined::Product => basic != Bool,
            Predefined::LogicalAnd | Predefined::LogicalOr | Predefined::LogicalXor => {
                !is_float && !is_complex
            }
            Predefined::BitAnd | Predefined::BitOr | Predefined::BitXor => {
                basic != Bool && !is_float && !is_complex
            }
            Predefined::Replace | Predefined::NoOp => true,
        }
    }

    /// `right[i] = left[i] op right[i]`, for as many values as both have.
    ///
    /// # Errors
    /// If it has no meaning for them.
    pub fn apply(self, basic: Basic, left: &[u8], right: &mut [u8]) -> Result<(), Unfit> {
        if !self.fits(basic) {
            return Err(Unfit { op: self, basic });
        }
        match self {
            Predefined::Replace => replace(left, right),
            Predefined::NoOp => {}
            _ => self.apply_to(basic, left, right),
        }
        Ok(())
    }

    fn apply_to(self, basic: Basic, left: &[u8], right: &mut [u8]) {
        match basic {
            Basic::Byte | Basic::Bool | Basic::U8 => self.integers::<u8, 1>(left, right),
            Basic::I8 => self.integers::<i8, 1>(left, right),
            Basic::I16 => self.integers::<i16, 2>(left, right),
            Basic::U16 => self.integers::<u16, 2>(left, right),
            Basic::I32 | Basic::WideChar => self.integers::<i32, 4>(left, right),
            Basic::U32 => self.integers::<u32, 4>(left, right),
            Basic::I64 | Basic::Long => self.integers::<i64, 8>(left, right),
            Basic::U64 | Basic::UnsignedLong => self.integers::<u64, 8>(left, right),
            Basic::F32 => self.floats::<f32, 4>(left, right),
            Basic::F64 => self.floats::<f64, 8>(left, right),
            Basic::F80 => self.floats::<F80, 16>(left, right),
            Basic::F128 => self.floats::<F128, 16>(left, right),
            Basic::C32 => self.complex::<f32, 4, 8>(left, right),
            Basic::C64 => self.complex::<f64, 8, 16>(left, right),
            Basic::C80 => self.complex::<F80, 16, 32>(left, right),
            Basic::C128 => self.complex::<F128, 16, 32>(left, right),
        }
    }

    /// The choice stands outside the loops, so that each is a loop over one operation of one type.
    fn integers<T: Integer<N>, const N: usize>(self, left: &[u8], right: &mut [u8]) {
        match self {
            Predefined::Max => each(left, right, |a: T, b| if a > b { a } else { b }),
            Predefined::Min => each(left, right, |a: T, b| if a < b { a } else { b }),
            Predefined::Sum => each(left, right, T::sum),
            Predefined::Product => each(left, right, T::product),
            Predefined::LogicalAnd => each(left, right, |a: T, b| T::truth(a.is_true() && b.is_true())),
            Predefined::LogicalOr => each(left, right, |a: T, b| T::truth(a.is_true() || b.is_true())),
            Predefined::LogicalXor => each(left, right, |a: T, b| T::truth(a.is_true() != b.is_true())),
            Predefined::BitAnd => bits(left, right, |a, b| a & b),
            Predefined::BitOr => bits(left, right, |a, b| a | b),
            Predefined::BitXor => bits(left, right, |a, b| a ^ b),
            Predefined::Replace | Predefined::NoOp => {}
        }
    }

    /// A NaN is neither larger nor smaller: of two that cannot be compared the right one stays, in every run.
    fn floats<T: Number<N>, const N: usize>(self, left: &[u8], right: &mut [u8]) {
        match self {
            Predefined::Max => each(left, right, |a: T, b| if a > b { a } else { b }),
            Predefined::Min => each(left, right, |a: T, b| if a < b { a } else { b }),
            Predefined::Sum => each(left, right, T::sum),
            Predefined::Product => each(left, right, T::product),
            _ => {}
        }
    }

    fn complex<T: Number<N>, const N: usize, const M: usize>(self, left: &[u8], right: &mut [u8]) {
        if self == Predefined::Sum {
            return each(left, right, T::sum);
        }
        for (left, right) in left.chunks_exact(M).zip(right.chunks_exact_mut(M)) {
            let read = |bytes: &[u8], at: usize| T::read(&bytes[at..at + N]);
            let (a, b, c, d) = (read(left, 0), read(left, N), read(right, 0), read(right, N));
            let real = a.product(c).difference(b.product(d));
            let imaginary = a.product(d).sum(b.product(c));
            right[..N].copy_from_slice(&real.bytes());
            right[N..].copy_from_slice(&imaginary.bytes());
        }
    }
}

fn replace(left: &[u8], right: &mut [u8]) {
    let len = left.len().min(right.len());
    right[..len].copy_from_slice(&left[..len]);
}

fn bits(left: &[u8], right: &mut [u8], op: impl Fn(u8, u8) -> u8) {
    for (left, right) in left.iter().zip(right) {
        *right = op(*left, *right);
    }
}

/// Values may stand at any address, so they are read and written by their bytes.
pub(super) fn each<T: Number<N>, const N: usize>(left: &[u8], right: &mut [u8], op: impl Fn(T, T) -> T) {
    for (left, right) in left.chunks_exact(N).zip(right.chunks_exact_mut(N)) {
        right.copy_from_slice(&op(T::read(left), T::read(right)).bytes());
    }
}

/// A number of `N` bytes.
pub(super) trait Number<const N: usize>: Copy + PartialOrd {
    fn read(bytes: &[u8]) -> Self;
    fn bytes(self) -> [u8; N];
    fn sum(self, other: Self) -> Self;
    fn difference(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
}

pub(super) trait Integer<const N: usize>: Number<N> {
    fn is_true(self) -> bool;
    fn truth(is: bool) -> Self;
}

macro_rules! number {
    ($type:ty, $n:literal, $sum:expr, $difference:expr, $product:expr) => {
        impl Number<$n> for $type {
            fn read(bytes: &[u8]) -> Self {
                let mut own = [0; $n];
                own.copy_from_slice(bytes);
                <$type>::from_ne_bytes(own)
            }
            fn bytes(self) -> [u8; $n] {
                self.to_ne_bytes()
            }
            fn sum(self, other: Self) -> Self {
                $sum(self, other)
            }
            fn difference(self, other: Self) -> Self {
                $difference(self, other)
            }
            fn product(self, other: Self) -> Self {
                $product(self, other)
            }
        }
    };
}

macro_rules! integer {
    ($($type:ty: $n:literal),*) => {$(
        number!($type, $n, <$type>::wrapping_add, <$type>::wrapping_sub, <$type>::wrapping_mul);
        impl Integer<$n> for $type {
            fn is_true(self) -> bool {
                self != 0
            }
            fn truth(is: bool) -> Self {
                Self::from(is)
            }
        }
    )*};
}

integer!(u8: 1, i8: 1, u16: 2, i16: 2, u32: 4, i32: 4, u64: 8, i64: 8);
number!(f32, 4, std::ops::Add::add, std::ops::Sub::sub, std::ops::Mul::mul);
number!(f64, 8, std::ops::Add::add, std::ops::Sub::sub, std::ops::Mul::mul);
