//! The smallest and the largest.

use super::{Elementwise, ReduceError, Reducer};

/// The smallest number.
///
/// Of floats: `-0.0` is below `0.0`, and a NaN anywhere makes the result NaN (always the same one), as `minimum` of
/// IEEE 754-2019 does: a contribution that went wrong shows.
#[derive(Clone, Copy, Debug)]
pub struct Min;

/// The largest number; floats as for [`Min`].
#[derive(Clone, Copy, Debug)]
pub struct Max;

impl Elementwise for Min {}
impl Elementwise for Max {}

macro_rules! extreme {
    ($reducer:ident: $($t:ty)*, $of:ident) => { $(
        impl Reducer<$t> for $reducer {
            type Partial = $t;
            type Output = $t;

            fn lift(value: $t, _: u128) -> $t {
                value
            }
            #[inline]
            fn combine(total: &mut $t, next: $t) {
                *total = $reducer::$of(*total, next);
            }
            fn finish(total: $t) -> Result<$t, ReduceError> {
                // The bits of a lone NaN are not those of another.
                Ok($reducer::$of(total, total))
            }
        }
    )* };
}

extreme!(Min: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize, of_integers);
extreme!(Max: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize, of_integers);
extreme!(Min: f32 f64, of_floats);
extreme!(Max: f32 f64, of_floats);

/// What the floats have in common here.
pub(super) trait Float: Copy {
    const NAN: Self;
    fn is_nan(self) -> bool;
    fn total_order(&self, other: &Self) -> std::cmp::Ordering;
}

macro_rules! float {
    ($($t:ident)*) => { $(
        impl Float for $t {
            const NAN: Self = $t::NAN;
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            fn total_order(&self, other: &Self) -> std::cmp::Ordering {
                self.total_cmp(other)
            }
        }
    )* };
}

float!(f32 f64);

impl Min {
    fn of_integers<T: Ord>(a: T, b: T) -> T {
        a.min(b)
    }

    pub(super) fn of_floats<T: Float>(a: T, b: T) -> T {
        without_nan(a, b, a.total_order(&b).is_le())
    }
}

impl Max {
    fn of_integers<T: Ord>(a: T, b: T) -> T {
        a.max(b)
    }

    pub(super) fn of_floats<T: Float>(a: T, b: T) -> T {
        without_nan(a, b, a.total_order(&b).is_ge())
    }
}

fn without_nan<T: Float>(a: T, b: T, first: bool) -> T {
    match a.is_nan() || b.is_nan() {
        true => T::NAN,
        false if first => a,
        false => b,
    }
}
