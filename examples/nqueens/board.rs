//! A chessboard on which queens are placed row by row, and the serial search for the rows that remain.

use talisman::prelude::*;

/// Largest board: a row is one word.
pub const MOST_QUEENS: u32 = 32;

/// Solutions of boards of 0, 1, 2 … queens (OEIS A000170).
const KNOWN: [u64; 19] = [
    1,
    1,
    0,
    0,
    2,
    10,
    4,
    40,
    92,
    352,
    724,
    2_680,
    14_200,
    73_712,
    365_596,
    2_279_184,
    14_772_512,
    95_815_104,
    666_090_624,
];

/// A board with queens in its first rows, none attacking another. Squares of the next row are bits.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub struct Board {
    queens: u32,
    placed: u32,
    /// Attacked along columns, along falling and along rising diagonals.
    columns: u64,
    falling: u64,
    rising: u64,
}

impl Board {
    /// An empty board for a number of queens, at most [`MOST_QUEENS`].
    pub fn new(queens: u32) -> Self {
        Board { queens, placed: 0, columns: 0, falling: 0, rising: 0 }
    }

    /// Rows with a queen.
    pub fn placed(&self) -> u32 {
        self.placed
    }

    /// Rows without one.
    pub fn left(&self) -> u32 {
        self.queens - self.placed
    }

    /// The boards with one more queen, in the order of the squares.
    pub fn children(self) -> impl Iterator<Item = Board> {
        let squares = !(self.columns | self.falling | self.rising) & ((1 << self.queens) - 1);
        Bits(squares).map(move |square| self.with(square))
    }

    /// Ways to place the queens that are left.
    pub fn solutions(self) -> u64 {
        if self.left() == 0 {
            return 1;
        }
        self.children().map(Board::solutions).sum()
    }

    fn with(self, square: u64) -> Board {
        Board {
            queens: self.queens,
            placed: self.placed + 1,
            columns: self.columns | square,
            falling: (self.falling | square) << 1,
            rising: (self.rising | square) >> 1,
        }
    }
}

/// The published number of solutions, for boards whose search is not out of reach.
pub fn known(queens: u32) -> Option<u64> {
    KNOWN.get(queens as usize).copied()
}

/// The bits of a word, one at a time.
struct Bits(u64);

impl Iterator for Bits {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let lowest = self.0 & self.0.wrapping_neg();
        self.0 &= !lowest;
        (lowest != 0).then_some(lowest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_serial_search_finds_the_published_numbers() {
        for queens in 0..=9 {
            assert_eq!(Some(Board::new(queens).solutions()), known(queens), "{queens} queens");
        }
    }

    #[test]
    fn a_subtree_and_its_children_have_the_same_solutions() {
        let board = Board::new(8).children().nth(2).expect("eight squares are free");
        assert_eq!(board.children().map(Board::solutions).sum::<u64>(), board.solutions());
        assert_eq!((board.placed(), board.left()), (1, 7));
    }

    #[test]
    fn the_largest_board_has_a_free_square_in_each_column() {
        assert_eq!(Board::new(MOST_QUEENS).children().count(), 32);
    }
}
