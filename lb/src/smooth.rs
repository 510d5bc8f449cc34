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
        if deviation.abs() > CHANGE * usual {
            *self = Smooth::new(measured);
            return;
        }
        let side = side_of(deviation, usual);
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
