//! PEs take turns, and what they wrote goes on the network.

use std::sync::PoisonError;

use super::process::{Running, Stage};
use super::trace::Who;
use super::world::{Event, World};
use talisman_kernel::witness::{self, Seen};
use talisman_node::turns::Next;
use talisman_observe::sometimes::sometimes;

/// What a PE takes to find what another of its node has sent, at most.
const WITHIN_NODE_NS: (u64, u64) = (50, 2_000);
/// A PE that cannot go on looks again after so long.
const LOOK_AGAIN_NS: u64 = 10_000;

/// Whoever has a turn at every event of such a number writes its diary.
const DIARY_EVENTS: u64 = 64;

impl World {
    pub(super) fn turn(&self, number: u32, rank: u32) {
        let process = &self.nodes[number as usize];
        let Some(running) = process.running() else { return };
        if !process.is_planned(rank, self.now()) || !process.went.get() {
            return;
        }
        if process.job.is_over() {
            return self.linger(number, &running, rank);
        }
        process.clock.set(self.now());
        let pe = &running.pes[rank as usize];
        if process.steps.of(pe.pe.id).is_some() {
            // It stands still at a step, further up on the stack, and looks again when it goes on.
            return;
        }
        let worked = match pe.is_waiting() {
            // It is in the midst of an entry, further up on the stack.
            true => pe.wait_round(),
            // It could not begin, and its process is about to end.
            false if !pe.has_begun() && process.stage.get() == Stage::Leaving => return,
            false if !pe.has_begun() => return self.stand_by(number, &running, rank),
            false => {
                witness::see(|| Seen::Turn { pe: pe.pe.id });
                pe.turn(self.plan.schedule.batch as usize)
            }
        };
        self.note_turn(number, &running, rank);
        if self.trace.borrow().events().is_multiple_of(DIARY_EVENTS) {
            self.write_diary(number);
        }
        if let Some(kept_ppm) = process.dies_amid.take() {
            self.write_first_part(number, kept_ppm);
            self.cut_short(number);
            return self.kill(number);
        }
        if !self.nodes.is_last(process) {
            // It was killed while it waited, further down on the stack, and another process is the node now.
            return;
        }
        self.plan_next_turn(number, rank, &running, worked);
        self.after_turn(number);
    }

    /// A PE that is yet to begin, as another of its node waits in the midst of that, does what one does that waits. On a thread of its
    /// own it would have begun, and written what its link was given before: somebody's part, for which whoever waits may be waiting.
    fn stand_by(&self, number: u32, running: &Running, rank: u32) {
        sometimes("a PE had a turn while another of its node waited in the midst of going back");
        if running.pes[rank as usize].wait_round() {
            self.note_turn(number, running, rank);
            self.after_turn(number);
        } else {
            self.see_to_connections(number);
        }
    }

    /// A PE that has halted does no more than one that waits, if it does anything.
    fn linger(&self, number: u32, running: &Running, rank: u32) {
        let process = &self.nodes[number as usize];
        if !process.lives.lingers.get() {
            return;
        }
        process.clock.set(self.now());
        if running.pes[rank as usize].wait_round() {
            self.wake(number, rank, self.now() + LOOK_AGAIN_NS);
        }
        self.see_to_connections(number);
    }

    fn note_turn(&self, number: u32, running: &Running, rank: u32) {
        let pe = &running.pes[rank as usize].pe;
        let run = pe.stats.run.get();
        let mut trace = self.trace.borrow_mut();
        trace.note(self.now(), 1, u64::from(pe.id), run);
        trace.explain(self.now(), Who::Node(number), || {
            format!(
                "PE {} has had a turn: {run} entries so far, {} messages wait",
                pe.id,
                pe.waiting_messages()
            )
        });
    }

    fn plan_next_turn(&self, number: u32, rank: u32, running: &Running, worked: bool) {
        let process = &self.nodes[number as usize];
        let schedule = self.plan.schedule;
        if worked {
            let pause = if self.happens(schedule.pause_ppm) { self.between(schedule.pause_ns) } else { 0 };
            let takes = self.between(schedule.turn_ns) * process.slowness(self.now());
            process.is_busy(rank, self.now() + takes + pause);
        }
        match running.pes[rank as usize].next() {
            // Nothing could be done, though there is something to do: another PE's ring is full, and it has to run first.
            Next::Now if !worked => self.wake(number, rank, self.now() + LOOK_AGAIN_NS),
            Next::Now => self.wake(number, rank, self.now()),
            Next::At(due) => {
                let due = process.clock.until(self.now(), due.as_nanos() as u64);
                self.wake(number, rank, due.max(self.now() + 1));
            }
            Next::Never => {}
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
            // A timer's turn is wanted anew after each that comes before it: it is among the events already.
            let is_there = at == turns.last && at > self.now();
            turns.last = turns.last.max(at);
            drop(all);
            if !is_there {
                self.plan(at, Event::Turn(number, rank));
            }
        }
    }

    /// A node has done something: what it wrote goes on the network, what it said to the launcher, and the other PEs of the
    /// node find what they were sent.
    pub(super) fn after_turn(&self, number: u32) {
        let process = &self.nodes[number as usize];
        self.see_to_connections(number);
        self.hand_over_what_was_said(number);
        self.judge_commit(process);
        self.note_recovered();
        self.judge_owed(process);
        self.use_shelf(number);
        let Some(running) = process.running() else { return };
        for (rank, pe) in (0..).zip(&running.pes) {
            if pe.has_work() {
                self.wake(number, rank, self.now() + self.between(WITHIN_NODE_NS));
            }
        }
        // A PE that waits ends its entry first.
        if process.job.is_over() && process.stage.get() == Stage::Up && !process.is_amid() {
            match self.survives() {
                true => self.plan(self.now(), Event::Stopped(number)),
                false => self.finish(number, &running),
            }
        }
    }

    /// What PEs wrote goes on the network, and connections that they miss are made again.
    fn see_to_connections(&self, number: u32) {
        let process = &self.nodes[number as usize];
        self.collect();
        let missed = std::mem::take(&mut *process.missed.lock().unwrap_or_else(PoisonError::into_inner));
        let now = self.duration();
        for peer in missed {
            self.say(Who::Node(number), format_args!("misses its connection with {peer:?}"));
            self.with_connecting(number, |connecting| connecting.on_broken(now, peer));
        }
    }
}
