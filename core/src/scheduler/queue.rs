//! The messages of a PE that have a priority other than the default one.

use std::collections::{BTreeMap, VecDeque};

use super::priority::Priority;

/// A queue by priority, first in first out among equals.
///
/// It has two ends: what is more urgent than default priority runs before the PE's ordinary messages, the rest
/// when there are none. Ordinary messages (default priority) and expedited ones do not pass through here; a
/// message of default priority that is pushed nevertheless is the first of the background.
///
/// Integers from -32 to 31 take about 8 ns for push and pop, whatever the depth; others go through an ordered map.
#[derive(Debug)]
pub struct PriorityQueue<T> {
    urgent: Half<T>,
    background: Half<T>,
}

impl<T> PriorityQueue<T> {
    /// An empty queue.
    pub fn new() -> PriorityQueue<T> {
        PriorityQueue { urgent: Half::new(-LEVELS), background: Half::new(0) }
    }

    /// Adds a message behind those of the same priority.
    #[inline]
    pub fn push(&mut self, message: T, priority: &Priority) {
        let half = if *priority < DEFAULT { &mut self.urgent } else { &mut self.background };
        half.push(message, priority);
    }

    /// Takes the most urgent message if it is more urgent than default priority.
    #[inline]
    pub fn pop_urgent(&mut self) -> Option<T> {
        self.urgent.pop()
    }

    /// Takes the most urgent of those messages that are not more urgent than default priority.
    #[inline]
    pub fn pop_background(&mut self) -> Option<T> {
        self.background.pop()
    }

    /// Whether there is no message at either end.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of messages.
    #[inline]
    pub fn len(&self) -> usize {
        self.urgent.len + self.background.len
    }
}

impl<T> Default for PriorityQueue<T> {
    fn default() -> PriorityQueue<T> {
        PriorityQueue::new()
    }
}

const DEFAULT: Priority = Priority::int(0);

/// Small integers per half, one bit of a `u32` each. Programs use few, close to zero.
const LEVELS: i32 = 32;

/// The messages on one side of default priority.
#[derive(Debug)]
struct Half<T> {
    /// FIFO `i` holds the messages of integer priority `first + i`.
    levels: [VecDeque<T>; LEVELS as usize],
    first: i32,
    /// Bit `i` is set if `levels[i]` is not empty.
    occupied: u32,
    /// All other priorities; no FIFO in it is empty.
    others: BTreeMap<Priority, VecDeque<T>>,
    len: usize,
}

impl<T> Half<T> {
    fn new(first: i32) -> Half<T> {
        let levels = std::array::from_fn(|_| VecDeque::new());
        Half { levels, first, occupied: 0, others: BTreeMap::new(), len: 0 }
    }

    #[inline]
    fn push(&mut self, message: T, priority: &Priority) {
        self.len += 1;
        match self.level_of(priority) {
            Some(level) => {
                self.levels[level].push_back(message);
                self.occupied |= 1 << level;
            }
            None => self.push_other(message, priority),
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        if self.others.is_empty() || self.level_is_first() { self.pop_level() } else { self.pop_other() }
    }

    #[inline]
    fn level_of(&self, priority: &Priority) -> Option<usize> {
        let offset = priority.to_int()?.checked_sub(self.first)?;
        (0..LEVELS).contains(&offset).then_some(offset as usize)
    }

    /// Whether the first small integer is more urgent than the first of the others. They are never equal.
    fn level_is_first(&self) -> bool {
        let level = Priority::int(self.first + self.occupied.trailing_zeros() as i32);
        self.occupied != 0 && self.others.first_key_value().is_none_or(|(other, _)| level < *other)
    }

    #[inline]
    fn pop_level(&mut self) -> Option<T> {
        let level = self.occupied.trailing_zeros() as usize;
        let fifo = self.levels.get_mut(level)?;
        let message = fifo.pop_front();
        if fifo.is_empty() {
            self.occupied &= !(1 << level);
        }
        message
    }

    fn push_other(&mut self, message: T, priority: &Priority) {
        // Looked up first: a long priority is cloned for its first message only.
        match self.others.get_mut(priority) {
            Some(fifo) => fifo.push_back(message),
            None => {
                self.others.insert(priority.clone(), VecDeque::from([message]));
            }
        }
    }

    fn pop_other(&mut self) -> Option<T> {
        let mut first = self.others.first_entry()?;
        let message = first.get_mut().pop_front();
        if first.get().is_empty() {
            first.remove();
        }
        message
    }
}
