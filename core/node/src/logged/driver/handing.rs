//! What a node's PEs are handed, and hand back.

use std::panic::resume_unwind;

use super::{Driver, FIRST};
use crate::logged::seat::Seat;
use crate::logged::task::{Answer, Done, Handed, Task};
use talisman_kernel::pe::turn::Command;

/// More room is not kept for what a PE sends.
const ROOM_MAX: usize = 1 << 10;

impl Driver<'_> {
    /// The PE of this rank, which is at nothing, does this.
    pub(super) fn hand(&mut self, rank: u32, now: u64, task: Task) {
        let record = self.member.lend(rank);
        let seat = &mut self.seats[rank as usize];
        let room = std::mem::take(&mut seat.room);
        if let Some(done) = seat.hand(Handed { now, record, task, room }) {
            _ = self.take_back(rank, done);
        }
    }

    /// The same, for what it answers. All are at nothing then.
    pub(super) fn ask(&mut self, rank: u32, task: Task) -> Answer {
        self.gather();
        let (record, now) = (self.member.lend(rank), self.now());
        let seat = &mut self.seats[rank as usize];
        let room = std::mem::take(&mut seat.room);
        let done = seat.hand(Handed { now, record, task, room });
        // Nobody else is at anything.
        let done = done.unwrap_or_else(|| self.returns.wait().1);
        self.take_back(rank, done)
    }

    /// Waits until all are at nothing.
    pub(super) fn gather(&mut self) {
        while self.is_any_out() {
            let (rank, done) = self.returns.wait();
            _ = self.take_back(rank, done);
        }
    }

    /// What those on other threads have done by now. Whether any has.
    pub(super) fn take_back_some(&mut self) -> bool {
        let mut any = false;
        while let Some((rank, done)) = self.returns.take() {
            _ = self.take_back(rank, done);
            any = true;
        }
        any
    }

    /// A PE has done what it was handed: it is logged what it was given, and leaves what it has sent and said.
    fn take_back(&mut self, rank: u32, done: Done) -> Answer {
        let Done { record, mut sent, said, stand, answer } = done;
        self.member.take_back(rank, record);
        // In a turn nobody asks for that until what the PE has sent is on its way.
        let looks_later = stand.is_none() && self.member.is_live() && matches!(answer, Answer::Did(_));
        let seat = &mut self.seats[rank as usize];
        seat.is_out = false;
        match stand {
            Some(stand) => seat.stand = stand,
            None if looks_later => {}
            None => seat.look(),
        }
        match answer {
            // As one on this thread does.
            Answer::Panicked(panic) => resume_unwind(panic),
            Answer::Did(did) => {
                let is_idle = !did && !std::mem::take(&mut seat.had_mail);
                seat.idle_turns = if is_idle { seat.idle_turns + 1 } else { 0 };
            }
            Answer::Failed(ref why) => self.fail(why.clone()),
            _ => {}
        }
        self.collect(rank, said, &mut sent);
        let seat = &mut self.seats[rank as usize];
        if looks_later {
            seat.look();
        }
        if sent.capacity() <= ROOM_MAX {
            seat.room = sent;
        }
        answer
    }

    /// Somebody beside the PEs asks the first of them for something.
    pub(super) fn command(&mut self, command: Command) {
        self.asked.push_back(command);
        self.hand_asked();
    }

    /// What it is asked for, as soon as it is at nothing.
    pub(super) fn hand_asked(&mut self) -> bool {
        let mut any = false;
        while self.runs()
            && self.seat(FIRST).is_ready()
            && let Some(command) = self.asked.pop_front()
        {
            self.seats[FIRST as usize].idle_turns = 0;
            self.hand(FIRST, self.now(), Task::Command(command));
            any = true;
        }
        any
    }

    /// Whether any is at something.
    pub(super) fn is_any_out(&self) -> bool {
        self.seats.iter().any(|seat| seat.is_out)
    }

    /// Whether all are at nothing, and there.
    pub(super) fn all_are_ready(&self) -> bool {
        self.seats.iter().all(Seat::is_ready)
    }
}
