//! A PE as members reckon with it.

use crate::snapshot::Pe;
use talisman_pup::Pup;

/// How long a PE takes for work: odd measurements are made harmless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pup)]
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

    /// Load of objects with which it takes so many seconds; below zero if the background alone takes longer.
    pub fn load(&self, seconds: f64) -> f64 {
        (seconds - self.background) * self.speed
    }
}

impl From<&Pe> for Place {
    fn from(pe: &Pe) -> Self {
        Place { speed: pe.rate(), background: pe.busy(), available: pe.available }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_loads_belong_to_each_other() {
        let place = Place::from(&Pe { node: 0, speed: 2.0, background: 3.0, available: true });
        assert_eq!(place.seconds(4.0), 5.0);
        assert_eq!(place.load(5.0), 4.0);
        assert_eq!(place.load(1.0), -4.0);
    }
}
