//! What the program says of an object for load balancing.

use talisman_pup::Pup;

/// What the program said of an object; it moves with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pup)]
pub struct Given {
    /// Seconds that it takes in a period, instead of what is measured.
    pub load: Option<f64>,
    /// It is not to be moved.
    pub stays: bool,
    /// Where it is in the program's space.
    pub position: Option<[f32; 3]>,
}

impl Given {
    /// Whether it can be, where it comes from elsewhere.
    pub fn is_sound(&self) -> bool {
        self.load.is_none_or(is_load) && self.position.is_none_or(is_position)
    }
}

/// Whether it can be the time that an object takes.
pub fn is_load(seconds: f64) -> bool {
    seconds.is_finite() && seconds >= 0.0
}

/// Whether it can be a place.
pub fn is_position(position: [f32; 3]) -> bool {
    position.iter().all(|coordinate| coordinate.is_finite())
}
