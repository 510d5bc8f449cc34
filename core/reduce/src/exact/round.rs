//! The one rounding, from the exact sum to the nearest `f64` or `f32`, ties to even.

use super::{BUCKETS, ExactSum, Seen};

/// The sum as 32-bit digits: those of the buckets, and those that carries may reach above the last bucket.
const DIGITS: usize = BUCKETS + 4;

/// A binary floating-point format, its exponents in the unit of bucket 0, 2^-1075.
struct Format {
    /// Bits of the mantissa with its leading one.
    precision: usize,
    /// The place of the lowest bit of the smallest subnormal.
    lowest: usize,
    /// The bits of infinity.
    infinity: u64,
}

const F64: Format = Format { precision: 53, lowest: 1, infinity: f64::INFINITY.to_bits() };
const F32: Format = Format { precision: 24, lowest: 1075 - 149, infinity: f32::INFINITY.to_bits() as u64 };

impl ExactSum {
    /// The sum, correctly rounded to `f64`.
    pub fn to_f64(&self) -> f64 {
        if let Some(special) = self.special() {
            return special;
        }
        let (negative, magnitude) = self.rounded(&F64);
        let magnitude = f64::from_bits(magnitude);
        if negative { -magnitude } else { magnitude }
    }

    /// The sum, correctly rounded to `f32`: once, not by way of `f64`.
    pub fn to_f32(&self) -> f32 {
        if let Some(special) = self.special() {
            return special as f32;
        }
        let (negative, magnitude) = self.rounded(&F32);
        let magnitude = f32::from_bits(magnitude as u32);
        if negative { -magnitude } else { magnitude }
    }

    /// The sum when it does not follow from the buckets: NaN, infinities, and the zero below zero.
    fn special(&self) -> Option<f64> {
        let (up, down) = (self.seen.any(Seen::INFINITY), self.seen.any(Seen::NEG_INFINITY));
        if self.seen.any(Seen::NAN) || up && down {
            Some(f64::NAN)
        } else if up {
            Some(f64::INFINITY)
        } else if down {
            Some(f64::NEG_INFINITY)
        } else if self.seen == Seen::NEG_ZERO && self.buckets().1.is_empty() {
            Some(-0.0)
        } else {
            None
        }
    }

    /// Whether the sum of the buckets is negative, and the bits of its rounded magnitude.
    fn rounded(&self, format: &Format) -> (bool, u64) {
        let (base, buckets) = self.buckets();
        let mut digits = [0; DIGITS];
        let used = &mut digits[..(buckets.len() + 4).min(DIGITS)];
        let negative = carried(buckets, used);
        (negative, format.round(base, used))
    }
}

/// Writes the magnitude of the sum of overlapping buckets as 32-bit digits, and says whether it is negative.
fn carried(buckets: &[i128], digits: &mut [u32]) -> bool {
    let mut carry = 0i128;
    for (k, digit) in digits.iter_mut().enumerate() {
        carry = carry.wrapping_add(buckets.get(k).copied().unwrap_or(0));
        *digit = carry as u32;
        carry >>= 32;
    }
    let negative = carry < 0;
    if negative {
        negate(digits);
    }
    negative
}

fn negate(digits: &mut [u32]) {
    let mut carry = true;
    for digit in digits {
        (*digit, carry) = (!*digit).overflowing_add(carry.into());
    }
}

impl Format {
    /// The bits of the number nearest to the digits, of which the first has the place `32 * base`.
    fn round(&self, base: usize, digits: &[u32]) -> u64 {
        let Some(top) = digits.iter().rposition(|&digit| digit != 0) else { return 0 };
        // The top three digits hold at least 65 significant bits; of the rest it matters only whether there are any.
        let at = |down: usize| top.checked_sub(down).map_or(0, |k| u128::from(digits[k]));
        let head = at(0) << 64 | at(1) << 32 | at(2);
        let rest = digits[..top.saturating_sub(2)].iter().any(|&digit| digit != 0);

        // Places are counted with 64 more, so that those of a sum with fewer than three digits are not negative.
        let head_place = 32 * (base + top);
        let leading = head_place + 127 - head.leading_zeros() as usize;
        let lowest = (leading + 1 - self.precision).max(self.lowest + 64);
        let mantissa = round_shift(head, lowest - head_place, rest);
        // Adding the mantissa with its leading one, or with the carry of its rounding, steps the exponent as well.
        let exponent = ((lowest - 64 - self.lowest) as u64) << (self.precision - 1);
        (exponent + mantissa).min(self.infinity)
    }
}

/// `head >> shift` rounded to nearest, ties to even; `rest` says that more bits follow those of `head`.
fn round_shift(head: u128, shift: usize, rest: bool) -> u64 {
    debug_assert!(shift > 0 && head >> 96 == 0, "three digits and less than three digits of mantissa");
    let shift = shift.min(127); // beyond the 96 bits of the head all is below one half
    let mantissa = (head >> shift) as u64;
    let half = 1u128 << (shift - 1);
    let below = head & (2 * half - 1);
    let up = below > half || below == half && (rest || mantissa % 2 == 1);
    mantissa + u64::from(up)
}
