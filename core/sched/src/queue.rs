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
    /// FIFO `i` holds the messages of integer priority `i - 32`.
    levels: [VecDeque<T>; LEVELS],
    /// Bit `i` is set if `levels[i]` is not empty.
    occupied: u64,
    /// The other priorities on either side of default priority; no FIFO in them is empty.
    urgent_others: Others<T>,
    background_others: Others<T>,
    len: usize,
}

type Others<T> = BTreeMap<Priority, VecDeque<T>>;

/// One bit of a `u64` each. Programs use few integers, close to zero.
const LEVELS: usize = 64;
/// Added to an integer priority, this gives its level.
const OFFSET: i32 = 32;
/// The levels more urgent than default priority.
const URGENT: u64 = (1 << OFFSET) - 1;
const DEFAULT: Priority = Priority::int(0);

impl<T> PriorityQueue<T> {
    /// An empty queue.
    pub fn new() -> PriorityQueue<T> {
        PriorityQueue {
            levels: std::array::from_fn(|_| VecDeque::new()),
            occupied: 0,
            urgent_others: Others::new(),
            background_others: Others::new(),
            len: 0,
        }
    }

    /// Adds a message behind those of the same priority.
    #[inline]
    pub fn push(&mut self, message: T, priority: &Priority) {
        self.len += 1;
        match level_of(priority) {
            Some(level) => {
                self.levels[level].push_back(message);
                self.occupied |= 1 << level;
            }
            None if *priority < DEFAULT => push_other(&mut self.urgent_others, message, priority),
            None => push_other(&mut self.background_others, message, priority),
        }
    }

    /// Takes the most urgent message if it is more urgent than default priority.
    #[inline]
    pub fn pop_urgent(&mut self) -> Option<T> {
        let level = (self.occupied & URGENT).trailing_zeros();
        if comes_first(level, &self.urgent_others) {
            return self.pop_level(level);
        }
        let popped = pop_other(&mut self.urgent_others);
        self.len -= popped.is_some() as usize;
        popped
    }

    /// Takes the most urgent of those messages that are not more urgent than default priority.
    #[inline]
    pub fn pop_background(&mut self) -> Option<T> {
        let level = (self.occupied & !URGENT).trailing_zeros();
        if comes_first(level, &self.background_others) {
            return self.pop_level(level);
        }
        let popped = pop_other(&mut self.background_others);
        self.len -= popped.is_some() as usize;
        popped
    }

    /// Whether there is no message, urgent or not.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of messages.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn pop_level(&mut self, level: u32) -> Option<T> {
        let fifo = self.levels.get_mut(level as usize)?;
        let message = fifo.pop_front();
        if fifo.is_empty() {
            self.occupied &= !(1 << level);
        }
        self.len -= message.is_some() as usize;
        message
    }
}

impl<T> Default for PriorityQueue<T> {
    fn default() -> PriorityQueue<T> {
        PriorityQueue::new()
    }
}

#[inline]
fn level_of(priority: &Priority) -> Option<usize> {
    let level = priority.to_int()?.checked_add(OFFSET)?;
    usize::try_from(level).ok().filter(|&level| level < LEVELS)
}

/// Whether the next message is that of `level` (64: there is none at any level), not of `others`. The two are
/// never equally urgent.
#[inline]
fn comes_first<T>(level: u32, others: &Others<T>) -> bool {
    match others.first_key_value() {
        None => true,
        Some((other, _)) => level < LEVELS as u32 && Priority::int(level as i32 - OFFSET) < *other,
    }
}

fn push_other<T>(others: &mut Others<T>, message: T, priority: &Priority) {
    // Looked up first: a long priority is cloned for its first message only.
    match others.get_mut(priority) {
        Some(fifo) => fifo.push_back(message),
        None => {
            others.insert(priority.clone(), VecDeque::from([message]));
        }
    }
}

fn pop_other<T>(others: &mut Others<T>) -> Option<T> {
    let mut first = others.first_entry()?;
    let message = first.get_mut().pop_front();
    if first.get().is_empty() {
        first.remove();
    }
    message
}
