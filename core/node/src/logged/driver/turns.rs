//! What the PEs of a node do: their turns, and what they do again.

use std::time::{Duration, Instant};

use super::Driver;
use talisman_core::logging::member::Taken;
use talisman_core::logging::replay::{Replayed, may_run, step, take_in};
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::turn::Feed;

/// Messages run in a turn, if they are short.
const BATCH: usize = 64;
/// After so many of them it is looked at the clock.
const BETWEEN_CLOCKS: usize = 16;
/// A turn takes about so long, if its entries do not take longer.
const TURN: Duration = Duration::from_micros(100);
/// Messages in the queue of a PE from which on it takes in nothing.
const QUEUE_HIGH: usize = 1 << 16;
/// Steps of a PE that runs again before the others are heard.
const STEPS: usize = 64;
/// Turns in which a PE with chores has done nothing, after which it waits for others.
const IDLE_TURNS: u32 = 2;

impl Driver<'_> {
    pub(super) fn work(&mut self) -> bool {
        match () {
            () if self.has_failed => false,
            () if self.member.is_guided() => self.each(Self::replay),
            () if self.member.is_live() => self.each(Self::turn),
            () => false,
        }
    }

    /// One after the other. Whether any of them has done anything.
    fn each(&mut self, work: impl Fn(&mut Self, u32) -> bool) -> bool {
        self.ranks().fold(false, |any, rank| work(self, rank) | any)
    }

    fn turn(&mut self, rank: u32) -> bool {
        if !self.runs() || self.has_failed {
            return false;
        }
        let hosted = &self.pes[rank as usize];
        hosted.set_clock(self.of.start.elapsed());
        let Some(pe) = &hosted.pe else { return false };
        let has_mail = self.member.has_any_for(rank);
        // Chores may wait for others: a frozen PE always has some, and one that takes part in a wave until that has ended. Each
        // turn is an entry of the log.
        let has_chores = pe.chores.get() && hosted.idle_turns < IDLE_TURNS;
        // A frozen PE runs no entry, and what is kept is forgotten when all have frozen.
        let waits = !pe.frozen.get() && self.kept.must_wait();
        let has_work = has_mail || !waits && (may_run(pe) || has_chores || is_due(pe));
        if !has_work || self.links.is_behind() {
            return false;
        }
        let sent = pe.stats.bytes_between_nodes.get();
        // Who waits is to hear that a checkpoint begins.
        let taken = match pe.waiting_messages() > QUEUE_HIGH && !waits {
            true => Vec::new(),
            false => self.take_mail(rank, |_| true, true),
        };
        let round = Round::of(taken, if waits { 0 } else { BATCH });
        let did = self.turn_with(rank, round.sending(sent.saturating_add(self.kept.allowance())));
        let idle_turns = &mut self.pes[rank as usize].idle_turns;
        *idle_turns = if did || has_mail { 0 } else { *idle_turns + 1 };
        true
    }

    pub(super) fn take_mail(
        &mut self,
        rank: u32,
        is_asked_for: impl Fn(u32) -> bool,
        with_rings: bool,
    ) -> Vec<Taken> {
        let now = self.pe(rank).clock().get();
        match self.member.take(rank, now, is_asked_for, with_rings) {
            Ok((taken, _)) => taken,
            Err(why) => {
                self.fail(why);
                Vec::new()
            }
        }
    }

    /// Whether anything was done.
    pub(super) fn turn_with(&mut self, rank: u32, round: Round) -> bool {
        let did = self.pe(rank).turn(round);
        self.collect(rank);
        did
    }

    /// Some of what the PE before this one did.
    fn replay(&mut self, rank: u32) -> bool {
        let mut any = false;
        for _ in 0..STEPS {
            let hosted = &self.pes[rank as usize];
            let Some(pe) = hosted.pe.as_ref().filter(|_| !self.has_failed) else { break };
            let seen = pe.node.windows[rank as usize].open(pe);
            let did = step(&mut self.member, rank, pe, |time| hosted.clock().set(time));
            drop(seen);
            match did {
                Ok(Replayed::Did) => any = true,
                Ok(Replayed::Waits | Replayed::AtHorizon) => break,
                Err(why) => {
                    self.fail(why);
                    return true;
                }
            }
            self.collect(rank);
        }
        self.collect(rank);
        any
    }
}

pub(super) fn is_due(pe: &Pe) -> bool {
    pe.timers.next().is_some_and(|due| due <= pe.clock.now())
}

/// A turn.
pub(super) struct Round {
    taken: Vec<Taken>,
    most: usize,
    since: Instant,
    /// It ends when the PE has sent so many bytes in all.
    until: u64,
}

impl Round {
    pub(super) fn of(taken: Vec<Taken>, most: usize) -> Self {
        Round { taken, most, since: Instant::now(), until: u64::MAX }
    }

    /// One that ends when the PE has sent so many bytes in all.
    fn sending(self, until: u64) -> Self {
        Round { until, ..self }
    }
}

impl Feed for Round {
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
        pe.stats.bytes_between_nodes.get() >= self.until
            || ran.is_multiple_of(BETWEEN_CLOCKS) && self.since.elapsed() > TURN
    }

    fn looks_at_timers(&self) -> bool {
        self.most > 0
    }

    fn may_rest(&self, pe: &Pe) -> bool {
        self.most > 0 && pe.chores.get()
    }
}
