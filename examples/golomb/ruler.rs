//! A Golomb ruler as far as it has been laid out, and the serial search for the marks that remain.

use talisman::prelude::*;

/// Most marks: the shortest ruler of 16 has a length of 177, and what the search handles are shorter ones.
pub const MOST_MARKS: u32 = 14;

/// The lengths of the shortest rulers of 2, 3, 4 … marks (OEIS A003022).
const KNOWN: [u32; 13] = [1, 3, 6, 11, 17, 25, 34, 44, 55, 72, 85, 106, 127];

/// The first marks of a ruler, on which no distance occurs twice. Marks and distances are bits of a word, by their place from 0.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub struct Ruler {
    marks: u128,
    distances: u128,
    laid: u32,
}

/// The marks of a ruler as an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pup, ArrayIndex)]
pub struct Marks {
    above: u64,
    below: u64,
}

/// Whole rulers of the shortest length found: that length, and of them the one whose marks are the
/// least number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Best {
    pub length: u32,
    pub marks: u128,
}

impl Best {
    /// Nothing found that is shorter than a bound.
    pub fn none(bound: u32) -> Self {
        Best { length: bound, marks: u128::MAX }
    }

    /// Whichever is shorter; of equally long ones the one whose marks are the lesser number.
    pub fn or(self, other: Best) -> Self {
        if (other.length, other.marks) < (self.length, self.marks) { other } else { self }
    }

    /// Whether a ruler was found at all.
    pub fn is_found(self) -> bool {
        self.marks != u128::MAX
    }
}

impl Ruler {
    /// Only the mark at 0.
    pub fn new() -> Self {
        Ruler { marks: 1, distances: 0, laid: 1 }
    }

    /// Marks that have been laid out.
    pub fn laid(&self) -> u32 {
        self.laid
    }

    /// Its marks, which tell it from all others.
    pub fn name(&self) -> Marks {
        Marks { above: (self.marks >> 64) as u64, below: self.marks as u64 }
    }

    /// The rulers with one more mark that can still become one of `marks` marks not longer than `most`.
    pub fn children(self, marks: u32, most: u32) -> impl Iterator<Item = Ruler> {
        let left = marks - self.laid;
        // Distances between the marks that remain differ, so that they take 1 + 2 + … together.
        let needed = (left - 1) * left / 2;
        let last = most.saturating_sub(needed);
        (self.length() + 1..=last).filter_map(move |at| self.with(at))
    }

    /// How many rulers of at most `depth` marks, this one included, can still become one of `marks` marks not longer than `most`;
    /// none if there are more than `limit`.
    pub fn beginnings(self, marks: u32, most: u32, depth: u32, limit: u64) -> Option<u64> {
        let mut count = 1;
        if self.laid < depth.min(marks) {
            for child in self.children(marks, most) {
                count += child.beginnings(marks, most, depth, limit.checked_sub(count)?)?;
            }
        }
        (count <= limit).then_some(count)
    }

    /// The best of all rulers of `marks` marks that begin like this one and are not longer than `most`.
    pub fn search(self, marks: u32, most: u32) -> Best {
        if self.laid == marks {
            return Best { length: self.length(), marks: self.marks };
        }
        let mut best = Best::none(most + 1);
        for child in self.children(marks, most) {
            // Equally long ones count as well: which comes first must not depend on who searches when.
            best = best.or(child.search(marks, best.length.min(most)));
        }
        best
    }

    /// Its marks from 0 on, as people write them.
    pub fn places(marks: u128) -> Vec<u32> {
        (0..u128::BITS).filter(|at| marks >> at & 1 == 1).collect()
    }

    fn length(&self) -> u32 {
        self.marks.ilog2()
    }

    /// One more mark, unless a distance from it occurs already.
    fn with(self, at: u32) -> Option<Ruler> {
        // The distances from a place to all marks: the marks read backwards from there.
        let from = self.marks.reverse_bits() >> (u128::BITS - 1 - at);
        let is_new = from & self.distances == 0;
        is_new.then(|| Ruler {
            marks: self.marks | 1 << at,
            distances: self.distances | from,
            laid: self.laid + 1,
        })
    }
}

/// A length within which there surely is a ruler of so many marks: each mark at the first place that goes. Of 13 and 14 marks such a
/// ruler is longer than a word, and the word's length is the bound: the shortest ones of at most [`MOST_MARKS`] marks fit into it.
pub fn bound(marks: u32) -> u32 {
    let next = |ruler: Ruler| (ruler.length() + 1..u128::BITS).find_map(|at| ruler.with(at));
    let laid = (1..marks).try_fold(Ruler::new(), |ruler, _| next(ruler));
    laid.map_or(u128::BITS - 1, |ruler| ruler.length())
}

/// The published length of the shortest ruler of so many marks.
pub fn known(marks: u32) -> Option<u32> {
    KNOWN.get((marks as usize).checked_sub(2)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruler(marks: &[u32]) -> Ruler {
        marks.iter().fold(Ruler::new(), |ruler, at| ruler.with(*at).expect("no distance twice"))
    }

    #[test]
    fn the_serial_search_finds_the_published_lengths() {
        for marks in 2..=8 {
            assert_eq!(Some(Ruler::new().search(marks, bound(marks)).length), known(marks), "{marks} marks");
        }
    }

    #[test]
    fn every_number_of_marks_has_a_bound_that_its_shortest_ruler_keeps() {
        for marks in 2..=MOST_MARKS {
            let shortest = known(marks).expect("all of them are published");
            assert!(shortest <= bound(marks) && bound(marks) < u128::BITS, "{marks} marks");
        }
    }

    #[test]
    fn the_longest_rulers_fit() {
        let thirteen = ruler(&[2, 5, 25, 37, 43, 59]).search(13, bound(13));
        assert_eq!(Ruler::places(thirteen.marks), [0, 2, 5, 25, 37, 43, 59, 70, 85, 89, 98, 99, 106]);
        let fourteen = ruler(&[4, 6, 20, 35, 52, 59, 77]).search(14, bound(14));
        assert_eq!(Ruler::places(fourteen.marks), [0, 4, 6, 20, 35, 52, 59, 77, 78, 86, 89, 99, 122, 127]);
    }

    #[test]
    fn beginnings_are_counted_up_to_a_limit() {
        // Of 4 marks within a length of 6: 0; 0 1, 0 2, 0 3; 0 1 3, 0 1 4, 0 1 5, 0 2 3 and so on.
        let all = |depth, limit| Ruler::new().beginnings(4, 6, depth, limit);
        assert_eq!(all(1, 9), Some(1));
        assert_eq!(all(2, 9), Some(4));
        assert_eq!(all(2, 4), Some(4));
        assert_eq!(all(2, 3), None);
        assert_eq!(Ruler::new().beginnings(14, 127, 14, 1000), None);
    }
}
