//! Reducers of the user's own.

use talisman_pup::Pup;

use super::{Ordered, ReduceError, Reducer};

/// A type that takes in another of its kind: the simple way to a reducer of one's own, used with [`Merged`].
#[diagnostic::on_unimplemented(
    message = "values of type `{Self}` are not merged",
    note = "`impl Merge for {Self}` says how one takes in another; numbers have `Sum`, `Product`, `Min`, `Max`"
)]
pub trait Merge: Pup + Send + 'static {
    /// Whether values may be merged on the way, in whatever order they meet, because the result is the same *to the
    /// bit*: integer sums, minima, unions. Otherwise, as by default, all values travel to the end, where they are
    /// merged in index order; that is right for everything, and takes memory for every contribution.
    const COMMUTES: bool = false;

    /// Takes in `other`, whose contributor's index comes later unless `COMMUTES` was set.
    fn merge(&mut self, other: Self);
}

/// Merges values by their own [`Merge`].
#[derive(Clone, Copy, Debug)]
pub struct Merged;

impl<T: Merge> Reducer<T> for Merged {
    /// With `COMMUTES` never more than one value.
    type Partial = Ordered<T>;
    type Output = T;

    fn lift(value: T, at: u128) -> Ordered<T> {
        Ordered::one(value, at)
    }

    fn combine(total: &mut Ordered<T>, next: Ordered<T>) {
        total.append(next);
        if T::COMMUTES {
            total.fold_with(T::merge);
        }
    }

    fn add(total: &mut Ordered<T>, value: T, at: u128) {
        if T::COMMUTES
            && let Some(first) = total.first_mut()
        {
            return first.merge(value);
        }
        total.push(value, at);
    }

    fn finish(total: Ordered<T>) -> Result<T, ReduceError> {
        let mut values = total.into_values();
        let mut merged = values.next().ok_or(ReduceError::Empty)?;
        values.for_each(|value| merged.merge(value));
        Ok(merged)
    }
}
