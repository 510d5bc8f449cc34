//! Smoothing over periods that keeps noise out and still follows what really changes.

use talisman_pup::Pup;

/// The weight of a value that does not differ from the past by more than usual.
const WEIGHT: f64 = 0.25;
/// The weight of a deviation in what is taken for usual.
const NOISE_WEIGHT: f64 = 0.25;
/// So many times the usual deviation is a change, and followed at once.
const CHANGE: f64 = 3.0;
/// Before anything is known, this part of the first value is taken for a usual deviation.
const FIRST_NOISE: f64 = 0.05;
/// Deviations below this part of the value are never taken for a change.
const LEAST_NOISE: f64 = 0.005;

/// A value measured once a period: smoothed while it wavers, followed within two periods when it changes.
///
/// A deviation far beyond the usual one is a change at once; a smaller one is if the next period deviates to the same side.
/// So one lone odd period is followed too, and left again in the next: to balance what was there last is never worse than not to.
/// But what goes to and fro from one period to the next is noise, and is soon taken for usual.
///
/// ```
/// use talisman_lb::smooth::Smooth;
///
/// let mut load = Smooth::new(1.0);
/// load.add(1.04);
/// assert!(load.value() < 1.02); // it wavers
/// load.add(2.0);
/// assert_eq!(load.value(), 2.0); // it changes
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub struct Smooth {
    value: f64,
    /// How far a period's value usually is from it.
    noise: f64,
    /// To which side the last value lay beyond that: 1 or -1, 0 for neither.
    side: i8,
}

impl Smooth {
    /// What is known after the first period.
    pub fn new(first: f64) -> Self {
        let first = if first.is_finite() { first } else { 0.0 };
        Smooth { value: first, noise: first.abs() * FIRST_NOISE, side: 0 }
    }

    /// What the next period is expected to bring.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Takes in a period's value. What is no number is left out.
    pub fn add(&mut self, measured: f64) {
        if !measured.is_finite() {
            return;
        }
        let deviation = measured - self.value;
        let usual = self.noise.max(LEAST_NOISE * self.value.abs());
        let side = side_of(deviation, usual);
        if deviation.abs() > CHANGE * usual {
            let comes_back = self.side != 0 && side != self.side;
            let learnt = self.noise + NOISE_WEIGHT * (deviation.abs() - self.noise);
            let changed = Smooth::new(measured);
            let noise = if comes_back { learnt.max(changed.noise) } else { changed.noise };
            *self = Smooth { noise, side, ..changed };
            return;
        }
        let goes_on = side != 0 && side == self.side;
        self.value += if goes_on { deviation } else { WEIGHT * deviation };
        self.noise += NOISE_WEIGHT * (deviation.abs() - self.noise);
        self.side = side;
    }

    /// Whether everything in it can be, where it comes from elsewhere.
    pub fn is_sound(&self) -> bool {
        self.value.is_finite() && self.noise.is_finite() && self.noise >= 0.0
    }
}

fn side_of(deviation: f64, usual: f64) -> i8 {
    match deviation {
        _ if deviation > usual => 1,
        _ if deviation < -usual => -1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(values: impl IntoIterator<Item = f64>) -> Smooth {
        let mut values = values.into_iter();
        let mut smooth = Smooth::new(values.next().expect("one at least"));
        values.for_each(|value| smooth.add(value));
        smooth
    }

    /// Between -1 and 1, as if at random.
    fn scatter(period: u32) -> f64 {
        f64::from(period.wrapping_mul(0x9e37_79b9) >> 8) / f64::from(1 << 23) - 1.0
    }

    #[test]
    fn noise_is_kept_out() {
        let noisy = |period| 1.0 + 0.04 * scatter(period);
        let squares = |errors: &mut dyn Iterator<Item = f64>| errors.map(|error| error * error).sum::<f64>();
        let mut smooth = Smooth::new(1.0);
        let smoothed = squares(&mut (0..1_000).map(|period| {
            smooth.add(noisy(period));
            smooth.value() - 1.0
        }));
        let raw = squares(&mut (0..1_000).map(|period| noisy(period) - 1.0));
        assert!(smoothed < 0.6 * raw, "{smoothed} of {raw}");
    }

    #[test]
    fn what_goes_to_and_fro_all_the_time_is_smoothed_however_far() {
        let noisy = |period: u32| 1.0 + 0.9 * scatter(period.wrapping_mul(0x85eb_ca6b) ^ 0x2545_f491);
        let mut smooth = Smooth::new(1.0);
        let (mut smoothed, mut raw) = (0.0, 0.0);
        for period in 0..1_000 {
            smooth.add(noisy(period));
            smoothed += (smooth.value() - 1.0).powi(2);
            raw += (noisy(period) - 1.0).powi(2);
        }
        assert!(smoothed < 0.7 * raw, "{smoothed} of {raw}");
    }

    #[test]
    fn changes_are_followed_within_two_periods() {
        let calm = || (0..50).map(|period| 1.0 + 0.02 * scatter(period));
        for changed in [0.0, 0.5, 0.9, 1.06, 1.2, 2.0, 50.0] {
            let value = after(calm().chain([changed, changed])).value();
            assert!((value - changed).abs() < 0.02, "{value} instead of {changed}");
        }
    }

    #[test]
    fn what_comes_and_goes_is_followed_each_time() {
        let mut smooth = Smooth::new(0.0);
        for period in 0..40 {
            let background = if period / 4 % 2 == 0 { 0.0 } else { 0.5 };
            smooth.add(background);
            if period % 4 >= 1 {
                assert!((smooth.value() - background).abs() < 0.01, "period {period}: {smooth:?}");
            }
        }
    }

    #[test]
    fn a_value_that_wanders_on_is_followed() {
        let wandering = (0..100).map(|period| 1.0 + f64::from(period) * 0.03);
        assert!((after(wandering).value() - 3.97).abs() < 0.031);
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        let smooth = after([1.0, f64::NAN, f64::INFINITY]);
        assert!(smooth.is_sound() && smooth.value() == 1.0);
        assert!(after([f64::NAN, 2.0]).value() == 2.0);
    }
}
