//! A turn of a PE of a node that logs.

use std::cell::Cell;
use std::time::{Duration, Instant};

use talisman_core::logging::member::Taken;
use talisman_core::logging::replay::take_in;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::turn::Feed;

/// Messages run in a turn, if they are short; and if they are so short that what is done between two turns takes as long.
const BATCH: usize = 64;
const BATCH_MAX: usize = 1024;
/// After so many messages it is looked at the clock, in the first batch and after it.
const BETWEEN_CLOCKS: [usize; 2] = [16, 64];
/// A turn takes about so long, if its entries do not take longer.
const TURN: Duration = Duration::from_micros(100);
/// It has more than a batch while it does not take this long: what is sent in it waits until its end.
const SHORT: Duration = Duration::from_micros(12);

/// How many messages a PE runs in a turn: fewer where entries take long, since what they send leaves when the turn is over.
pub(super) struct Pace {
    most: Cell<usize>,
    /// So many have run in a turn that began then, and of which it has not been looked how long it took: what was sent goes first.
    open: Cell<Option<(usize, Instant)>>,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { most: Cell::new(BATCH), open: Cell::new(None) }
    }
}

impl Pace {
    /// The last turn is over, if there was one.
    pub(super) fn look(&self, now: impl FnOnce() -> Instant) {
        if let Some((ran, since)) = self.open.take() {
            self.ran(ran, now().saturating_duration_since(since));
        }
    }

    /// So many have run in a turn that took so long.
    fn ran(&self, ran: usize, took: Duration) {
        let most = self.most.get();
        let is_full = ran == most;
        if took > 2 * TURN {
            self.most.set((most / 4).max(1));
        } else if most > BATCH && took > 4 * SHORT {
            self.most.set(most / 2);
        } else if is_full && most < BATCH && took < TURN / 4 || is_full && took < SHORT {
            self.most.set((most * 2).min(BATCH_MAX));
        }
    }
}

/// What the driver lets its PE do in a turn.
pub(super) struct Round<'a> {
    taken: Vec<Taken>,
    most: usize,
    pace: &'a Pace,
    ran: usize,
    since: Instant,
    /// It ends when the PE has sent so many bytes in all.
    until: u64,
}

impl<'a> Round<'a> {
    /// It takes this in, and runs messages, if it may.
    pub(super) fn new((taken, runs): (Vec<Taken>, bool), since: Instant, pace: &'a Pace, until: u64) -> Self {
        let most = if runs { pace.most.get() } else { 0 };
        Round { taken, most, pace, ran: 0, since, until }
    }
}

impl Drop for Round<'_> {
    /// The turn is over.
    fn drop(&mut self) {
        if self.ran > 0 {
            self.pace.open.set(Some((self.ran, self.since)));
        }
    }
}

impl Feed for Round<'_> {
    fn take_in(&mut self, pe: &Pe) -> bool {
        let any = !self.taken.is_empty();
        for taken in self.taken.drain(..) {
            if let Err(why) = take_in(pe, taken) {
                pe.node.job.end(1, Some(why));
            }
        }
        any
    }

    fn most(&self) -> usize {
        self.most
    }

    fn is_enough(&mut self, pe: &Pe, ran: usize) -> bool {
        self.ran = ran;
        let between_clocks = BETWEEN_CLOCKS[usize::from(ran > BATCH)];
        pe.stats.bytes_between_nodes.get() >= self.until
            || ran.is_multiple_of(between_clocks) && self.since.elapsed() > TURN
    }

    fn looks_at_timers(&self) -> bool {
        self.most > 0
    }

    fn may_rest(&self, pe: &Pe) -> bool {
        self.most > 0 && pe.chores.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_entries_run_one_by_one_and_short_ones_in_batches() {
        let pace = Pace::default();
        (0..4).for_each(|_| pace.ran(1, 3 * TURN));
        assert_eq!(pace.most.get(), 1);
        pace.ran(1, TURN);
        assert_eq!(pace.most.get(), 1);
        (0..8).for_each(|_| pace.ran(pace.most.get(), TURN / 5));
        assert_eq!(pace.most.get(), BATCH);
        pace.ran(1, TURN / 5);
        assert_eq!(pace.most.get(), BATCH, "there were no more");
    }

    #[test]
    fn very_short_entries_run_in_large_batches() {
        let pace = Pace::default();
        (0..8).for_each(|_| pace.ran(pace.most.get(), SHORT / 2));
        assert_eq!(pace.most.get(), BATCH_MAX);
        pace.ran(10, SHORT / 2);
        assert_eq!(pace.most.get(), BATCH_MAX, "there were no more");
        (0..8).for_each(|_| pace.ran(10, 5 * SHORT));
        assert_eq!(pace.most.get(), BATCH, "they are not any more");
    }

    #[test]
    fn how_long_a_turn_took_is_looked_at_once_when_it_is_over() {
        let (pace, since) = (Pace::default(), Instant::now());
        let round = |ran| {
            let mut round = Round::new((Vec::new(), true), since, &pace, u64::MAX);
            round.ran = ran;
            round
        };
        drop(round(0));
        pace.look(|| unreachable!("nothing ran"));
        drop(round(1));
        assert_eq!(pace.most.get(), BATCH, "nobody has looked");
        pace.look(|| since + 3 * TURN);
        assert_eq!(pace.most.get(), BATCH / 4);
        pace.look(|| unreachable!("it was looked at"));
    }
}
