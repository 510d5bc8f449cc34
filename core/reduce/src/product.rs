//! Products.

use talisman_pup::Pup;

use super::{Elementwise, Ordered, ReduceError, Reducer};

/// The product: of integers, which must fit their type at the end only; of floats, multiplied in index order.
///
/// The floats are kept until the end, 8 bytes and an index each: a rounded product depends on the order.
#[derive(Clone, Copy, Debug)]
pub struct Product;

impl Elementwise for Product {}

/// A product of integers, still wide.
///
/// The magnitude without the zeros saturates; it only ever grows, so it saturates in every order or in none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pup)]
pub struct IntegerProduct {
    magnitude: u128,
    negative: bool,
    zero: bool,
}

impl IntegerProduct {
    fn of(value: i128) -> Self {
        IntegerProduct { magnitude: value.unsigned_abs().max(1), negative: value < 0, zero: value == 0 }
    }

    fn times(&mut self, other: Self) {
        self.magnitude = self.magnitude.saturating_mul(other.magnitude);
        self.negative ^= other.negative;
        self.zero |= other.zero;
    }

    /// The value; `None` when it is outside 128 bits.
    fn value(self) -> Option<i128> {
        if self.zero {
            return Some(0);
        }
        let value = i128::try_from(self.magnitude).ok()?;
        Some(if self.negative { -value } else { value })
    }
}

macro_rules! integers {
    ($($t:ty)*) => { $(
        impl Reducer<$t> for Product {
            type Partial = IntegerProduct;
            type Output = $t;

            fn lift(value: $t, _: u128) -> IntegerProduct {
                IntegerProduct::of(value as i128)
            }
            fn combine(total: &mut IntegerProduct, next: IntegerProduct) {
                total.times(next);
            }
            fn finish(total: IntegerProduct) -> Result<$t, ReduceError> {
                let value = total.value().and_then(|value| <$t>::try_from(value).ok());
                value.ok_or(ReduceError::Overflow { what: "product", of: stringify!($t) })
            }
        }
    )* };
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

macro_rules! floats {
    ($($t:ty)*) => { $(
        impl Reducer<$t> for Product {
            type Partial = Ordered<$t>;
            type Output = $t;

            fn lift(value: $t, at: u128) -> Ordered<$t> {
                Ordered::one(value, at)
            }
            fn combine(total: &mut Ordered<$t>, next: Ordered<$t>) {
                total.append(next);
            }
            fn add(total: &mut Ordered<$t>, value: $t, at: u128) {
                total.push(value, at);
            }
            fn finish(total: Ordered<$t>) -> Result<$t, ReduceError> {
                let product: $t = total.into_values().product();
                Ok(if product.is_nan() { <$t>::NAN } else { product })
            }
        }
    )* };
}

floats!(f64 f32);
