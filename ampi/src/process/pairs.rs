//! Combining pairs of a value and an index, in any datatype that has nothing but these (MPI-4.1, 6.9.4 and 12.3.4).

use super::PerformError;
use crate::datatype::{Basic, Datatype};
use crate::op::Location;

/// How the values of a pair lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    /// Two of a kind.
    Two(Basic),
    /// A value and an `i32`, as a compiler of C lays them out.
    Mixed(Basic),
}

impl Pair {
    /// Bytes from one to the next.
    fn len(self) -> usize {
        match self {
            Pair::Two(basic) => 2 * basic.size() as usize,
            Pair::Mixed(value) => Location::layout(value).1,
        }
    }

    fn combine(self, op: Location, left: &[u8], right: &mut [u8]) -> bool {
        match self {
            Pair::Two(basic) => op.apply_two(basic, left, right),
            Pair::Mixed(value) => op.apply(value, left, right),
        }
    }
}

/// `right[i] = left[i] op right[i]`.
pub(super) fn pairs(
    op: Location,
    datatype: &Datatype,
    count: u64,
    left: &[u8],
    right: &mut [u8],
    origin: usize,
) -> Result<(), PerformError> {
    let mut all_fit = true;
    for step in 0..count as i64 {
        let has_only_pairs = each_pair(datatype, step * datatype.extent().1, &mut |at, pair| {
            let at = origin.wrapping_add_signed(at as isize);
            let len = pair.len();
            // The last one need not have the gap behind it.
            let part = |side: &[u8]| side[at..].iter().copied().take(len).collect::<Vec<_>>();
            let (mut a, mut b) = (part(left), part(right));
            a.resize(len, 0);
            b.resize(len, 0);
            all_fit &= pair.combine(op, &a, &mut b);
            let there = right[at..].len().min(len);
            right[at..at + there].copy_from_slice(&b[..there]);
        });
        all_fit &= has_only_pairs;
    }
    if all_fit { Ok(()) } else { Err(PerformError::NoPairs) }
}

/// Whether a datatype has nothing but pairs.
pub(super) fn has_pairs(datatype: &Datatype) -> bool {
    each_pair(datatype, 0, &mut |_, _| {})
}

/// Calls back with the displacement of each pair. Whether there is nothing else.
fn each_pair(datatype: &Datatype, from: i64, call: &mut impl FnMut(i64, Pair)) -> bool {
    let mut value: Option<(i64, Basic)> = None;
    let mut are_pairs = true;
    datatype.map().each_run(from, &mut |at, basic, n| match value.take() {
        _ if n == 0 || !are_pairs => {}
        Some((start, first)) => {
            let is_index = basic == Basic::I32 && n == 1 && at == start + Location::layout(first).0 as i64;
            are_pairs = is_index;
            if is_index {
                call(start, Pair::Mixed(first));
            }
        }
        None if n == 1 => value = Some((at, basic)),
        None if n % 2 == 0 => {
            let len = 2 * basic.size() as i64;
            (0..n as i64 / 2).for_each(|pair| call(at + pair * len, Pair::Two(basic)));
        }
        None => are_pairs = false,
    });
    are_pairs && value.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[(f64, i32)]) -> Vec<u8> {
        let one =
            |(value, index): &(f64, i32)| [&value.to_ne_bytes()[..], &index.to_ne_bytes(), &[0; 4]].concat();
        values.iter().flat_map(one).collect()
    }

    #[test]
    fn pairs_with_gaps_between_them_are_combined() {
        let apart = Location::datatype(Basic::F64).unwrap().vector(2, 1, 2).unwrap();
        let left = bytes(&[(2.0, 7), (9.0, 7), (1.0, 7)]);
        let mut right = bytes(&[(1.0, 3), (1.0, 3), (1.0, 9)]);
        pairs(Location::Max, &apart, 1, &left, &mut right, 0).unwrap();
        assert_eq!(right, bytes(&[(2.0, 7), (1.0, 3), (1.0, 7)]));
    }

    #[test]
    fn what_is_no_pair_is_said() {
        let int = Datatype::of(Basic::I32);
        let pair = |count| int.contiguous(count).unwrap();
        assert_eq!([1, 2, 3, 4].map(|count| has_pairs(&pair(count))), [false, true, false, true]);
        let mixed = Location::datatype(Basic::F64).unwrap();
        assert!(has_pairs(&mixed) && has_pairs(&mixed.contiguous(3).unwrap()));
        let swapped = Datatype::structure(&[(1, &int), (1, &Datatype::of(Basic::F64))], &[0, 8]).unwrap();
        assert!(!has_pairs(&swapped));
    }
}
