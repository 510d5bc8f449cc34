//! Dense boxes of indices and their row-major numbering.

use std::ops::Range;

use talisman_pup::{Packer, Pup, PupError, Unpacker};
use thiserror::Error;

use super::ArrayIndex;

/// The most dimensions a dense box can have, as for Charm++ arrays.
pub const MAX_DIMS: usize = 6;

/// A dense box of indices: a first coordinate and a length per dimension.
///
/// Coordinates are kept as the 64 bits of their two's complement; an unsigned coordinate above `i64::MAX` wraps,
/// which row-major numbering does not notice because it looks at differences only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    dims: u8,
    low: [i64; MAX_DIMS],
    lengths: [u64; MAX_DIMS],
    len: u64,
}

/// Why a box of indices cannot be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum BoundsError {
    /// There must be between one and [`MAX_DIMS`] dimensions.
    #[error("an array of {dims} dimensions: there may be 1 to {MAX_DIMS}")]
    Dimensions {
        /// The number asked for.
        dims: usize,
    },
    /// The product of the lengths is above `u64::MAX`.
    #[error("a box of this many elements cannot be numbered: the product of its lengths is above 2^64")]
    TooLarge,
}

impl Bounds {
    /// A box from its first coordinate and its length in each dimension, the slowest first.
    pub fn new<const N: usize>(low: [i64; N], lengths: [u64; N]) -> Result<Self, BoundsError> {
        Self::from_slices(&low, &lengths)
    }

    fn from_slices(low: &[i64], lengths: &[u64]) -> Result<Self, BoundsError> {
        let dims = low.len();
        if dims == 0 || dims > MAX_DIMS {
            return Err(BoundsError::Dimensions { dims });
        }
        let mut bounds = Bounds { dims: dims as u8, low: [0; MAX_DIMS], lengths: [1; MAX_DIMS], len: 0 };
        bounds.low[..dims].copy_from_slice(low);
        bounds.lengths[..dims].copy_from_slice(lengths);
        bounds.len = product(lengths).ok_or(BoundsError::TooLarge)?;
        Ok(bounds)
    }

    /// The number of dimensions, 1 to [`MAX_DIMS`].
    pub fn dims(&self) -> usize {
        usize::from(self.dims)
    }

    /// The first coordinate of every dimension.
    pub fn low(&self) -> &[i64] {
        &self.low[..self.dims()]
    }

    /// The length of every dimension, in elements.
    pub fn lengths(&self) -> &[u64] {
        &self.lengths[..self.dims()]
    }

    /// How many indices lie in the box.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether no index lies in the box.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The position of `index` in row-major order, which is index order; `None` when it lies outside.
    #[inline]
    pub fn ordinal<I: ArrayIndex>(&self, index: I) -> Option<u64> {
        index.ordinal(self)
    }

    /// The index at a position; `None` past the end, or when the box is not one of `I`s.
    pub fn at<I: ArrayIndex>(&self, ordinal: u64) -> Option<I> {
        I::from_ordinal(ordinal, self)
    }

    /// The indices of a range of positions, in index order; `0..bounds.len()` for all of them.
    pub fn indices<I: ArrayIndex>(&self, ordinals: Range<u64>) -> impl Iterator<Item = I> + use<I> {
        let bounds = *self;
        ordinals.map_while(move |ordinal| I::from_ordinal(ordinal, &bounds))
    }

    /// The row-major position of a point given by its coordinates.
    #[inline]
    pub(super) fn position<const N: usize>(&self, point: [i64; N]) -> Option<u64> {
        if self.dims() != N {
            return None;
        }
        let mut position = 0;
        for (d, coordinate) in point.into_iter().enumerate() {
            // One comparison for both ends: below `low` the difference wraps to a huge number.
            let offset = coordinate.wrapping_sub(self.low[d]) as u64;
            if offset >= self.lengths[d] {
                return None;
            }
            position = position * self.lengths[d] + offset;
        }
        Some(position)
    }

