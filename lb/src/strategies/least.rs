//! Who has least, among any neighbours in a row, while values change.

use std::ops::Range;

/// A tournament of values: each entry of the tree is the number of the smaller of its two halves. The first of equals wins.
#[derive(Debug)]
pub(super) struct Least {
    values: Vec<f64>,
    winners: Vec<u32>,
    leaves: usize,
}

impl Least {
    /// A tournament of these values.
    pub fn new(values: Vec<f64>) -> Self {
        let leaves = values.len().next_power_of_two();
        let mut winners = vec![u32::MAX; 2 * leaves];
        for number in 0..values.len() {
            winners[leaves + number] = number as u32;
        }
        let mut least = Least { values, winners, leaves };
        for entry in (1..leaves).rev() {
            least.winners[entry] = least.better(least.winners[2 * entry], least.winners[2 * entry + 1]);
        }
        least
    }

    /// A value.
    pub fn value(&self, number: usize) -> f64 {
        self.values[number]
    }

    /// Changes a value.
    pub fn set(&mut self, number: usize, value: f64) {
        self.values[number] = value;
        let mut entry = (self.leaves + number) / 2;
        while entry > 0 {
            self.winners[entry] = self.better(self.winners[2 * entry], self.winners[2 * entry + 1]);
            entry /= 2;
        }
    }

    /// Who has least of these; nobody of none.
    pub fn of(&self, range: Range<usize>) -> Option<usize> {
        let mut best = u32::MAX;
        let (mut low, mut high) = (self.leaves + range.start, self.leaves + range.end);
        while low < high {
            if low % 2 == 1 {
                best = self.better(best, self.winners[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                best = self.better(best, self.winners[high]);
            }
            low /= 2;
            high /= 2;
        }
        (best != u32::MAX).then_some(best as usize)
    }

    fn better(&self, a: u32, b: u32) -> u32 {
        if a == u32::MAX || b == u32::MAX {
            return a.min(b);
        }
        match self.values[a as usize].total_cmp(&self.values[b as usize]).then(a.cmp(&b)).is_le() {
            true => a,
            false => b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_least_of_a_range_is_found_whatever_changed(
            values in prop::collection::vec(0u8..20, 1..40),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0u8..20), 0..20),
            ends in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        ) {
            let mut values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let mut least = Least::new(values.clone());
            for (at, value) in changes {
                let at = at.index(values.len());
                values[at] = f64::from(value);
                least.set(at, values[at]);
            }
            let (a, b) = (ends.0.index(values.len() + 1), ends.1.index(values.len() + 1));
            let range = a.min(b)..a.max(b);
            let expected = range.clone().min_by(|&a, &b| values[a].total_cmp(&values[b]));
            prop_assert_eq!(least.of(range), expected);
        }
    }
}
