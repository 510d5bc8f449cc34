//! Ranges of bytes in a file.

use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges of which none touches another, by their starts.
#[derive(Debug, Default)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds one, which may overlap with what is there.
    pub(super) fn add(&mut self, Range { mut start, mut end }: Range<u64>) {
        if start >= end {
            return;
        }
        let touching: Vec<u64> =
            self.0.range(..=end).rev().take_while(|(_, to)| **to >= start).map(|(from, _)| *from).collect();
        for from in touching {
            start = start.min(from);
            end = end.max(self.0.remove(&from).unwrap_or(end));
        }
        self.0.insert(start, end);
    }

    /// What of this range is in none of them.
    pub(super) fn missing(&self, Range { mut start, end }: Range<u64>) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        let before = self.0.range(..=start).next_back().map_or(start, |(_, to)| *to);
        start = start.max(before);
        for (from, to) in self.0.range(start..end.max(start)) {
            missing.push(start..*from);
            start = *to;
        }
        missing.push(start..end);
        missing.retain(|range| range.start < range.end);
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_what_was_not_added() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.missing(2..5).into_iter().next(), Some(2..5));
        for range in [10..20, 30..40, 5..5] {
            ranges.add(range);
        }
        assert_eq!(ranges.missing(0..50), [0..10, 20..30, 40..50]);
        assert_eq!(ranges.missing(12..18), []);
        assert_eq!(ranges.missing(15..35).into_iter().next(), Some(20..30));
        assert_eq!(ranges.missing(20..30).into_iter().next(), Some(20..30));
        ranges.add(20..30);
        assert_eq!((ranges.missing(0..50), ranges.0.len()), (vec![0..10, 40..50], 1));
        ranges.add(0..u64::MAX);
        assert_eq!((ranges.missing(0..50), ranges.0.len()), (vec![], 1));
    }

    #[test]
    fn they_say_the_same_as_a_set_of_bytes() {
        let mut seed = 1u64;
        let mut draw = |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % most
        };
        for _ in 0..200 {
            let (mut ranges, mut bytes) = (Ranges::default(), [false; 64]);
            for _ in 0..8 {
                let start = draw(60);
                let range = start..start + draw(5);
                range.clone().for_each(|byte| bytes[byte as usize] = true);
                ranges.add(range);
            }
            let missing: Vec<u64> = ranges.missing(3..61).into_iter().flatten().collect();
            let expected: Vec<u64> = (3..61).filter(|byte| !bytes[*byte as usize]).collect();
            assert_eq!(missing, expected, "{ranges:?}");
        }
    }
}
