//! Reductions: how the contributions of many elements become one value.
//!
//! A [`Reducer`] turns each contribution into a partial result (*lift*), joins partial results wherever they meet on
//! their way up the tree (*combine*), and makes the result of the last one (*finish*). Messages come in any order and
//! trees change their shape when objects move or PEs are lost, so joining has to be associative and commutative *to
//! the bit*. The reducers here keep that promise: a floating-point sum is exact until the end ([`ExactSum`]),
//! and what depends on order (concatenation, products of floats, merges of the user's own) is put in the order
//! of the contributors' indices. The Charm++ manual calls these *reducers* too (`CkReduction::sum_double` and so on).
//!
//! | reducer | of | gives |
//! |---|---|---|
//! | [`Sum`], [`Product`], [`Min`], [`Max`] | numbers | a number; an integer that does not fit is an error |
//! | [`All`], [`Any`], [`Xor`] | `bool` | `bool` |
//! | [`BitAnd`], [`BitOr`], [`BitXor`] | integers | an integer |
//! | [`Stats`] | `f64` | [`Statistics`] |
//! | any of these | arrays `[T; N]` and rows `Vec<T>`, nested too | the same, element by element |
//! | [`Concat`] | anything | `Vec<T>` in index order |
//! | [`Gather`] | anything | `Vec<(I, T)>` in index order |
//! | [`Set`] | `Ord` values | the distinct ones, a `BTreeSet<T>` |
//! | [`Merged`] | types with `impl Merge` | one of them |
//! | [`Nothing`] | `()` | `()`: only that everyone was there |
//! | a tuple of reducers | a tuple of as many values | a tuple |
//!
//! One's own reducer is a type with [`Merge`], or, where the partial result differs from the value, an `impl Reducer`:
//!
//! ```
//! # extern crate talisman_core as talisman;
//! use talisman::pup::Pup;
//! use talisman::reduce::{Merge, Merged, Reducer, Sum};
//!
//! /// How many values fell into each of four bins.
//! #[derive(Pup, PartialEq, Debug)]
//! struct Histogram([u64; 4]);
//!
//! impl Merge for Histogram {
//!     const COMMUTES: bool = true; // integers: the order changes nothing
//!     fn merge(&mut self, other: Self) {
//!         self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
//!     }
//! }
//!
//! # fn main() -> Result<(), talisman::reduce::ReduceError> {
//! // What the runtime does with two contributions, of the elements with index bits 7 and 3.
//! let mut partial = Merged::lift(Histogram([1, 0, 0, 0]), 7);
//! Merged::add(&mut partial, Histogram([0, 0, 2, 0]), 3);
//! assert_eq!(Merged::finish(partial)?, Histogram([1, 0, 2, 0]));
//!
//! // A sum of floats loses nothing on the way.
//! let mut partial = Sum::lift(vec![1.0, 1e100], 0);
//! Sum::add(&mut partial, vec![1e-20, 1.0], 1);
//! Sum::add(&mut partial, vec![-1.0, -1e100], 2);
//! assert_eq!(<Sum as Reducer<Vec<f64>>>::finish(partial)?, [1e-20, 1.0]);
//! # Ok(())
//! # }
//! ```

mod collect;
mod erased;
mod exact;
mod extremes;
mod logic;
mod merged;
mod ordered;
mod product;
mod rows;
mod stats;
mod sum;
mod tuples;

use talisman_pup::{Pup, PupError};
use thiserror::Error;

pub use collect::{Concat, Gather, Nothing, Set};
pub use erased::{AnyPartial, ReduceInfo, register_reducer};
pub use exact::ExactSum;
pub use extremes::{Max, Min};
pub use logic::{All, Any, BitAnd, BitOr, BitXor, Xor};
pub use merged::{Merge, Merged};
pub use ordered::Ordered;
pub use product::{IntegerProduct, Product};
pub use rows::{Elementwise, Row};
pub use stats::{Moments, Statistics, Stats};
pub use sum::Sum;

/// How values of type `T` become one.
///
/// The laws: `combine` is associative and commutative to the bit, and `add(p, v, at)` does what
/// `combine(p, lift(v, at))` does. Then the result is the same in every run.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot reduce values of type `{T}`",
    note = "`Sum`, `Min`, `Max` take numbers, arrays and vectors of numbers; `Merged` takes any type with `impl Merge`; a tuple of values takes a tuple of reducers"
)]
pub trait Reducer<T>: Copy + Send + 'static {
    /// What travels up the tree.
    type Partial: Pup + Send + 'static;
    /// What the callback gets.
    type Output: Pup + Send + 'static;

    /// One contribution as a partial result; `at` is the contributor's index as order-preserving bits.
    fn lift(value: T, at: u128) -> Self::Partial;

    /// Joins two partial results: associative and commutative to the bit, because they meet in any order.
    fn combine(total: &mut Self::Partial, next: Self::Partial);

    /// Takes in one more contribution; overridden where that is cheaper than `lift` and `combine`.
    #[inline]
    fn add(total: &mut Self::Partial, value: T, at: u128) {
        Self::combine(total, Self::lift(value, at));
    }

    /// The result.
    ///
    /// # Errors
    /// What could only be known at the end, such as an integer sum that does not fit its type.
    fn finish(total: Self::Partial) -> Result<Self::Output, ReduceError>;
}

/// Why a reduction has no result.
#[derive(Debug, Error)]
pub enum ReduceError {
    /// Rows are reduced column by column, so all need the same length.
    #[error("rows of different lengths, {shortest} to {longest}, cannot be reduced column by column")]
    RowLengths {
        /// The length of the shortest row.
        shortest: usize,
        /// The length of the longest row.
        longest: usize,
    },
    /// An integer result is outside its type.
    #[error("the {what} is too large for {of}; contribute a wider integer, or floating-point numbers")]
    Overflow {
        /// `sum` or `product`.
        what: &'static str,
        /// The type of the values.
        of: &'static str,
    },
    /// A broadcast whose answers are reduced found no element.
    #[error("there is no element, so the result has no value")]
    Nobody,
    /// A partial result without a contribution: only damaged or forged bytes have that.
    #[error("a partial result holds no contribution")]
    Empty,
    /// Partial results of two different reductions met.
    #[error("a partial result of `{found}` cannot join one of `{wanted}`")]
    Mismatch {
        /// The reducer and value type of the reduction.
        wanted: String,
        /// Those of the partial result or value that came.
        found: String,
    },
    /// A partial result came from elsewhere, its reducer is none that the program lists, and nothing in this process has
    /// used it.
    #[error(
        "no reducer with the id {id:#018x} is known in this process; if a shared library uses it, call \
         `talisman::reduce::register_reducer::<Value, Reducer>()` at the start of every process"
    )]
    Unknown {
        /// The id on the wire.
        id: u64,
    },
    /// Two reducers have the same id.
    #[error(
        "the reducers `{first}` and `{second}` have the same id on the wire; rename a type of one of them"
    )]
    Clash {
        /// The reducer and value type that came first.
        first: &'static str,
        /// Those that came later.
        second: &'static str,
    },
    /// A packed value or partial result is damaged.
    #[error("a packed contribution cannot be read: {0}")]
    Packed(#[from] PupError),
}

#[cfg(test)]
mod tests;
