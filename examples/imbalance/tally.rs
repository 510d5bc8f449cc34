//! How much work was done where.

use talisman::prelude::*;

/// Work by PE, of some objects: those PEs that did any, in order.
#[derive(Clone, Debug, Default, PartialEq, Pup)]
pub struct Tally(Vec<(u32, u64)>);

impl Tally {
    /// Counts work that a PE did.
    pub fn add(&mut self, pe: u32, work: u64) {
        match self.0.binary_search_by_key(&pe, |(pe, _)| *pe) {
            Ok(at) => self.0[at].1 += work,
            Err(at) => self.0.insert(at, (pe, work)),
        }
    }

    /// All of it.
    pub fn sum(&self) -> u64 {
        self.0.iter().map(|(_, work)| work).sum()
    }

    /// That of the PE that had most.
    pub fn max(&self) -> u64 {
        self.0.iter().map(|(_, work)| *work).max().unwrap_or(0)
    }

    /// That of the PE that had most over the average of so many PEs: 1 if all had the same.
    pub fn max_over_average(&self, pes: u32) -> f64 {
        ratio(self.max(), self.sum(), pes)
    }
}

/// PEs meet in any order, and sums are of whole numbers.
impl Merge for Tally {
    const COMMUTES: bool = true;

    fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|(pe, work)| self.add(pe, work));
    }
}

/// What all stretches came to.
#[derive(Clone, Copy, Debug, Default, Pup)]
pub struct Sums {
    /// Their number.
    pub stretches: u32,
    /// What they took.
    pub seconds: f64,
    /// The work done in them.
    pub work: u64,
    /// The work of the PE that had most, added up over the stretches.
    longest: u64,
    pes: u32,
}

impl Sums {
    /// Takes in a stretch.
    pub fn add(&mut self, tally: &Tally, pes: u32, seconds: f64) {
        self.stretches += 1;
        self.seconds += seconds;
        self.work += tally.sum();
        self.longest += tally.max();
        self.pes = pes;
    }

    /// As [`Tally::max_over_average`], of all stretches.
    pub fn max_over_average(&self) -> f64 {
        ratio(self.longest, self.work, self.pes)
    }
}

fn ratio(max: u64, sum: u64, pes: u32) -> f64 {
    max as f64 * f64::from(pes) / sum as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_added_by_pe_in_any_order() {
        let tally = |parts: &[(u32, u64)]| {
            let mut tally = Tally::default();
            parts.iter().for_each(|(pe, work)| tally.add(*pe, *work));
            tally
        };
        let (mut one, mut other) = (tally(&[(3, 1), (1, 2), (3, 4)]), tally(&[(2, 9), (1, 1)]));
        assert_eq!(one, Tally(vec![(1, 2), (3, 5)]));
        let (left, right) = (one.clone(), other.clone());
        one.merge(right);
        other.merge(left);
        assert_eq!((&one, one.max(), one.sum()), (&other, 9, 17));
        assert_eq!(one.max_over_average(4), 36.0 / 17.0);
    }

    #[test]
    fn the_whole_is_as_uneven_as_its_stretches_on_average() {
        let mut sums = Sums::default();
        for (pe, work) in [(0, 10), (1, 10)] {
            let mut tally = Tally::default();
            tally.add(pe, work);
            sums.add(&tally, 2, 1.0);
        }
        assert_eq!((sums.max_over_average(), sums.seconds, sums.work), (2.0, 2.0, 20));
    }
}
