//! A PE as members reckon with it: odd measurements made harmless.

use crate::snapshot::Pe;

/// How long a PE takes for work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    /// Above zero and finite.
    pub speed: f64,
    /// Seconds of others, zero at least and finite.
    pub background: f64,
    /// Whether objects may be put there.
    pub available: bool,
}

impl Place {
    /// Seconds that it takes for a period with objects of so much load.
    pub fn seconds(&self, load: f64) -> f64 {
        self.background + load / self.speed
    }

    #[cfg(test)]
    /// Load of objects with which it takes so many seconds.
    pub fn load(&self, seconds: f64) -> f64 {
        (seconds - self.background) * self.speed
    }
}

impl From<&Pe> for Place {
    fn from(pe: &Pe) -> Self {
        let speed = if pe.speed > 0.0 { pe.speed.clamp(1.0 / SPEED_MAX, SPEED_MAX) } else { 1.0 };
        Place { speed, background: sound(pe.background), available: pe.available }
    }
}

/// No processor is faster, or slower, by this: sums and quotients stay finite.
const SPEED_MAX: f64 = 1e9;

/// No period is longer.
const SECONDS_MAX: f64 = 1e15;

/// A number of seconds that may be added up: what is not one counts as none.
pub(crate) fn sound(seconds: f64) -> f64 {
    if seconds > 0.0 { seconds.min(SECONDS_MAX) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_measurements_are_harmless() {
        let odd = Pe { node: 0, speed: f64::NAN, background: f64::NAN, available: true };
        let place = Place::from(&odd);
        assert_eq!((place.speed, place.background), (1.0, 0.0));
        assert_eq!(Place::from(&Pe { speed: 0.0, background: -1.0, ..odd }), place);
        assert_eq!(Place::from(&Pe { speed: 2.0, background: 3.0, ..odd }).seconds(4.0), 5.0);
        assert_eq!(Place::from(&Pe { speed: 2.0, background: 3.0, ..odd }).load(5.0), 4.0);
    }
}
