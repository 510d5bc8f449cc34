//! The names of the elements of an array, and the boxes of names that are created at once.
//!
//! An index is a user-visible value (`(1, 2, 3)`, or a struct with `#[derive(ArrayIndex)]`); inside the runtime
//! it is 128 bits whose unsigned order is the order of the values (*array index* in the Charm++ manual, there
//! `CkArrayIndex`). Arrays created as a dense box also have *ordinals*: the position of an index in row-major order.

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
}

/// What `array.at(…)` accepts for an index of type `I`.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot index an array whose index is `{I}`")]
pub trait IntoIndex<I> {
    /// The index meant.
    ///
    /// # Panics
    /// When the value does not fit into `I`, naming both.
    fn into_index(self) -> I;
}
