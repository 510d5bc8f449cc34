//! How fast the core of a modelled PE is, and who else wants it.

use std::cell::Cell;
use std::time::Duration;

/// The core of a PE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Core {
    /// What it does in a second, where 1 is usual: what a program charges takes so much less.
    pub speed: f64,
    /// Somebody else who wants it.
    pub guest: Option<Guest>,
}

/// A program that is no part of the job, and has a part of a core for a while, again and again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guest {
    /// The part of the core that it gets, below 1, whenever it is there and the PE computes.
    pub share: f64,
    /// When it comes for the first time, in nanoseconds.
    pub comes_ns: u64,
    /// For how long it stays each time.
    pub stays_ns: u64,
    /// For how long it is away each time.
    pub away_ns: u64,
}

impl Default for Core {
    fn default() -> Self {
        Core { speed: 1.0, guest: None }
    }
}

impl Core {
    /// What a usual core does in `work`, done here from `now` on: how long it takes, and how much of that the guest has. In
    /// nanoseconds.
    pub(super) fn takes(&self, now: u64, work: u64) -> (u64, u64) {
        let alone = (work as f64 / self.speed) as u64;
        let Some(guest) = &self.guest else { return (alone, 0) };
        let (mut at, mut left) = (now, alone as f64);
        while left >= 1.0 {
            let (share, until) = guest.share_at(at);
            let there = until - at;
            let done = there as f64 * (1.0 - share);
            if done >= left {
                at += (left / (1.0 - share)) as u64;
                break;
            }
            left -= done;
            at = until;
        }
        let took = at - now;
        (took, took.saturating_sub(alone))
    }
}

impl Guest {
    /// The part of the core that it has at a time, and until when that is so.
    fn share_at(&self, at: u64) -> (f64, u64) {
        let Some(since) = at.checked_sub(self.comes_ns) else { return (0.0, self.comes_ns) };
        if self.stays_ns == 0 {
            return (0.0, u64::MAX);
        }
        let round = self.stays_ns + self.away_ns;
        let begun = at - since % round;
        match since % round < self.stays_ns {
            true => (self.share.clamp(0.0, 0.99), begun + self.stays_ns),
            false => (0.0, begun + round),
        }
    }
}

thread_local! {
    static TURN: Cell<Turn> = const { Cell::new(Turn { core: Core { speed: 1.0, guest: None }, gone_ns: None }) };
}

/// What a PE's turn has to know of its core.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    pub(super) core: Core,
    /// How long the PE has been asleep, or others have had its core, so far; none on machines where there are no others.
    pub(super) gone_ns: Option<u64>,
}

impl Turn {
    /// The turn of a PE begins.
    pub(super) fn begin(self) {
        TURN.set(self);
    }

    /// The turn ends: what has become of it.
    pub(super) fn end() -> Turn {
        TURN.take()
    }
}

/// How long the PE that has its turn needs for what a usual core does in `work`.
pub(super) fn takes(now: u64, work: Duration) -> u64 {
    let mut turn = TURN.get();
    let (took, lost) = turn.core.takes(now, work.as_nanos() as u64);
    turn.gone_ns = turn.gone_ns.map(|gone| gone + lost);
    TURN.set(turn);
    took
}

/// What the PE that has its turn has had of its core; none where nobody else wants it.
pub(super) fn computed(now: u64) -> Option<Duration> {
    TURN.get().gone_ns.map(|gone| Duration::from_nanos(now.saturating_sub(gone)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUEST: Guest = Guest { share: 0.5, comes_ns: 100, stays_ns: 50, away_ns: 150 };

    #[test]
    fn a_slow_core_takes_longer() {
        assert_eq!(Core { speed: 0.5, guest: None }.takes(7, 100), (200, 0));
        assert_eq!(Core::default().takes(7, 100), (100, 0));
    }

    #[test]
    fn a_guest_takes_its_part_while_it_is_there() {
        let core = Core { speed: 1.0, guest: Some(GUEST) };
        assert_eq!(core.takes(0, 100), (100, 0), "it has not come");
        assert_eq!(core.takes(100, 20), (40, 20), "it is there");
        assert_eq!(core.takes(90, 30), (50, 20), "it comes meanwhile");
        assert_eq!(core.takes(140, 30), (35, 5), "it leaves meanwhile");
        assert_eq!(core.takes(90, 200), (240, 40), "it comes twice, and the second time is not over");
        assert_eq!(core.takes(150, 0), (0, 0));
        let never = Core { speed: 1.0, guest: Some(Guest { stays_ns: 0, ..GUEST }) };
        assert_eq!(never.takes(90, 1_000_000), (1_000_000, 0));
    }
}
