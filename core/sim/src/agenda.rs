//! What is to happen, in the order in which it will.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events by their time, and those of one time in the order in which they were planned.
pub(super) struct Agenda<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    planned: u64,
}

/// An event whose time has come.
pub(super) struct Due<E> {
    pub(super) at: u64,
    serial: u64,
    pub(super) event: E,
}

struct Entry<E> {
    at: u64,
    serial: u64,
    event: E,
}

impl<E> Agenda<E> {
    pub(super) fn new() -> Self {
        Agenda { heap: BinaryHeap::new(), planned: 0 }
    }

    pub(super) fn plan(&mut self, at: u64, event: E) {
        self.planned += 1;
        self.heap.push(Reverse(Entry { at, serial: self.planned, event }));
    }

    /// The next event, and its time.
    pub(super) fn next(&mut self) -> Option<Due<E>> {
        self.heap.pop().map(|Reverse(entry)| Due { at: entry.at, serial: entry.serial, event: entry.event })
    }

    /// What was due waits until then, and comes before what was planned after it.
    pub(super) fn put_off(&mut self, at: u64, Due { serial, event, .. }: Due<E>) {
        self.heap.push(Reverse(Entry { at, serial, event }));
    }
}

impl<E> Entry<E> {
    fn key(&self) -> (u64, u64) {
        (self.at, self.serial)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_as_they_were_planned() {
        let mut agenda = Agenda::new();
        for (at, event) in [(5, 'c'), (1, 'a'), (5, 'd'), (3, 'b')] {
            agenda.plan(at, event);
        }
        let all: Vec<_> = std::iter::from_fn(|| agenda.next().map(|due| (due.at, due.event))).collect();
        assert_eq!(all, [(1, 'a'), (3, 'b'), (5, 'c'), (5, 'd')]);
    }

    #[test]
    fn what_was_put_off_stays_before_what_was_planned_later() {
        let mut agenda = Agenda::new();
        agenda.plan(1, 'a');
        agenda.plan(2, 'b');
        let due = agenda.next().unwrap();
        agenda.put_off(2, due);
        let all: Vec<_> = std::iter::from_fn(|| agenda.next().map(|due| due.event)).collect();
        assert_eq!(all, ['a', 'b']);
    }
}
