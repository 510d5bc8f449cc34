//! Sums.

use super::{Elementwise, ExactSum, ReduceError, Reducer};

/// The sum: of integers, which must fit their type at the end only; of floats, exact and rounded once at the end.
#[derive(Clone, Copy, Debug)]
pub struct Sum;

impl Elementwise for Sum {}

macro_rules! integers {
    ($($t:ty)*) => { $(
        impl Reducer<$t> for Sum {
            /// Wide enough for 2^63 contributions.
            type Partial = i128;
            type Output = $t;

            fn lift(value: $t, _: u128) -> i128 {
                value as i128
            }
            fn combine(total: &mut i128, next: i128) {
                // Only forged partial results can wrap.
                *total = total.wrapping_add(next);
            }
            fn finish(total: i128) -> Result<$t, ReduceError> {
                let overflow = ReduceError::Overflow { what: "sum", of: stringify!($t) };
                <$t>::try_from(total).map_err(|_| overflow)
            }
        }
    )* };
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

macro_rules! floats {
    ($($t:ty, $round:ident;)*) => { $(
        impl Reducer<$t> for Sum {
            type Partial = ExactSum;
            type Output = $t;

            fn lift(value: $t, _: u128) -> ExactSum {
                let mut sum = ExactSum::new();
                sum.add(value.into());
                sum
            }
            fn combine(total: &mut ExactSum, next: ExactSum) {
                total.merge(&next);
            }
            #[inline]
            fn add(total: &mut ExactSum, value: $t, _: u128) {
                total.add(value.into());
            }
            fn finish(total: ExactSum) -> Result<$t, ReduceError> {
                Ok(total.$round())
            }
        }
    )* };
}

floats!(f64, to_f64; f32, to_f32;);