    /// The coordinates of the point at a row-major position.
    pub(super) fn point<const N: usize>(&self, mut position: u64) -> Option<[i64; N]> {
        if self.dims() != N || position >= self.len {
            return None;
        }
        let mut point = [0; N];
        for d in (0..N).rev() {
            point[d] = self.low[d].wrapping_add((position % self.lengths[d]) as i64);
            position /= self.lengths[d];
        }
        Some(point)
    }
}

/// The product, unless it overflows; a zero anywhere makes it zero whatever the others are.
fn product(lengths: &[u64]) -> Option<u64> {
    if lengths.contains(&0) {
        return Some(0);
    }
    lengths.iter().try_fold(1u64, |product, &length| product.checked_mul(length))
}

impl Pup for Bounds {
    const MIN_SIZE: usize = 17;

    fn pack(&self, p: &mut Packer) {
        self.dims.pack(p);
        for (low, length) in self.low().iter().zip(self.lengths()) {
            low.pack(p);
            length.pack(p);
        }
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let dims = usize::from(u8::unpack(u)?);
        let (mut low, mut lengths) = ([0; MAX_DIMS], [0; MAX_DIMS]);
        if dims > MAX_DIMS {
            return Err(u.invalid(BoundsError::Dimensions { dims }));
        }
        for d in 0..dims {
            low[d] = i64::unpack(u)?;
            lengths[d] = u64::unpack(u)?;
        }
        Self::from_slices(&low[..dims], &lengths[..dims]).map_err(|error| u.invalid(error))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use talisman_pup::{from_bytes, to_bytes};

    use super::*;

    #[test]
    fn positions_are_row_major_and_undone() {
        let bounds = Bounds::new([-1, 5, 0], [2, 3, 4]).unwrap();
        let all: Vec<(i32, i32, i32)> = bounds.indices(0..bounds.len()).collect();
        assert_eq!(all.len(), 24);
        assert!(all.is_sorted());
        assert_eq!((all[0], all[1], all[4], all[23]), ((-1, 5, 0), (-1, 5, 1), (-1, 6, 0), (0, 7, 3)));
        for (ordinal, index) in all.into_iter().enumerate() {
            assert_eq!(bounds.ordinal(index), Some(ordinal as u64));
        }
    }

    #[test]
    fn outside_is_none() {
        let bounds = Bounds::new([-1, 5], [2, 3]).unwrap();
        for outside in [(-2, 5), (1, 5), (0, 4), (0, 8), (i32::MIN, 5), (i32::MAX, i32::MAX)] {
            assert_eq!(bounds.ordinal(outside), None, "{outside:?}");
        }
        assert_eq!(bounds.ordinal((0, 5, 0)), None, "another number of dimensions");
        assert_eq!(bounds.at::<(i32, i32)>(6), None);
    }

    #[test]
    fn the_ends_of_the_integers_are_numbered() {
        let bounds = Bounds::new([i64::MAX - 1], [4]).unwrap();
        let first = i64::MAX as u64 - 1;
        assert_eq!(bounds.indices::<u64>(0..4).collect::<Vec<_>>(), (first..first + 4).collect::<Vec<_>>());
        assert_eq!(bounds.ordinal(first + 3), Some(3));
        assert_eq!(bounds.at::<u32>(0), None, "coordinates that a u32 cannot have");
    }

    #[test]
    fn impossible_boxes_are_refused() {
        assert_eq!(Bounds::new([0, 0], [1 << 32, 1 << 32]), Err(BoundsError::TooLarge));
        assert_eq!(Bounds::new([0; 7], [1; 7]), Err(BoundsError::Dimensions { dims: 7 }));
        assert_eq!(Bounds::new([], []), Err(BoundsError::Dimensions { dims: 0 }));
        assert!(Bounds::new([0, 0, 0], [0, u64::MAX, u64::MAX]).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn packed_and_back(low: [i64; 4], lengths in [0..9000u64, 0..9000u64, 0..9000u64, 0..9000u64]) {
            let bounds = Bounds::new(low, lengths).unwrap();
            prop_assert_eq!(from_bytes::<Bounds>(&to_bytes(&bounds)).unwrap(), bounds);
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            if let Ok(bounds) = from_bytes::<Bounds>(&bytes) {
                let _: Vec<(i32, i32)> = bounds.indices(0..2).collect();
            }
        }
    }
}
