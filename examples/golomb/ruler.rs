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

/// A length within which there surely is a ruler of so many marks: each mark at the first place that goes.
pub fn bound(marks: u32) -> u32 {
    let mut ruler = Ruler::new();
    while ruler.laid < marks {
        ruler = (ruler.length() + 1..u128::BITS)
            .find_map(|at| ruler.with(at))
            .expect("there is room for these few");
    }
    ruler.length()
}

/// The published length of the shortest ruler of so many marks.
pub fn known(marks: u32) -> Option<u32> {
    KNOWN.get((marks as usize).checked_sub(2)?).copied()
}
