//! Arrays and vectors, reduced element by element.

use talisman_pup::{Packer, Pup, PupError, Unpacker};

use super::{ReduceError, Reducer};

/// Reducers that take arrays `[T; N]` and rows `Vec<T>` element by element wherever they take a `T`.
///
/// All rows of one reduction must have the same length; otherwise its result is [`ReduceError::RowLengths`].
pub trait Elementwise: Copy + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T, R: Reducer<T> + Elementwise, const N: usize> Reducer<[T; N]> for R {
    type Partial = [R::Partial; N];
    type Output = [R::Output; N];

    fn lift(value: [T; N], at: u128) -> Self::Partial {
        value.map(|cell| R::lift(cell, at))
    }

    fn combine(total: &mut Self::Partial, next: Self::Partial) {
        total.iter_mut().zip(next).for_each(|(total, next)| R::combine(total, next));
    }

    fn add(total: &mut Self::Partial, value: [T; N], at: u128) {
        total.iter_mut().zip(value).for_each(|(total, cell)| R::add(total, cell, at));
    }

    fn finish(total: Self::Partial) -> Result<Self::Output, ReduceError> {
        let row: Vec<R::Output> = total.into_iter().map(R::finish).collect::<Result<_, _>>()?;
        // The vector was made of an array of `N`, so there is no second case.
        row.try_into().map_err(|_| ReduceError::Empty)
    }
}

/// A row of partial results, one a column; without columns once two lengths met.
#[derive(Clone, Debug)]
pub struct Row<P> {
    columns: Vec<P>,
    shortest: usize,
    longest: usize,
}

impl<P> Row<P> {
    fn new(columns: Vec<P>) -> Self {
        Row { shortest: columns.len(), longest: columns.len(), columns }
    }

    /// Notes the lengths of another row; says whether its columns can join those here.
    fn matches(&mut self, shortest: usize, longest: usize) -> bool {
        self.shortest = self.shortest.min(shortest);
        self.longest = self.longest.max(longest);
        if self.shortest == self.longest {
            return true;
        }
        self.columns = Vec::new();
        false
    }
}

#[diagnostic::do_not_recommend]
impl<T, R: Reducer<T> + Elementwise> Reducer<Vec<T>> for R {
    type Partial = Row<R::Partial>;
    type Output = Vec<R::Output>;

    fn lift(value: Vec<T>, at: u128) -> Self::Partial {
        Row::new(value.into_iter().map(|cell| R::lift(cell, at)).collect())
    }

    fn combine(total: &mut Self::Partial, next: Self::Partial) {
        if total.matches(next.shortest, next.longest) {
            total.columns.iter_mut().zip(next.columns).for_each(|(total, next)| R::combine(total, next));
        }
    }

    fn add(total: &mut Self::Partial, value: Vec<T>, at: u128) {
        if total.matches(value.len(), value.len()) {
            total.columns.iter_mut().zip(value).for_each(|(total, cell)| R::add(total, cell, at));
        }
    }

    fn finish(total: Self::Partial) -> Result<Self::Output, ReduceError> {
        let Row { columns, shortest, longest } = total;
        if shortest != longest {
            return Err(ReduceError::RowLengths { shortest, longest });
        }
        columns.into_iter().map(R::finish).collect()
    }
}

impl<P: Pup> Pup for Row<P> {
    const MIN_SIZE: usize = 16;

    fn pack(&self, p: &mut Packer) {
        self.shortest.pack(p);
        self.longest.pack(p);
        P::pack_slice(&self.columns, p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let (shortest, longest) = (usize::unpack(u)?, usize::unpack(u)?);
        if shortest > longest {
            return Err(u.invalid("the shortest row is longer than the longest"));
        }
        let columns = if shortest == longest { P::unpack_vec(shortest, u)? } else { Vec::new() };
        Ok(Row { columns, shortest, longest })
    }
}
