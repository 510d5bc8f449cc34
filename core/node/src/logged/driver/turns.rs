//! What the PE of a node does: its turns, and what it does again.

use std::time::{Duration, Instant};

use super::{Driver, RANK};
use talisman_core::logging::member::Taken;
use talisman_core::logging::replay::{Replayed, may_run, step, take_in};
use talisman_kernel::panics::caught;
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};

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
/// Turns in which a frozen PE has done nothing, after which it waits for others.
const IDLE_TURNS: u32 = 2;

impl Driver<'_> {
    pub(super) fn work(&mut self) -> bool {
        match () {
            () if self.has_failed => false,
            () if self.member.is_guided() => self.replay(),
            () if self.member.is_live() && !self.finishing && !self.of.job.is_over() => self.turn(),
            () => false,
        }
    }

    /// The time of the job, which does not go back.
    pub(super) fn set_clock(&mut self) {
        let now = self.of.start.elapsed().as_nanos() as u64;
        self.clock.set(now.max(self.clock.get()));
    }

    pub(super) fn turn(&mut self) -> bool {
        self.set_clock();
        let Some(pe) = &self.pe else { return false };
        let has_mail = self.member.has_any_for(RANK);
        // A frozen PE always has chores, which may wait for others.
        let has_chores = pe.chores.get() && (!pe.frozen.get() || self.idle_turns < IDLE_TURNS);
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
            false => self.take_mail(|_| true),
        };
        let round = Round::of(taken, if waits { 0 } else { BATCH });
        let did = self.turn_with(round.sending(sent.saturating_add(self.kept.allowance())));
        self.idle_turns = if did || has_mail { 0 } else { self.idle_turns + 1 };
        true
    }

    pub(super) fn take_mail(&mut self, is_asked_for: impl Fn(u32) -> bool) -> Vec<Taken> {
        match self.member.take(RANK, self.clock.get(), is_asked_for, false) {
            Ok((taken, _)) => taken,
            Err(why) => {
                self.fail(why);
                Vec::new()
            }
        }
    }

    /// Whether anything was done.
    pub(super) fn turn_with(&mut self, round: Round) -> bool {
        let Some(pe) = &self.pe else { return false };
        let mut did = false;
        {
            let _here = Here::enter(pe);
            let _seen = pe.node.windows[RANK as usize].open(pe);
            caught(pe, || did = pe.turn(round));
        }
        self.collect();
        did
    }

    /// Some of what the PE before this one did.
    pub(super) fn replay(&mut self) -> bool {
        let mut any = false;
        for _ in 0..STEPS {
            let Some(pe) = &self.pe else { break };
            let clock = &self.clock;
            let seen = pe.node.windows[RANK as usize].open(pe);
            let did = step(&mut self.member, RANK, pe, |time| clock.set(time));
            drop(seen);
            match did {
                Ok(Replayed::Did) => any = true,
                Ok(Replayed::Waits | Replayed::AtHorizon) => break,
                Err(why) => {
                    self.fail(why);
                    return true;
                }
            }
            self.collect();
        }
        self.collect();
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
