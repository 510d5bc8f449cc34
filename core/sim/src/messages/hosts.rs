//! What PEs of one host share: its cores, and its line to the others.

use std::collections::VecDeque;

use talisman_base::ids::PeId;

/// A host of the model.
pub(super) struct Host {
    free_cores: u32,
    /// PEs that want a core, the next first.
    waiting: VecDeque<PeId>,
    /// Until when what leaves, and what enters, keeps its line busy.
    out: Line,
    into: Line,
}

#[derive(Default)]
struct Line {
    busy_until: u64,
}

/// How a PE stands to its host's cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Seat {
    /// Has nothing to do.
    #[default]
    Away,
    /// Waits for one.
    Waiting,
    /// Has one since then.
    Taken { since: u64 },
}

impl Host {
    pub(super) fn new(cores: u32) -> Self {
        Host { free_cores: cores, waiting: VecDeque::new(), out: Line::default(), into: Line::default() }
    }

    /// A PE wants to run: how it stands from now on, and to whom its core goes if it has had one for long enough.
    pub(super) fn seat(&mut self, pe: PeId, seat: Seat, now: u64, slice: u64) -> (Seat, Option<PeId>) {
        match seat {
            Seat::Waiting => (Seat::Waiting, None),
            Seat::Taken { since } if now - since < slice || self.waiting.is_empty() => (seat, None),
            Seat::Taken { .. } => {
                self.waiting.push_back(pe);
                (Seat::Waiting, self.waiting.pop_front())
            }
            Seat::Away if self.free_cores > 0 => {
                self.free_cores -= 1;
                (Seat::Taken { since: now }, None)
            }
            Seat::Away => {
                self.waiting.push_back(pe);
                (Seat::Waiting, None)
            }
        }
    }

    /// A PE has nothing more to do: to whom its core goes.
    pub(super) fn leave(&mut self) -> Option<PeId> {
        let next = self.waiting.pop_front();
        self.free_cores += u32::from(next.is_none());
        next
    }

    /// Something leaves: when its first byte is on the line, which is busy for so long then.
    pub(super) fn send(&mut self, now: u64, takes: u64) -> u64 {
        self.out.pass(now, takes)
    }

    /// Something enters: when its last byte is there.
    pub(super) fn receive(&mut self, now: u64, takes: u64) -> u64 {
        self.into.pass(now, takes) + takes
    }
}

impl Line {
    fn pass(&mut self, now: u64, takes: u64) -> u64 {
        let start = now.max(self.busy_until);
        self.busy_until = start + takes;
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_goes_to_who_waits_longest() {
        const SLICE: u64 = 10;
        let mut host = Host::new(1);
        assert_eq!(host.seat(0, Seat::Away, 5, SLICE), (Seat::Taken { since: 5 }, None));
        assert_eq!(host.seat(1, Seat::Away, 6, SLICE), (Seat::Waiting, None));
        assert_eq!(host.seat(2, Seat::Away, 6, SLICE), (Seat::Waiting, None));
        let taken = Seat::Taken { since: 5 };
        assert_eq!(host.seat(0, taken, 14, SLICE), (taken, None), "its time is not over");
        assert_eq!(host.seat(0, taken, 15, SLICE), (Seat::Waiting, Some(1)));
        assert_eq!((host.leave(), host.leave(), host.leave()), (Some(2), Some(0), None));
        assert_eq!(host.seat(1, Seat::Away, 20, SLICE), (Seat::Taken { since: 20 }, None));
    }

    #[test]
    fn what_is_alone_keeps_its_core() {
        let mut host = Host::new(1);
        let (seat, _) = host.seat(0, Seat::Away, 0, 10);
        assert_eq!(host.seat(0, seat, 1000, 10), (Seat::Taken { since: 0 }, None));
    }

    #[test]
    fn a_line_takes_one_after_the_other() {
        let mut host = Host::new(1);
        assert_eq!([host.send(0, 10), host.send(5, 10), host.send(50, 10)], [0, 10, 50]);
        assert_eq!([host.receive(0, 10), host.receive(5, 10), host.receive(50, 10)], [10, 20, 60]);
    }
}
