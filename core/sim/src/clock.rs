//! The clock of a simulated process: it may be fast, slow, or jump ahead.

use std::cell::Cell;
use std::rc::Rc;

use talisman_base::clock::Clock;

/// A clock that began at the world's.
#[derive(Debug, Default)]
pub(super) struct LocalClock {
    /// What its PEs read, as of the last [`LocalClock::set`].
    shown: Rc<Cell<u64>>,
    /// The world's time and its own when its pace last changed.
    since: Cell<(u64, u64)>,
    /// How much faster than the world's, in millionths.
    ppm: Cell<i64>,
}

impl LocalClock {
    /// For a PE.
    pub(super) fn clock(&self) -> Clock {
        Clock::simulated(self.shown.clone())
    }

    /// It is so late in the world; what the clock shows.
    pub(super) fn set(&self, now: u64) -> u64 {
        self.shown.set(self.at(now));
        self.shown.get()
    }

    /// It jumps ahead.
    pub(super) fn jump(&self, now: u64, by: u64) {
        self.since.set((now, self.at(now) + by));
    }

    /// It goes faster or slower than the world's from now on.
    pub(super) fn drift(&self, now: u64, ppm: i32) {
        self.since.set((now, self.at(now)));
        self.ppm.set(i64::from(ppm).max(-999_999));
    }

    /// When in the world it will show this, at `now` or later.
    pub(super) fn until(&self, now: u64, shown: u64) -> u64 {
        let left = shown.saturating_sub(self.at(now));
        let pace = (1_000_000 + self.ppm.get()) as u128;
        now + (u128::from(left) * 1_000_000).div_ceil(pace) as u64
    }

    fn at(&self, now: u64) -> u64 {
        let (then, shown) = self.since.get();
        let pace = (1_000_000 + self.ppm.get()) as u128;
        shown + (u128::from(now - then) * pace / 1_000_000) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_follows_the_world_until_it_drifts_or_jumps() {
        let clock = LocalClock::default();
        assert_eq!(clock.set(1_000), 1_000);
        clock.drift(1_000, 500_000);
        assert_eq!(clock.set(3_000), 4_000);
        clock.jump(3_000, 10_000);
        assert_eq!(clock.set(3_000), 14_000);
        clock.drift(5_000, -500_000);
        assert_eq!((clock.set(5_000), clock.set(7_000)), (17_000, 18_000));
    }

    #[test]
    fn it_shows_what_it_is_asked_for_when_it_says_so_and_not_before() {
        let clock = LocalClock::default();
        for ppm in [-999_999, -500_000, -7, 0, 3, 999_999] {
            clock.drift(10_000, ppm);
            let shown = clock.set(10_000) + 12_345;
            let due = clock.until(10_000, shown);
            assert!(clock.at(due) >= shown && clock.at(due - 1) < shown, "{ppm}");
        }
    }
}
