//! A sum of floating-point numbers that is exact until it is rounded once, at the end.
//!
//! The same bits come out whatever the order of the additions and the shape of the tree that merges partial sums:
//! on any number of PEs. This is the "superaccumulator" of R. Neal, *Fast exact summation using small and large
//! superaccumulators* (2015), with 128-bit buckets instead of overlapping 64-bit ones.
//!
//! # Representation
//! A finite number is `m · 2^(e - 1075)` with `m` of 53 bits and an exponent field `e` of 1 to 2046. Bucket `k`
//! collects `m << (e % 32)` of all numbers with `e / 32 == k`, 84 bits and a sign; so it takes 2^43 additions to
//! overflow 128 bits, more than a reduction can have. The sum is `Σ bucket[k] · 2^(32 k - 1075)`.
//!
//! Numbers of like size need two or three of the 64 buckets. Those lie in the accumulator itself (the *window*); when
//! a number falls outside, the buckets move to the heap, and stretch there over the exponents met so far.

mod add;
mod pack;
mod round;

/// Buckets that are kept without a heap allocation: they span at least 2^64, 2^32 each side of the first number.
const WINDOW: usize = 3;

/// One bucket per 32 exponents.
const BUCKETS: usize = 64;

/// No bucket is at this place: the window is unused.
const NOWHERE: u8 = u8::MAX;

/// An exact sum of `f64` or `f32`, of up to 2^43 of them.
///
/// Infinities and NaN sum as in IEEE 754: a NaN, or infinities of both signs, give NaN (always the same one). A sum
/// of nothing but `-0.0` is `-0.0`; any other zero is `0.0`.
#[derive(Clone, Debug)]
pub struct ExactSum {
    window: [i128; WINDOW],
    /// The buckets from `wide_base` on, once the window was too narrow; the window is unused then.
    wide: Vec<i128>,
    window_base: u8,
    wide_base: u8,
    seen: Seen,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self::new()
    }
}

impl ExactSum {
    /// The sum of nothing, which is `0.0`.
    pub const fn new() -> Self {
        ExactSum { window: [0; WINDOW], wide: Vec::new(), window_base: NOWHERE, wide_base: 0, seen: Seen(0) }
    }

    /// The buckets in use and the number of the first of them.
    fn buckets(&self) -> (usize, &[i128]) {
        if !self.wide.is_empty() {
            (self.wide_base.into(), &self.wide)
        } else if self.window_base != NOWHERE {
            (self.window_base.into(), &self.window)
        } else {
            (0, &[])
        }
    }
}

/// Which values that no bucket can tell were among the summands, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen(u8);

impl Seen {
    const NAN: Seen = Seen(1);
    const INFINITY: Seen = Seen(2);
    const NEG_INFINITY: Seen = Seen(4);
    const NEG_ZERO: Seen = Seen(8);
    /// A finite summand that is not `-0.0`, so that a zero sum is `0.0`.
    const OTHER: Seen = Seen(16);
    const ALL: Seen = Seen(31);

    fn add(&mut self, other: Seen) {
        self.0 |= other.0;
    }

    fn any(self, of: Seen) -> bool {
        self.0 & of.0 != 0
    }
}

#[cfg(test)]
mod tests;
