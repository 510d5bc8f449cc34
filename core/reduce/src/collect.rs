//! Reducers that keep all the values, or none.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use talisman_pup::Pup;

use super::{Ordered, ReduceError, Reducer};
use talisman_base::index::ArrayIndex;

/// Every value, in the order of the contributors' indices.
#[derive(Clone, Copy, Debug)]
pub struct Concat;

impl<T: Pup + Send + 'static> Reducer<T> for Concat {
    type Partial = Ordered<T>;
    type Output = Vec<T>;

    fn lift(value: T, at: u128) -> Ordered<T> {
        Ordered::one(value, at)
    }

    fn combine(total: &mut Ordered<T>, next: Ordered<T>) {
        total.append(next);
    }

    fn add(total: &mut Ordered<T>, value: T, at: u128) {
        total.push(value, at);
    }

    fn finish(total: Ordered<T>) -> Result<Vec<T>, ReduceError> {
        Ok(total.into_values().collect())
    }
}

/// Every value with its contributor's index, in index order: `Gather::new()`, where the type of the index `I` follows
/// from the result, `Vec<(I, T)>`.
pub struct Gather<I>(PhantomData<fn() -> I>);

impl<I> Gather<I> {
    /// The reducer, for contributors whose index is an `I`.
    pub const fn new() -> Self {
        Gather(PhantomData)
    }
}

impl<I> Default for Gather<I> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I> Clone for Gather<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Gather<I> {}

impl<I> fmt::Debug for Gather<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gather")
    }
}

impl<I: ArrayIndex, T: Pup + Send + 'static> Reducer<T> for Gather<I> {
    type Partial = Ordered<T>;
    type Output = Vec<(I, T)>;

    fn lift(value: T, at: u128) -> Ordered<T> {
        Ordered::one(value, at)
    }

    fn combine(total: &mut Ordered<T>, next: Ordered<T>) {
        total.append(next);
    }

    fn add(total: &mut Ordered<T>, value: T, at: u128) {
        total.push(value, at);
    }

    fn finish(total: Ordered<T>) -> Result<Vec<(I, T)>, ReduceError> {
        Ok(total.into_entries().map(|(at, value)| (I::from_bits(at), value)).collect())
    }
}

/// The distinct values, in their own order.
#[derive(Clone, Copy, Debug)]
pub struct Set;

impl<T: Ord + Pup + Send + 'static> Reducer<T> for Set {
    type Partial = BTreeSet<T>;
    type Output = BTreeSet<T>;

    fn lift(value: T, _: u128) -> BTreeSet<T> {
        BTreeSet::from([value])
    }

    fn combine(total: &mut BTreeSet<T>, mut next: BTreeSet<T>) {
        if next.len() > total.len() {
            std::mem::swap(total, &mut next);
        }
        total.extend(next);
    }

    fn add(total: &mut BTreeSet<T>, value: T, _: u128) {
        total.insert(value);
    }

    fn finish(total: BTreeSet<T>) -> Result<BTreeSet<T>, ReduceError> {
        Ok(total)
    }
}

/// No value: only that everyone was there.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Reducer<()> for Nothing {
    type Partial = ();
    type Output = ();

    fn lift(_: (), _: u128) {}

    fn combine(_: &mut (), _: ()) {}

    fn finish(_: ()) -> Result<(), ReduceError> {
        Ok(())
    }
}
