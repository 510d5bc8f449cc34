//! What an array is created with: sizes, ranges, a list of indices, or nothing yet.

use std::fmt::Display;
use std::ops::{Range, RangeInclusive};

use super::{ArrayIndex, Bounds, IntoIndex};

/// What `T::array(…)` accepts: the elements to create at once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not describe the elements of an array whose index is `{I}`",
    note = "a size per dimension such as `(4, 4, 8)`, a range per dimension, a vector of indices, or `Sparse` to insert elements later"
)]
pub trait Extent<I> {
    /// The elements meant.
    ///
    /// # Panics
    /// When a size is negative, a coordinate does not fit into the index, or the elements cannot be counted in
    /// 64 bits; the message names the culprit.
    #[track_caller]
    fn elements(self) -> Elements<I>;
}

/// The elements an array starts with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Elements<I> {
    /// All indices of a dense box.
    Dense(Bounds),
    /// These, in this order; none for an array that is filled by insertion.
    Listed(Vec<I>),
}

/// No element yet: they are inserted one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sparse;

impl<I: ArrayIndex> Extent<I> for Sparse {
    fn elements(self) -> Elements<I> {
        Elements::Listed(Vec::new())
    }
}

impl<I: ArrayIndex> Extent<I> for Vec<I> {
    fn elements(self) -> Elements<I> {
        Elements::Listed(self)
    }
}

impl<I: ArrayIndex, const N: usize> Extent<I> for [I; N] {
    fn elements(self) -> Elements<I> {
        Elements::Listed(self.into())
    }
}

/// One dimension of a dense box whose coordinates are of type `I`: a size, or a range.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the size, nor a range, of a dimension of `{I}`",
    note = "an integer, `low..high` or `low..=high`"
)]
pub trait Span<I> {
    /// The first coordinate as 64 bits of two's complement, and the number of coordinates.
    #[doc(hidden)]
    #[track_caller]
    fn span(self) -> (i64, u64);
}

/// `as i64` and `as i128` below keep the value, or the bits that [`Bounds`] wants.
macro_rules! spans {
    ($($to:ty)*) => { $(
        spans!(@each $to: i32 u32 i64 u64 usize);

        impl<S: Span<$to>> Extent<$to> for S {
            fn elements(self) -> Elements<$to> {
                dense([self.span()])
            }
        }
    )* };
    (@each $to:ty: $($from:ty)*) => { $(
        impl Span<$to> for $from {
            fn span(self) -> (i64, u64) {
                // Here and below no closure panics, as it would not know the caller. Of unsigned integers all fit.
                #[allow(irrefutable_let_patterns)]
                let Ok(size) = u64::try_from(self) else { negative(self) };
                if size > 0 {
                    // The last coordinate has to be an index.
                    let _: $to = (self - 1).into_index();
                }
                (0, size)
            }
        }

        impl Span<$to> for Range<$from> {
            fn span(self) -> (i64, u64) {
                if self.is_empty() {
                    return (0, 0);
                }
                <RangeInclusive<$from> as Span<$to>>::span(self.start..=self.end - 1)
            }
        }

        impl Span<$to> for RangeInclusive<$from> {
            fn span(self) -> (i64, u64) {
                if self.is_empty() {
                    return (0, 0);
                }
                let (first, last): ($to, $to) = (self.start().into_index(), self.end().into_index());
                let length = (last as i128 - first as i128 + 1) as u128;
                let Ok(length) = u64::try_from(length) else { uncountable() };
                (first as i64, length)
            }
        }
    )* };
}

spans!(i32 u32 i64 u64 usize);

macro_rules! tuples {
    ($($index:ty: $($t:ident $i:tt),*;)*) => { $(
        impl<$($t: Span<i32>),*> Extent<$index> for ($($t,)*) {
            fn elements(self) -> Elements<$index> {
                let spans = [$(self.$i.span()),*];
                let elements = dense(spans);
                // The corners say whether every index of the box can be had at all.
                if let Elements::Dense(bounds) = &elements && !bounds.is_empty() {
                    for corner in [0, bounds.len() - 1] {
                        let corner: Option<$index> = bounds.at(corner);
                        if let Some(corner) = corner {
                            corner.to_bits();
                        }
                    }
                }
                elements
            }
        }
    )* };
}

tuples! {
    (i32,): A 0;
    (i32, i32): A 0, B 1;
    (i32, i32, i32): A 0, B 1, C 2;
    (i32, i32, i32, i32): A 0, B 1, C 2, D 3;
    (i32, i32, i32, i32, i32): A 0, B 1, C 2, D 3, E 4;
    (i32, i32, i32, i32, i32, i32): A 0, B 1, C 2, D 3, E 4, F 5;
}

#[track_caller]
fn dense<I, const N: usize>(spans: [(i64, u64); N]) -> Elements<I> {
    match Bounds::new(spans.map(|span| span.0), spans.map(|span| span.1)) {
        Ok(bounds) => Elements::Dense(bounds),
        Err(error) => panic!("{error}"),
    }
}

#[cold]
#[track_caller]
fn negative(size: impl Display) -> ! {
    panic!("the size {size} of a dimension is negative; write a range such as `-3..4` for negative indices")
}

#[cold]
#[track_caller]
fn uncountable() -> ! {
    panic!("a dimension of 2^64 elements cannot be numbered")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed<I: ArrayIndex>(extent: impl Extent<I>) -> Vec<I> {
        match extent.elements() {
            Elements::Dense(bounds) => bounds.indices(0..bounds.len()).collect(),
            Elements::Listed(indices) => indices,
        }
    }

    #[test]
    fn sizes_and_ranges() {
        assert_eq!(listed::<i32>(3), [0, 1, 2]);
        assert_eq!(listed::<u64>(3usize), [0, 1, 2]);
        assert_eq!(listed::<i32>(-1..=1), [-1, 0, 1]);
        assert!(listed::<i64>(5..5).is_empty());
        assert_eq!(listed::<(i32, i32)>((2, 7u32..9)), [(0, 7), (0, 8), (1, 7), (1, 8)]);
        assert_eq!(listed::<(i32, i32)>((2, 0usize)), []);
    }

    #[test]
    fn lists_and_nothing() {
        assert_eq!(listed(vec![(1, 2), (0, 1)]), [(1, 2), (0, 1)]);
        assert!(listed::<u64>(Sparse).is_empty());
    }

    #[test]
    #[should_panic(expected = "the size -3 of a dimension is negative")]
    fn a_negative_size() {
        listed::<i32>(-3);
    }

    #[test]
    #[should_panic(expected = "index 2147483648 is out of range")]
    fn a_size_beyond_the_index() {
        listed::<i32>((1u64 << 31) + 1);
    }

    #[test]
    #[should_panic(expected = "each of its dimensions has 21 bits")]
    fn a_box_beyond_the_index() {
        let wide: Elements<(i32, i32, i32, i32, i32, i32)> = (1, 1, 1, 1, 1, 1 << 21).elements();
        drop(wide);
    }

    #[test]
    #[should_panic(expected = "the product of its lengths is above 2^64")]
    fn too_many_elements() {
        let cube: Elements<(i32, i32, i32)> = (1 << 30, 1 << 30, 1 << 30).elements();
        drop(cube);
    }
}
