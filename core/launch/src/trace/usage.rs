//! Time by what it was used for, over the job's time: in as many bins as a picture can show, whose width grows with the job.

use std::collections::BTreeMap;

/// Bins of each row.
pub const BINS: usize = 64;
/// The width at the beginning, in nanoseconds.
const WIDTH: u64 = 1 << 14;

/// A row of bins for each number: nanoseconds that were used.
#[derive(Clone, Debug)]
pub struct Usage {
    width: u64,
    rows: BTreeMap<u32, [u64; BINS]>,
    /// More rows there are not: nothing is counted of others.
    rows_max: usize,
}

impl Usage {
    pub fn new(rows_max: usize) -> Usage {
        Usage { width: WIDTH, rows: BTreeMap::new(), rows_max }
    }

    /// The width of a bin, in nanoseconds.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// The rows, by their numbers.
    pub fn rows(&self) -> &BTreeMap<u32, [u64; BINS]> {
        &self.rows
    }

    /// From one moment to another, this one was busy.
    pub fn add(&mut self, number: u32, from: u64, until: u64) {
        while until > self.width.saturating_mul(BINS as u64) {
            self.widen();
        }
        if self.rows.len() >= self.rows_max && !self.rows.contains_key(&number) {
            return;
        }
        let row = self.rows.entry(number).or_insert([0; BINS]);
        let mut at = from;
        while at < until {
            let bin = (at / self.width) as usize;
            let end = (bin as u64 + 1).saturating_mul(self.width).min(until);
            row[bin] += end - at;
            at = end;
        }
    }

    /// Nanoseconds of this row in the bins that lie within a time as a whole, and how long these are.
    pub fn within(&self, number: u32, from: u64, until: u64) -> (u64, u64) {
        let (first, end) = (from.div_ceil(self.width) as usize, (until / self.width) as usize);
        let (first, end) = (first.min(BINS), end.min(BINS));
        let Some(row) = self.rows.get(&number).filter(|_| first < end) else {
            return (0, end.saturating_sub(first) as u64 * self.width);
        };
        (row[first..end].iter().sum(), (end - first) as u64 * self.width)
    }

    fn widen(&mut self) {
        self.width = self.width.saturating_mul(2);
        for row in self.rows.values_mut() {
            let wider = |bin| if bin < BINS / 2 { row[2 * bin] + row[2 * bin + 1] } else { 0 };
            *row = std::array::from_fn(wider);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_grow_with_the_time_and_keep_what_was_in_them() {
        let mut usage = Usage::new(2);
        usage.add(3, WIDTH / 2, 2 * WIDTH);
        assert_eq!(usage.rows()[&3][..3], [WIDTH / 2, WIDTH, 0]);
        usage.add(4, 100 * WIDTH, 101 * WIDTH);
        assert_eq!((usage.width(), usage.rows()[&3][0]), (2 * WIDTH, 3 * WIDTH / 2));
        assert_eq!(usage.rows()[&4][50], WIDTH);
        usage.add(5, 0, WIDTH);
        assert!(!usage.rows().contains_key(&5), "there are as many as may be");
        assert_eq!(usage.within(4, 99 * WIDTH, 104 * WIDTH), (WIDTH, 4 * WIDTH));
        usage.add(4, 0, u64::MAX / 2);
        assert_eq!(usage.rows()[&3].iter().sum::<u64>(), 3 * WIDTH / 2);
    }
}
