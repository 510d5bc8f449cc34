//! The counter of a `for` loop that waits inside.

use super::Answer;
use talisman_pup::{Packer, Pup, PupError, Unpacker};

/// The counter of a `for` loop over a range of integers, as an async entry keeps it: whatever the type of the loop
/// variable, which the entry need not know, it is two words.
///
/// ```
/// # use talisman_core::flow::{Answer, Counter};
/// let int = Answer::of_any_type();
/// let mut counter = Counter::new(3u32..5, &int);
/// let mut seen = vec![];
/// while counter.advance() {
///     seen.push(counter.value(&int));
/// }
/// assert_eq!(seen, [3, 4]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The bits of the loop variable; one below the first value before the first round.
    value: u64,
    /// How many rounds are left.
    left: u64,
}

impl Counter {
    /// A counter that stands before the first value of the range.
    pub fn new<R: Countable>(range: R, _: &Answer<R::Int>) -> Self {
        let (first, left) = range.first_and_count();
        Counter { value: first.to_bits().wrapping_sub(1), left }
    }

    /// Goes to the next value, if there is one.
    pub fn advance(&mut self) -> bool {
        let more = self.left > 0;
        if more {
            self.left -= 1;
            self.value = self.value.wrapping_add(1);
        }
        more
    }

    /// The loop variable, whose type `_` has from the range.
    pub fn value<I: Int>(&self, _: &Answer<I>) -> I {
        I::from_bits(self.value)
    }
}

impl Pup for Counter {
    const MIN_SIZE: usize = 16;

    fn pack(&self, p: &mut Packer) {
        self.value.pack(p);
        self.left.pack(p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(Counter { value: u64::unpack(u)?, left: u64::unpack(u)? })
    }
}

/// An integer of at most 64 bits.
#[diagnostic::on_unimplemented(
    message = "a `for` loop that waits inside counts integers of at most 64 bits, not `{Self}`"
)]
pub trait Int: Copy + PartialOrd {
    /// Its bits, the sign extended.
    fn to_bits(self) -> u64;
    /// The integer with these lowest bits.
    fn from_bits(bits: u64) -> Self;
}

macro_rules! ints {
    ($($int:ty)*) => { $(
        impl Int for $int {
            fn to_bits(self) -> u64 {
                self as i64 as u64
            }
            fn from_bits(bits: u64) -> Self {
                bits as $int
            }
        }
    )* };
}
ints!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

/// What a `for` loop that waits inside can run over.
#[diagnostic::on_unimplemented(
    message = "a `for` loop that waits inside runs over a range of integers, not over `{Self}`",
    note = "use `for i in 0..items.len()`, or take the items one by one: `while let Some(item) = items.pop() {{ let item: Item = item; … }}`"
)]
pub trait Countable {
    /// The type of the loop variable.
    type Int: Int;
    /// The first value, and how many there are.
    fn first_and_count(self) -> (Self::Int, u64);
}

impl<I: Int> Countable for std::ops::Range<I> {
    type Int = I;
    fn first_and_count(self) -> (I, u64) {
        (self.start, distance(self.start, self.end))
    }
}

impl<I: Int> Countable for std::ops::RangeInclusive<I> {
    type Int = I;
    fn first_and_count(self) -> (I, u64) {
        let (first, last) = (*self.start(), *self.end());
        // Saturates for the one range of 2^64 values, which no loop comes to the end of.
        (first, if first <= last { distance(first, last).saturating_add(1) } else { 0 })
    }
}

fn distance<I: Int>(from: I, to: I) -> u64 {
    if from < to { to.to_bits().wrapping_sub(from.to_bits()) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<R: Countable>(range: R) -> Vec<R::Int> {
        let int = Answer::of_any_type();
        let mut counter = Counter::new(range, &int);
        std::iter::from_fn(|| counter.advance().then(|| counter.value(&int))).collect()
    }

    #[test]
    fn runs_over_what_the_range_does() {
        assert_eq!(all(2u32..5), [2, 3, 4]);
        assert_eq!(all(-2i8..=1), [-2, -1, 0, 1]);
        assert!(all(5usize..5).is_empty());
        assert_eq!(all(u64::MAX - 1..=u64::MAX), [u64::MAX - 1, u64::MAX]);
        assert_eq!(all(i64::MIN..i64::MIN + 2), [i64::MIN, i64::MIN + 1]);
        assert_eq!(Counter::new(i64::MIN..=i64::MAX, &Answer::of_any_type()).left, u64::MAX);
        assert_eq!(all(i8::MIN..=i8::MAX).len(), 256);
        assert_eq!(all(250u8..=255), [250, 251, 252, 253, 254, 255]);
    }

    #[test]
    fn stays_at_the_end() {
        let int = Answer::of_any_type();
        let mut counter = Counter::new(0..1, &int);
        assert!(counter.advance());
        assert!(!counter.advance());
        assert!(!counter.advance());
        assert_eq!(counter.value(&int), 0);
    }
}
