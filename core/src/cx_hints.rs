//! What a program tells load balancing of its elements.

use crate::chare::ArrayChare;
use crate::cx::Cx;
use talisman_kernel::measure::{is_load, is_position};

impl<C: ArrayChare> Cx<C> {
    /// Tells load balancing how many seconds this element takes in a period, in place of what is measured, from now on.
    ///
    /// # Panics
    /// If that is negative, infinite or no number.
    #[track_caller]
    pub fn set_load(&mut self, seconds: f64) {
        assert!(is_load(seconds), "an object's load is a number of seconds, 0 or more, not {seconds}");
        self.head().give(|given| given.load = Some(seconds));
    }

    /// Tells load balancing whether it may move this element; at first it may. [`migrate_to`](Cx::migrate_to) always does.
    pub fn set_migratable(&mut self, migratable: bool) {
        self.head().give(|given| given.stays = !migratable);
    }

    /// Tells load balancing where this element is in the program's space, for strategies that keep neighbours together. Without
    /// it, that is its index if that has one to three dimensions.
    ///
    /// # Panics
    /// If a coordinate is infinite or no number.
    #[track_caller]
    pub fn set_position(&mut self, position: [f32; 3]) {
        assert!(is_position(position), "an object's position is three finite numbers, not {position:?}");
        self.head().give(|given| given.position = Some(position));
    }
}
