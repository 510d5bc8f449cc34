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
        let has_work = self.member.has_any_for(RANK) || may_run(pe) || pe.chores.get() || is_due(pe);
        if !has_work || self.links.is_behind() {
            return false;
        }
        let taken = match pe.waiting_messages() > QUEUE_HIGH {
            true => Vec::new(),
            false => self.take_mail(|_| true),
        };
        self.turn_with(Round::of(taken, BATCH));
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

    pub(super) fn turn_with(&mut self, round: Round) {
        let Some(pe) = &self.pe else { return };
        {
            let _here = Here::enter(pe);
            let _seen = self.of.node.windows[RANK as usize].open(pe);
            caught(pe, || _ = pe.turn(round));
        }
        self.collect();
    }

    /// Some of what the PE before this one did.
    pub(super) fn replay(&mut self) -> bool {
        let mut any = false;
        for _ in 0..STEPS {
            let Some(pe) = &self.pe else { break };
            let clock = &self.clock;
            let seen = self.of.node.windows[RANK as usize].open(pe);
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
}

impl Round {
    pub(super) fn of(taken: Vec<Taken>, most: usize) -> Self {
        Round { taken, most, since: Instant::now() }
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

    fn is_enough(&mut self, _: &Pe, ran: usize) -> bool {
        ran.is_multiple_of(BETWEEN_CLOCKS) && self.since.elapsed() > TURN
    }

    fn looks_at_timers(&self) -> bool {
        self.most > 0
    }

    fn may_rest(&self, pe: &Pe) -> bool {
        self.most > 0 && pe.chores.get()
    }
}
