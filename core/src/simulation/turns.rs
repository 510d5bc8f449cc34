//! PEs take turns, and what they wrote goes on the network.

use std::sync::PoisonError;

use super::process::{Running, Stage};
use super::trace::Who;
use super::world::{Event, World};
use crate::pe::Here;
use crate::run::panics::caught;
use crate::run::worker;

/// What a PE takes to find what another of its node has sent, at most.
const WITHIN_NODE_NS: (u64, u64) = (50, 2_000);
/// PE 0 asks after so long without work whether anybody will ever have any; each time in vain it waits twice as long.
const FIRST_SUSPICION_NS: u64 = 10_000_000;
const SUSPICIONS_MAX: u32 = 6;

impl World {
    pub(super) fn turn(&self, number: u32, rank: u32) {
        let process = &self.nodes[number as usize];
        let Some(running) = process.running() else { return };
        {
            let turns = &mut process.turns.borrow_mut()[rank as usize];
            if turns.planned != Some(self.now()) {
                return;
            }
            turns.planned = None;
        }
        process.clock.set(self.now());
        let worked = self.take_turn(&running, rank);
        let pe = &running.pes[rank as usize];
        let run = pe.stats.run.get();
        self.trace.borrow_mut().note(self.now(), 1, u64::from(pe.id), run);
        self.trace.borrow_mut().explain(self.now(), Who::Node(number), || {
            format!("PE {} takes a turn: {run} entries so far, {} messages wait", pe.id, pe.waiting_messages())
        });
        self.plan_next_turn(number, rank, &running, worked);
        self.after_turn(number);
    }

    fn take_turn(&self, running: &Running, rank: u32) -> bool {
        let pe = &running.pes[rank as usize];
        let _here = Here::enter(pe);
        let mut worked = false;
        if pe.port.is_waiting() {
            // It is in the middle of an entry, in a nap further up on the stack.
            caught(pe, || worked = pe.port.wait_round(pe));
        } else {
            if self.suspects(running, rank) {
                pe.suspect_stuck();
            }
            caught(pe, || worked = worker::simulated_turn(pe, self.plan.schedule.batch));
        }
        worked
    }

    /// Whether PE 0 has had nothing to do for so long that it asks the others.
    fn suspects(&self, running: &Running, rank: u32) -> bool {
        let process = &self.nodes[running.node.number as usize];
        let mut turns = process.turns.borrow_mut();
        let turns = &mut turns[rank as usize];
        let due = turns.suspects_at.is_some_and(|at| at <= self.now());
        if due {
            turns.suspicions = (turns.suspicions + 1).min(SUSPICIONS_MAX);
            turns.suspects_at = None;
        }
        due
    }

    fn plan_next_turn(&self, number: u32, rank: u32, running: &Running, worked: bool) {
        let process = &self.nodes[number as usize];
        let pe = &running.pes[rank as usize];
        let schedule = self.plan.schedule;
        if worked {
            let pause = if self.happens(schedule.pause_ppm) { self.between(schedule.pause_ns) } else { 0 };
            let takes = self.between(schedule.turn_ns) * process.slowness(self.now());
            let until = self.now() + takes + pause;
            let turns = &mut process.turns.borrow_mut()[rank as usize];
            (turns.busy_until, turns.suspects_at) = (until, None);
            drop(turns);
            return self.wake(number, rank, until);
        }
        if let Some(due) = pe.timers.next() {
            let due = process.clock.until(self.now(), due.as_nanos() as u64);
            self.wake(number, rank, due.max(self.now() + 1));
        } else if pe.id == 0 && !pe.detector.is_counting() {
            let turns = &mut process.turns.borrow_mut()[rank as usize];
            let at = self.now() + (FIRST_SUSPICION_NS << turns.suspicions);
            turns.suspects_at = Some(at);
            drop(turns);
            self.wake(number, rank, at);
        }
    }

    /// Plans a turn of a PE, unless an earlier one is planned.
    pub(super) fn wake(&self, number: u32, rank: u32, at: u64) {
        let process = &self.nodes[number as usize];
        let mut all = process.turns.borrow_mut();
        let Some(turns) = all.get_mut(rank as usize) else { return };
        let at = at.max(turns.busy_until).max(self.now());
        if turns.planned.is_none_or(|planned| planned > at) {
            turns.planned = Some(at);
            drop(all);
            self.plan(at, Event::Turn(number, rank));
        }
    }

    /// A node has done something: what it wrote goes on the network, what it said to the launcher, and the other PEs of the
    /// node find what they were sent.
    pub(super) fn after_turn(&self, number: u32) {
        let process = &self.nodes[number as usize];
        self.collect(number);
        let missed = std::mem::take(&mut *process.missed.lock().unwrap_or_else(PoisonError::into_inner));
        let now = self.duration();
        for peer in missed {
            self.say(Who::Node(number), format_args!("misses its connection with {peer:?}"));
            self.with_connecting(number, |connecting| connecting.on_broken(now, peer));
        }
        self.hand_over_what_was_said(number);
        let Some(running) = process.running() else { return };
        for (rank, pe) in (0..).zip(&running.pes) {
            if pe.port.has_work() {
                self.wake(number, rank, self.now() + self.between(WITHIN_NODE_NS));
            }
        }
        if process.job.is_over() && process.stage.get() == Stage::Up {
            self.finish(number, &running);
        }
    }
}
