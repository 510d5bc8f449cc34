//! What the PEs of a node do: their turns, and what they do again.

use std::time::Instant;

use super::Driver;
use crate::logged::task::Task;
use talisman_core::logging::member::Taken;
use talisman_core::logging::replay::Next;

/// Messages in the queue of a PE from which on it takes in nothing.
const QUEUE_HIGH: usize = 1 << 16;
/// What a PE on this thread is handed one after the other that runs again, before the others are heard.
const STEPS: usize = 64;
/// Turns in which a PE with chores has done nothing, after which it waits for others.
const IDLE_TURNS: u32 = 2;

impl Driver<'_> {
    /// All that are at nothing begin something, if there is anything. Whether there was.
    pub(super) fn work(&mut self) -> bool {
        match () {
            () if self.has_failed => false,
            () if self.member.is_guided() => {
                let any = self.each(Self::replay);
                // Others may have said that its log is with them.
                self.settle();
                any
            }
            () if self.member.is_live() => self.hand_asked() | self.each(Self::turn),
            () => false,
        }
    }

    fn each(&mut self, work: impl Fn(&mut Self, u32) -> bool) -> bool {
        self.ranks().fold(false, |any, rank| work(self, rank) | any)
    }

    fn turn(&mut self, rank: u32) -> bool {
        if !self.runs() || self.has_failed || !self.seat(rank).is_ready() {
            return false;
        }
        let waits = self.kept.must_wait();
        let (now, has_mail) = (self.clock_of_turn(rank), self.member.has_any_for(rank));
        let seat = &mut self.seats[rank as usize];
        let stand = &seat.stand;
        // Chores may wait for others: a frozen PE always has some, and one that takes part in a wave until that has ended. Each
        // turn is an entry of the log.
        let has_chores = stand.has_chores && seat.idle_turns < IDLE_TURNS;
        // A frozen PE runs no entry, and what is kept is forgotten when all have frozen.
        let waits = !stand.is_frozen && waits;
        let has_work = has_mail || !waits && (stand.may_run || has_chores || stand.is_due(now));
        if !has_work || self.links.is_behind() {
            return false;
        }
        let may_run = stand.may_run;
        // Who waits is to hear that a checkpoint begins.
        let is_full = stand.waiting > QUEUE_HIGH && !waits;
        seat.had_mail = has_mail;
        let (taken, now) = match is_full {
            true => (Vec::new(), now),
            false if self.member.is_ticketed() => self.take_in_order(rank, now, may_run),
            false => (self.take_mail(rank, now, |_| true, true), now),
        };
        // Many may have taken long until here.
        let since = if taken.len() > 1 { Instant::now() } else { self.at };
        let bytes = self.kept.allowance() / u64::from(self.shape.pes_per_node);
        self.hand(rank, now, Task::Turn { taken, runs: !waits, bytes, since });
        true
    }

    /// What the clock of a PE is to say that begins a turn in this round, in nanoseconds. It does not go back.
    fn clock_of_turn(&self, rank: u32) -> u64 {
        let now = self.at.saturating_duration_since(self.of.start).as_nanos() as u64;
        now.max(self.seat(rank).stand.clock)
    }

    pub(super) fn take_mail(
        &mut self,
        rank: u32,
        now: u64,
        is_asked_for: impl Fn(u32) -> bool,
        with_rings: bool,
    ) -> Vec<Taken> {
        match self.member.take(rank, now, is_asked_for, with_rings) {
            Ok((taken, _)) => taken,
            Err(why) => {
                self.fail(why);
                Vec::new()
            }
        }
    }

    /// The same where frames come in the order of tickets; and what the PE's clock is to say.
    fn take_in_order(&mut self, rank: u32, now: u64, has_messages: bool) -> (Vec<Taken>, u64) {
        match self.member.take_in_order(rank, now, has_messages) {
            Ok(taken) => taken,
            Err(why) => {
                self.fail(why);
                (Vec::new(), now)
            }
        }
    }

    /// Some of what the PE before this one did.
    fn replay(&mut self, rank: u32) -> bool {
        for step in 0..STEPS {
            if self.has_failed || !self.seat(rank).is_ready() {
                return step > 0;
            }
            match self.member.next_again(rank, self.seat(rank).stand.may_run) {
                Ok(Next::Do(again)) => self.hand(rank, 0, Task::Again(again)),
                Ok(Next::Wait | Next::AtHorizon) => return step > 0,
                Err(why) => {
                    self.fail(why);
                    return true;
                }
            }
        }
        true
    }
}
