//! Choosing the lengths of a grid.

use thiserror::Error;

/// Why there is no such grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{members} members do not fill a grid of which {fixed} are given")]
pub struct DimsError {
    /// How many have to be placed.
    pub members: u32,
    /// The product of the lengths that are given.
    pub fixed: u32,
}

/// Sets lengths that are 0 such that all members are placed and the lengths are as equal as can be, the longer ones
/// first (`MPI_Dims_create`).
///
/// ```
/// use talisman_ampi::comm::topology::dims_create;
/// let mut dims = [0, 7, 0];
/// dims_create(42 * 2, &mut dims).unwrap();
/// assert_eq!(dims, [4, 7, 3]);
/// ```
///
/// # Errors
/// If the lengths that are given do not divide the number of members.
pub fn dims_create(members: u32, dims: &mut [u32]) -> Result<(), DimsError> {
    let fixed = dims.iter().filter(|length| **length > 0).product::<u32>();
    let free = dims.iter().filter(|length| **length == 0).count();
    if fixed == 0 || !members.is_multiple_of(fixed) || (free == 0 && members != fixed) {
        return Err(DimsError { members, fixed });
    }
    let mut lengths = balanced(members / fixed, free).into_iter();
    for length in dims.iter_mut().filter(|length| **length == 0) {
        *length = lengths.next().unwrap_or(1);
    }
    Ok(())
}

/// The factorisation whose largest and smallest factor are closest to each other, and of those the one with the largest smallest factor, then
/// with the largest one after that, and so on: what MPICH chooses. The largest first.
fn balanced(product: u32, factors: usize) -> Vec<u32> {
    match factors {
        0 => Vec::new(),
        1 => vec![product],
        _ => {
            let divisors: Vec<u32> = divisors(product);
            let mut search = Search { divisors: &divisors, chosen: Vec::new(), best: None };
            search.choose(product, factors);
            search.best.map_or_else(Vec::new, |(_, found)| found)
        }
    }
}

fn divisors(product: u32) -> Vec<u32> {
    let small = (1..).take_while(|n: &u32| n.checked_mul(*n).is_some_and(|square| square <= product));
    let small: Vec<u32> = small.filter(|n| product.is_multiple_of(*n)).collect();
    let mut all: Vec<u32> = small.iter().flat_map(|n| [*n, product / n]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Goes through factorisations, each factor no larger than the one before it.
struct Search<'a> {
    divisors: &'a [u32],
    chosen: Vec<u32>,
    /// How far apart largest and smallest factor are, and all factors.
    best: Option<(u32, Vec<u32>)>,
}

impl Search<'_> {
    fn choose(&mut self, product: u32, factors: usize) {
        let first = self.chosen.first().copied();
        if factors == 0 {
            let (largest, smallest) = (first.unwrap_or(1), self.chosen.last().copied().unwrap_or(1));
            let apart = largest - smallest;
            let is_better = self.best.as_ref().is_none_or(|(best, found)| {
                apart < *best || apart == *best && found.iter().rev().lt(self.chosen.iter().rev())
            });
            if product == 1 && is_better {
                self.best = Some((apart, self.chosen.clone()));
            }
            return;
        }
        let at_most = self.chosen.last().copied().unwrap_or(product);
        // The others are no larger.
        let reaches = |n: u32| n.checked_pow(factors as u32).is_none_or(|power| power >= product);
        for n in self
            .divisors
            .iter()
            .copied()
            .filter(|n| *n <= at_most && product.is_multiple_of(*n) && reaches(*n))
        {
            let is_near = |best: u32| {
                first.map_or_else(|| n.saturating_sub(least(product, factors)), |first| first - n) <= best
            };
            if self.best.as_ref().is_some_and(|(best, _)| !is_near(*best)) {
                continue;
            }
            self.chosen.push(n);
            self.choose(product / n, factors - 1);
            self.chosen.pop();
        }
    }
}

/// No smallest of so many factors is larger.
fn least(product: u32, factors: usize) -> u32 {
    f64::from(product).powf(1.0 / factors as f64).ceil() as u32
}
