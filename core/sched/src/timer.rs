//! What is to happen at a time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Things with a deadline, first in first out among those of the same one.
///
/// It reads no clock: time is an argument, of any type with an order, so that it serves simulated time as well.
///
/// ```
/// use talisman_sched::timer::Timers;
///
/// let mut timers = Timers::new();
/// timers.insert(20, "later");
/// timers.insert(10, "sooner");
/// assert_eq!(timers.next_deadline(), Some(&10));
/// assert_eq!(timers.pop_due(&15), Some("sooner"));
/// assert_eq!(timers.pop_due(&15), None);
/// ```
#[derive(Debug)]
pub struct Timers<D, T> {
    heap: BinaryHeap<Entry<D, T>>,
    /// How many were ever inserted: their order among equals.
    inserted: u64,
}

impl<D: Ord, T> Timers<D, T> {
    /// No timers.
    pub fn new() -> Timers<D, T> {
        Timers { heap: BinaryHeap::new(), inserted: 0 }
    }

    /// Adds `item`, due when `deadline` is reached.
    pub fn insert(&mut self, deadline: D, item: T) {
        self.heap.push(Entry { due: Reverse((deadline, self.inserted)), item });
        self.inserted += 1;
    }

    /// Takes the first item whose deadline is `now` or earlier.
    pub fn pop_due(&mut self, now: &D) -> Option<T> {
        if self.next_deadline()? > now {
            return None;
        }
        self.heap.pop().map(|entry| entry.item)
    }

    /// The earliest deadline: how long a PE may sleep.
    pub fn next_deadline(&self) -> Option<&D> {
        self.heap.peek().map(|entry| &entry.due.0.0)
    }

    /// All items with their deadlines, in the order in which they would be taken.
    pub fn in_order(&self) -> Vec<(&D, &T)> {
        let mut all: Vec<_> = self.heap.iter().collect();
        all.sort_unstable_by(|one, other| one.due.0.cmp(&other.due.0));
        all.into_iter().map(|entry| (&entry.due.0.0, &entry.item)).collect()
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

impl<D: Ord, T> Default for Timers<D, T> {
    fn default() -> Timers<D, T> {
        Timers::new()
    }
}

/// Ordered by deadline and age only, the earliest greatest, as the heap wants it.
#[derive(Debug)]
struct Entry<D, T> {
    due: Reverse<(D, u64)>,
    item: T,
}

impl<D: Ord, T> Ord for Entry<D, T> {
    fn cmp(&self, other: &Entry<D, T>) -> std::cmp::Ordering {
        self.due.cmp(&other.due)
    }
}

impl<D: Ord, T> PartialOrd for Entry<D, T> {
    fn partial_cmp(&self, other: &Entry<D, T>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<D: Ord, T> PartialEq for Entry<D, T> {
    fn eq(&self, other: &Entry<D, T>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<D: Ord, T> Eq for Entry<D, T> {}
