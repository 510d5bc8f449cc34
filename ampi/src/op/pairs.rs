//! The largest or smallest value and where it is (MPI-3.1, 5.9.4).

use talisman_pup::Pup;

use super::extended::F80;
use super::predefined::{Number, each};
use crate::datatype::{Basic, BuildError, Datatype};

/// Which value of pairs of a value and an index is sought. Of equal values the lower index counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Location {
    /// `MPI_MAXLOC`.
    Max,
    /// `MPI_MINLOC`.
    Min,
}

impl Location {
    /// The datatype of pairs of such a value and an `i32`, as a compiler of C lays it out (`MPI_DOUBLE_INT` and its
    /// kin).
    ///
    /// # Errors
    /// Never for predefined values: their displacements are small.
    pub fn datatype(value: Basic) -> Result<Datatype, BuildError> {
        let (value, index) = (Datatype::of(value), Datatype::of(Basic::I32));
        let at = i64::max(value.extent().1, 4);
        Datatype::structure(&[(1, &value), (1, &index)], &[0, at]).map(|pair| pair.padded())
    }

    /// The offset of the index and the length of a pair, in bytes.
    pub fn layout(value: Basic) -> (usize, usize) {
        let index = value.size().max(4);
        let align = value.size().max(4);
        (index as usize, (index + 4).next_multiple_of(align) as usize)
    }

    /// `right[i] = left[i] op right[i]` on pairs with such a value. Returns whether such pairs exist.
    pub fn apply(self, value: Basic, left: &[u8], right: &mut [u8]) -> bool {
        match value {
            Basic::I16 => self.pairs::<i16, 2>(value, left, right),
            Basic::I32 => self.pairs::<i32, 4>(value, left, right),
            Basic::I64 | Basic::Long => self.pairs::<i64, 8>(value, left, right),
            Basic::F32 => self.pairs::<f32, 4>(value, left, right),
            Basic::F64 => self.pairs::<f64, 8>(value, left, right),
            Basic::F80 => self.pairs::<F80, 16>(value, left, right),
            _ => return false,
        }
        true
    }

    /// The same on pairs of two such values, the second of which is the index (`MPI_2DOUBLE_PRECISION` and its kin of
    /// Fortran). Returns whether such pairs exist.
    pub fn apply_two(self, value: Basic, left: &[u8], right: &mut [u8]) -> bool {
        match value {
            Basic::I32 => self.twos::<i32, 4>(left, right),
            Basic::F32 => self.twos::<f32, 4>(left, right),
            Basic::F64 => self.twos::<f64, 8>(left, right),
            _ => return false,
        }
        true
    }

    fn twos<T: Number<N>, const N: usize>(self, left: &[u8], right: &mut [u8]) {
        for (left, right) in left.chunks_exact(2 * N).zip(right.chunks_exact_mut(2 * N)) {
            let (a, b) = (T::read(&left[..N]), T::read(&right[..N]));
            let is_before = T::read(&left[N..]) < T::read(&right[N..]);
            if self.is_better(a, b) || (a == b && is_before) {
                right.copy_from_slice(left);
            }
        }
    }

    fn is_better<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Location::Max => a > b,
            Location::Min => a < b,
        }
    }

    fn pairs<T: Number<N>, const N: usize>(self, value: Basic, left: &[u8], right: &mut [u8]) {
        let (index, pair) = Location::layout(value);
        for (left, right) in left.chunks_exact(pair).zip(right.chunks_exact_mut(pair)) {
            let (a, b) = (T::read(&left[..N]), T::read(&right[..N]));
            if self.is_better(a, b) {
                right.copy_from_slice(left);
            } else if a == b {
                each::<i32, 4>(&left[index..index + 4], &mut right[index..index + 4], i32::min);
            }
        }
    }
}
