//! Whether the other side of a connection is still there.
//!
//! Silence is counted in one's own ticks, not by a clock: a process that was stopped, and everybody else with it (Ctrl-Z),
//! has then heard nothing for an hour of the clock, but for one tick of its own.

use std::time::Duration;

/// How often both sides tick, and say that they are there.
pub const TICK: Duration = Duration::from_millis(250);

/// How often the launcher looks who has been silent, and at what else is due.
pub const LOOK: Duration = Duration::from_millis(50);

/// Counts ticks without a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    silent: u32,
    limit: u32,
}

impl Heartbeat {
    /// Nothing was heard yet; after `limit` without a word the other side counts as lost.
    pub fn new(limit: Duration) -> Self {
        let ticks = limit.as_millis().div_ceil(TICK.as_millis());
        Heartbeat { silent: 0, limit: u32::try_from(ticks).unwrap_or(u32::MAX).max(1) }
    }

    /// The same in looks, of which there are more in the same time: within `limit` of its last word the other side counts as lost.
    pub fn in_looks(limit: Duration) -> Self {
        let looks = limit.as_millis() / LOOK.as_millis();
        Heartbeat { silent: 0, limit: u32::try_from(looks).unwrap_or(u32::MAX).saturating_sub(1).max(1) }
    }

    /// The other side said something.
    pub fn heard(&mut self) {
        self.silent = 0;
    }

    /// The last word came at most so long ago, in ticks.
    pub fn unheard(&self) -> Duration {
        TICK * self.silent.saturating_add(1)
    }

    /// A tick went by; whether the other side has been silent for too long, said once.
    #[must_use]
    pub fn tick(&mut self) -> bool {
        self.silent = self.silent.saturating_add(1);
        // The tick under way does not count in full.
        self.silent == self.limit.saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_for_the_limit_is_said_once() {
        let mut heartbeat = Heartbeat::new(TICK * 4);
        let said: Vec<bool> = (0..8).map(|_| heartbeat.tick()).collect();
        assert_eq!(said, [false, false, false, false, true, false, false, false]);
    }

    #[test]
    fn in_looks_the_limit_is_not_exceeded() {
        let mut heartbeat = Heartbeat::in_looks(Duration::from_millis(500));
        let looks = 1 + (0..100).take_while(|_| !heartbeat.tick()).count();
        assert_eq!(LOOK * looks as u32, Duration::from_millis(500));
    }

    #[test]
    fn a_word_starts_the_count_again() {
        let mut heartbeat = Heartbeat::new(TICK * 2);
        for _ in 0..20 {
            assert!(!heartbeat.tick());
            assert!(!heartbeat.tick());
            heartbeat.heard();
        }
    }

    #[test]
    fn the_last_word_is_no_older_than_said() {
        let mut heartbeat = Heartbeat::new(TICK * 8);
        (0..3).for_each(|_| _ = heartbeat.tick());
        assert_eq!(heartbeat.unheard(), TICK * 4, "the tick under way is nearly over");
        heartbeat.heard();
        assert_eq!(heartbeat.unheard(), TICK);
    }

    #[test]
    fn the_shortest_limit_is_a_whole_tick() {
        let mut heartbeat = Heartbeat::new(Duration::from_nanos(1));
        assert_eq!([heartbeat.tick(), heartbeat.tick()], [false, true]);
    }
}
