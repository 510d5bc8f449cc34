//! Taking in one number, or another partial sum.

use super::{BUCKETS, ExactSum, NOWHERE, Seen, WINDOW};

const MANTISSA_BITS: u32 = 52;
const MANTISSA: u64 = (1 << MANTISSA_BITS) - 1;
const EXPONENT: u64 = 0x7ff;

impl ExactSum {
    /// Adds one number; an `f32` is added by way of `f64`, which is exact.
    #[inline]
    pub fn add(&mut self, number: f64) {
        let bits = number.to_bits();
        let exponent = bits >> MANTISSA_BITS & EXPONENT;
        if exponent.wrapping_sub(1) >= EXPONENT - 1 {
            return self.add_special(number); // zero, subnormal, infinite or NaN
        }
        self.add_scaled(bits & MANTISSA | 1 << MANTISSA_BITS, exponent, bits);
    }

    /// Adds another partial sum, as if its numbers had been added one by one.
    pub fn merge(&mut self, other: &ExactSum) {
        self.seen.add(other.seen);
        let (base, buckets) = other.buckets();
        if buckets.is_empty() {
            return;
        }
        if self.wide.is_empty() && other.wide.is_empty() {
            if self.window_base == NOWHERE {
                self.window_base = other.window_base;
            }
            if self.window_base == other.window_base {
                return add_all(&mut self.window, &other.window);
            }
        }
        let Some((base, buckets)) = trimmed(base, buckets) else { return };
        let slots = self.slots(base, buckets.len());
        add_all(slots, buckets);
    }

    /// Adds `± mantissa · 2^(exponent - 1075)`, negative when the top bit of `sign` is set.
    #[inline]
    fn add_scaled(&mut self, mantissa: u64, exponent: u64, sign: u64) {
        let magnitude = i128::from(mantissa) << (exponent % 32);
        let negative = i128::from(sign as i64 >> 63); // all ones or all zeros: a branch would be mispredicted
        let value = (magnitude ^ negative) - negative;
        let bucket = (exponent / 32) as usize;
        let place = bucket.wrapping_sub(self.window_base.into());
        match self.window.get_mut(place) {
            // Wrapping here and below: only a forged partial sum can come near the limit.
            Some(slot) => *slot = slot.wrapping_add(value),
            None => self.add_outside(bucket, value),
        }
    }

    /// Adds to a bucket that is not in the window.
    #[inline(never)]
    fn add_outside(&mut self, bucket: usize, value: i128) {
        let place = bucket.wrapping_sub(self.wide_base.into());
        let slot = match self.wide.get_mut(place) {
            Some(slot) => slot,
            None => &mut self.slots(bucket, 1)[0],
        };
        *slot = slot.wrapping_add(value);
    }

    #[inline(never)]
    fn add_special(&mut self, number: f64) {
        if number == 0.0 {
            self.seen.add(if number.is_sign_negative() { Seen::NEG_ZERO } else { Seen::OTHER });
        } else if number.is_nan() {
            self.seen.add(Seen::NAN);
        } else if number.is_infinite() {
            self.seen.add(if number > 0.0 { Seen::INFINITY } else { Seen::NEG_INFINITY });
        } else {
            // Subnormals have the exponent of the smallest normal numbers, without their leading one.
            self.add_scaled(number.to_bits() & MANTISSA, 1, number.to_bits());
        }
    }

    /// The slots of `len` buckets from `first` on, which are made to exist.
    #[cold]
    pub(super) fn slots(&mut self, first: usize, len: usize) -> &mut [i128] {
        if self.wide.is_empty() && self.window_base == NOWHERE && len <= WINDOW {
            // The first number goes in the middle: later ones may be larger or smaller.
            self.window_base = first.saturating_sub((WINDOW - len).div_ceil(2)).min(BUCKETS - WINDOW) as u8;
        }
        let place = first.wrapping_sub(self.window_base.into());
        if place < WINDOW && place + len <= WINDOW {
            return &mut self.window[place..place + len];
        }
        self.widen(first, len);
        let place = first - usize::from(self.wide_base);
        &mut self.wide[place..place + len]
    }

    /// Moves the buckets to the heap, stretched so that they include `len` more from `first` on.
    fn widen(&mut self, first: usize, len: usize) {
        let (base, buckets) = self.buckets();
        let (base, buckets) = trimmed(base, buckets).unwrap_or((first, &[]));
        let low = base.min(first);
        let high = (base + buckets.len()).max(first + len);
        let mut wide = vec![0; high - low];
        wide[base - low..][..buckets.len()].copy_from_slice(buckets);
        self.wide = wide;
        self.wide_base = low as u8;
        self.window_base = NOWHERE;
        self.seen.add(Seen::OTHER);
    }
}

/// The buckets without the empty ones at either end; `None` when all are empty.
pub(super) fn trimmed(base: usize, buckets: &[i128]) -> Option<(usize, &[i128])> {
    let first = buckets.iter().position(|&bucket| bucket != 0)?;
    let last = buckets.iter().rposition(|&bucket| bucket != 0)?;
    Some((base + first, &buckets[first..=last]))
}

fn add_all(to: &mut [i128], from: &[i128]) {
    for (slot, value) in to.iter_mut().zip(from) {
        *slot = slot.wrapping_add(*value);
    }
}
