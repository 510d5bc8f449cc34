//! Tuples of one to six `i32` as indices of as many dimensions.

use super::{ArrayIndex, Bounds, IntoIndex};

/// `$bits` a dimension: all 32 where they fit into 128 bits together, an equal share where they do not.
macro_rules! tuple {
    ($bits:literal: $($t:ident $i:tt $x:ident),*) => {
        impl ArrayIndex for ($(replace!($t i32),)*) {
            #[inline]
            fn to_bits(self) -> u128 {
                let mut bits = 0;
                $(
                    let Some(coordinate) = biased::<$bits>(self.$i) else { too_wide(self, $bits) };
                    bits = bits << $bits | coordinate;
                )*
                bits
            }

            fn from_bits(bits: u128) -> Self {
                const DIMS: usize = [$($i),*].len();
                ($(unbiased::<$bits>(bits >> ($bits * (DIMS - 1 - $i))),)*)
            }

            #[inline]
            fn ordinal(self, bounds: &Bounds) -> Option<u64> {
                bounds.position([$(i64::from(self.$i)),*])
            }

            fn from_ordinal(ordinal: u64, bounds: &Bounds) -> Option<Self> {
                let [$($x),*] = bounds.point(ordinal)?;
                Some(($(i32::try_from($x).ok()?,)*))
            }

            fn position(self) -> Option<[f32; 3]> {
                let ($($x,)*) = self;
                in_space(&[$($x),*])
            }
        }

        impl<$($t: IntoIndex<i32>),*> IntoIndex<($(replace!($t i32),)*)> for ($($t,)*) {
            #[inline]
            fn into_index(self) -> ($(replace!($t i32),)*) {
                ($(self.$i.into_index(),)*)
            }
        }
    };
}

macro_rules! replace {
    ($old:ident $new:ident) => {
        $new
    };
}

tuple!(32: A 0 a);
tuple!(32: A 0 a, B 1 b);
tuple!(32: A 0 a, B 1 b, C 2 c);
tuple!(32: A 0 a, B 1 b, C 2 c, D 3 d);
tuple!(25: A 0 a, B 1 b, C 2 c, D 3 d, E 4 e);
tuple!(21: A 0 a, B 1 b, C 2 c, D 3 d, E 4 e, F 5 f);

/// The point of one to three coordinates.
fn in_space(index: &[i32]) -> Option<[f32; 3]> {
    let mut position = [0.0; 3];
    let coordinates = position.get_mut(..index.len())?;
    coordinates.iter_mut().zip(index).for_each(|(coordinate, index)| *coordinate = *index as f32);
    Some(position)
}

/// A coordinate as `BITS` unsigned bits in the same order; `None` when it needs more.
#[inline]
fn biased<const BITS: u32>(coordinate: i32) -> Option<u128> {
    let shifted = (i64::from(coordinate) + (1 << (BITS - 1))) as u64;
    (shifted >> BITS == 0).then_some(u128::from(shifted))
}

fn unbiased<const BITS: u32>(bits: u128) -> i32 {
    let shifted = bits as i64 & ((1 << BITS) - 1);
    (shifted - (1 << (BITS - 1))) as i32
}

#[cold]
#[track_caller]
fn too_wide(index: impl std::fmt::Debug, bits: u32) -> ! {
    let limit = 1i64 << (bits - 1);
    panic!(
        "index {index:?} is out of range: each of its dimensions has {bits} bits, {} to {}",
        -limit,
        limit - 1
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NARROW: std::ops::Range<i32> = -(1 << 20)..1 << 20;

    proptest! {
        #[test]
        fn bits_keep_the_order_3(a: (i32, i32, i32), b: (i32, i32, i32)) {
            prop_assert_eq!(a.cmp(&b), a.to_bits().cmp(&b.to_bits()));
            prop_assert_eq!(<(i32, i32, i32)>::from_bits(a.to_bits()), a);
        }

        #[test]
        fn bits_keep_the_order_6(
            a in (NARROW, NARROW, NARROW, NARROW, NARROW, NARROW),
            b in (NARROW, NARROW, NARROW, NARROW, NARROW, NARROW),
        ) {
            prop_assert_eq!(a.cmp(&b), a.to_bits().cmp(&b.to_bits()));
            prop_assert_eq!(<(i32, i32, i32, i32, i32, i32)>::from_bits(a.to_bits()), a);
        }

        #[test]
        fn any_bits_are_survived(bits: u128) {
            let _ = <(i32, i32, i32, i32, i32)>::from_bits(bits);
            let _ = <(i32,)>::from_bits(bits);
        }
    }

    #[test]
    fn mixed_integers_are_an_index() {
        let index: (i32, i32) = (3usize, -4i64).into_index();
        assert_eq!(index, (3, -4));
    }

    #[test]
    fn one_to_three_dimensions_are_a_place() {
        assert_eq!((7,).position(), Some([7.0, 0.0, 0.0]));
        assert_eq!((-1, 2).position(), Some([-1.0, 2.0, 0.0]));
        assert_eq!((1, 2, 3).position(), Some([1.0, 2.0, 3.0]));
        assert_eq!((1, 2, 3, 4).position(), None);
        assert_eq!((1, 2, 3, 4, 5, 6).position(), None);
    }

    #[test]
    fn a_negative_index_comes_first() {
        assert!((-1, 7).to_bits() < (0, -7).to_bits());
        assert!((0, 0, 0, 0, -1).to_bits() < (0, 0, 0, 0, 0).to_bits());
    }

    #[test]
    #[should_panic(expected = "(0, 0, 0, 0, 0, 1048576) is out of range: each of its dimensions has 21 bits")]
    fn too_wide_an_index_is_named() {
        (0, 0, 0, 0, 0, 1 << 20).to_bits();
    }
}
