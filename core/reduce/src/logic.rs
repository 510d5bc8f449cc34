//! Logical reductions of `bool` and bitwise ones of integers.

use super::{Elementwise, ReduceError, Reducer};

macro_rules! logic {
    ($($(#[$doc:meta])* $reducer:ident $join:tt: $($t:ty)*;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $reducer;

        impl Elementwise for $reducer {}

        $(impl Reducer<$t> for $reducer {
            type Partial = $t;
            type Output = $t;

            fn lift(value: $t, _: u128) -> $t {
                value
            }
            #[inline]
            fn combine(total: &mut $t, next: $t) {
                *total $join next;
            }
            fn finish(total: $t) -> Result<$t, ReduceError> {
                Ok(total)
            }
        })*
    )* };
}

logic! {
    /// Whether all are true: the logical and.
    All &=: bool;
    /// Whether any is true: the logical or.
    Any |=: bool;
    /// Whether an odd number of them is true: the logical exclusive or.
    Xor ^=: bool;
    /// The bits that all have.
    BitAnd &=: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize;
    /// The bits that any has.
    BitOr |=: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize;
    /// The bits that an odd number of them have.
    BitXor ^=: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize;
}
