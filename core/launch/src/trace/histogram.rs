//! How many entries took how long: by powers of two.

/// Counts of times by their lengths, in nanoseconds: one class for each power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram([u64; 64]);

impl Default for Histogram {
    fn default() -> Self {
        Histogram([0; 64])
    }
}

/// A class: from, until (excluded), and how many.
pub type Class = (u64, u64, u64);

impl Histogram {
    /// One that took so long.
    pub fn add(&mut self, ns: u64) {
        self.0[ns.max(1).ilog2() as usize] += 1;
    }

    /// Classes from the first to the last that has any.
    pub fn classes(&self) -> Vec<Class> {
        let has_any = |class: &&u64| **class > 0;
        let Some(last) = self.0.iter().rposition(|class| has_any(&class)) else { return Vec::new() };
        let first = self.0.iter().position(|class| has_any(&class)).unwrap_or(last);
        let class = |power: usize| {
            let until = 2_u64.checked_shl(power as u32).filter(|until| *until > 0).unwrap_or(u64::MAX);
            (if power == 0 { 0 } else { 1 << power }, until, self.0[power])
        };
        (first..=last).map(class).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_powers_of_two() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.classes(), []);
        [0, 1, 4, 7].iter().for_each(|ns| histogram.add(*ns));
        assert_eq!(histogram.classes(), [(0, 2, 2), (2, 4, 0), (4, 8, 2)]);
        histogram.add(u64::MAX);
        assert_eq!(histogram.classes().last(), Some(&(1 << 63, u64::MAX, 1)));
    }
}
