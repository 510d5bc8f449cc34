//! Plain integers as indices.

use super::{ArrayIndex, Bounds, IntoIndex};

/// Signed integers keep their order as unsigned bits when the sign bit is flipped.
macro_rules! signed {
    ($($t:ty, $unsigned:ty;)*) => { $(
        impl ArrayIndex for $t {
            fn to_bits(self) -> u128 {
                u128::from(self as $unsigned ^ (1 << (<$t>::BITS - 1)))
            }
            fn from_bits(bits: u128) -> Self {
                (bits as $unsigned ^ (1 << (<$t>::BITS - 1))) as $t
            }
            dense!();
        }
    )* };
}

macro_rules! unsigned {
    ($($t:ty)*) => { $(
        impl ArrayIndex for $t {
            fn to_bits(self) -> u128 {
                self as u128
            }
            fn from_bits(bits: u128) -> Self {
                bits as $t
            }
            dense!();
        }
    )* };
}

macro_rules! dense {
    () => {
        #[inline]
        fn ordinal(self, bounds: &Bounds) -> Option<u64> {
            bounds.position([self as i64])
        }
        fn from_ordinal(ordinal: u64, bounds: &Bounds) -> Option<Self> {
            let [coordinate] = bounds.point(ordinal)?;
            let index = coordinate as Self;
            // Bounds that came from elsewhere may hold coordinates that this integer does not have.
            (index as i64 == coordinate).then_some(index)
        }
        fn position(self) -> Option<[f32; 3]> {
            Some([self as f32, 0.0, 0.0])
        }
    };
}

signed!(i32, u32; i64, u64;);
unsigned!(u32 u64 usize);

/// An index may be given as any of the usual integers.
macro_rules! into_index {
    ($($to:ty)*) => { $(into_index!(@ $to: i32 u32 i64 u64 usize);)* };
    (@ $to:ty: $($from:ty)*) => { $(
        impl IntoIndex<$to> for $from {
            #[inline]
            fn into_index(self) -> $to {
                // The conversion is the identity for one of the pairs.
                #[allow(clippy::useless_conversion, irrefutable_let_patterns)]
                let Ok(index) = <$to>::try_from(self) else { out_of_range(self, stringify!($to)) };
                index
            }
        }
    )* };
}

into_index!(i32 u32 i64 u64 usize);

#[cold]
#[track_caller]
fn out_of_range(index: impl std::fmt::Display, wanted: &str) -> ! {
    panic!("index {index} is out of range: the index of this array is of type {wanted}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bits_keep_the_order<I: ArrayIndex>(a: I, b: I) -> Result<(), TestCaseError> {
        prop_assert_eq!(a.cmp(&b), a.to_bits().cmp(&b.to_bits()));
        prop_assert_eq!(I::from_bits(a.to_bits()), a);
        Ok(())
    }

    proptest! {
        #[test]
        fn order_i32(a: i32, b: i32) { bits_keep_the_order(a, b)? }
        #[test]
        fn order_u32(a: u32, b: u32) { bits_keep_the_order(a, b)? }
        #[test]
        fn order_i64(a: i64, b: i64) { bits_keep_the_order(a, b)? }
        #[test]
        fn order_u64(a: u64, b: u64) { bits_keep_the_order(a, b)? }
        #[test]
        fn order_usize(a: usize, b: usize) { bits_keep_the_order(a, b)? }
        #[test]
        fn any_bits_are_survived(bits: u128) {
            let _ = (i32::from_bits(bits), u64::from_bits(bits));
        }
    }

    #[test]
    #[should_panic(expected = "index 4294967296 is out of range: the index of this array is of type i32")]
    fn too_large_an_index_is_named() {
        let _: i32 = (1u64 << 32).into_index();
    }
}
