//! The names of the elements of an array, and the boxes of names that are created at once.
//!
//! An index is a user-visible value (`(1, 2, 3)`, or a struct with `#[derive(ArrayIndex)]`); inside the runtime
//! it is 128 bits whose unsigned order is the order of the values (*array index* in the Charm++ manual, there
//! `CkArrayIndex`). Arrays created as a dense box also have *ordinals*: the position of an index in row-major order.
//!
//! ```
//! # extern crate talisman_base as talisman;
//! use talisman::index::{ArrayIndex, Elements, Extent};
//!
//! assert!((-1, 5).to_bits() < (0, -5).to_bits()); // as `(-1, 5) < (0, -5)`
//!
//! // What `T::array((2, 5..8))` creates: two rows of three.
//! let elements: Elements<(i32, i32)> = (2, 5..8).elements();
//! let Elements::Dense(bounds) = elements else { panic!("sizes and ranges make a dense box") };
//! assert_eq!(bounds.len(), 6);
//! assert_eq!(bounds.ordinal((1, 5)), Some(3));
//! assert_eq!(bounds.at(3), Some((1, 5)));
//! ```

mod bounds;
mod extent;
mod integers;
mod tuples;

use std::fmt::Debug;

use talisman_pup::Pup;

pub use bounds::{Bounds, BoundsError, MAX_DIMS};
pub use extent::{Elements, Extent, Span, Sparse};

/// The name of an element within its array: at most 128 bits.
///
/// `to_bits` must keep the order: `a < b` exactly when `a.to_bits() < b.to_bits()`. Reductions and iterations rely
/// on it. `from_bits` undoes `to_bits`; given other bits (from a damaged message) it returns any value, and must
/// not panic.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array index",
    note = "integers, tuples of up to six `i32`, or a struct with `#[derive(ArrayIndex)]`"
)]
pub trait ArrayIndex: Copy + Ord + Debug + Pup + Send + 'static {
    /// The index as bits whose unsigned order is the order of the indices.
    #[track_caller]
    fn to_bits(self) -> u128;

    /// The index that `to_bits` made these bits from.
    fn from_bits(bits: u128) -> Self;

    /// The position of this index in `bounds`, in row-major order; `None` when it lies outside, and for kinds of
    /// index that have no dense boxes (those with a derived impl).
    #[inline]
    fn ordinal(self, bounds: &Bounds) -> Option<u64> {
        let _ = bounds;
        None
    }

    /// The index at a position in `bounds`; `None` past the end, and for kinds of index without dense boxes.
    fn from_ordinal(ordinal: u64, bounds: &Bounds) -> Option<Self> {
        let _ = (ordinal, bounds);
        None
    }

    /// Where in space the element is, for load balancing that keeps neighbours together: its coordinates if there are one to
    /// three, none otherwise. `Cx::set_position` overrules it.
    fn position(self) -> Option<[f32; 3]> {
        None
    }
}

/// What `array.at(…)` accepts for an index of type `I`.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot index an array whose index is `{I}`")]
pub trait IntoIndex<I> {
    /// The index meant.
    ///
    /// # Panics
    /// When the value does not fit into `I`, naming both.
    #[track_caller]
    fn into_index(self) -> I;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With what the derive writes, and no more.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Pup)]
    struct Site {
        level: u8,
        code: u64,
    }

    impl ArrayIndex for Site {
        fn to_bits(self) -> u128 {
            u128::from(self.level) << 64 | u128::from(self.code)
        }
        fn from_bits(bits: u128) -> Self {
            Site { level: (bits >> 64) as u8, code: bits as u64 }
        }
    }

    impl IntoIndex<Site> for Site {
        fn into_index(self) -> Site {
            self
        }
    }

    #[test]
    fn a_derived_index_is_sparse() {
        let site = Site { level: 1, code: 2 };
        assert_eq!(vec![site].elements(), Elements::Listed(vec![site]));
        assert_eq!(Extent::<Site>::elements(Sparse), Elements::Listed(vec![]));
        let bounds = Bounds::new([0], [9]).unwrap();
        assert_eq!((bounds.ordinal(site), bounds.at::<Site>(3)), (None, None));
        assert_eq!(format!("{:?}", Site::from_bits(site.to_bits())), "Site { level: 1, code: 2 }");
    }
}
