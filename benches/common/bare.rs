//! The limit of a message on one PE: allocate 64 bytes, push to and pop from a `VecDeque`, call through a pointer, free.

use std::collections::VecDeque;
use std::hint::black_box;
use std::mem::MaybeUninit;

use super::ns_each;

/// A message of 64 bytes.
type Message = Box<MaybeUninit<[u64; 8]>>;
type Entry = fn(&mut u64, &Message);

/// Nanoseconds per message, with so many in flight.
pub fn sequence(messages: u64, in_flight: usize) -> f64 {
    let entries: [Entry; 2] = black_box([add, mix]);
    let entry = |number: u64| entries[number as usize & 1];
    let mut queue: VecDeque<(Entry, Message)> = VecDeque::new();
    let mut sum = 0;
    (1..in_flight as u64).for_each(|number| queue.push_back((entry(number), fresh(number))));
    let ns = ns_each(messages, || {
        for number in 0..messages {
            queue.push_back((entry(number), fresh(number)));
            let (entry, message) = black_box(&mut queue).pop_front().expect("one was just pushed");
            entry(&mut sum, &message);
        }
    });
    black_box(sum);
    ns
}

#[inline(always)]
fn fresh(number: u64) -> Message {
    let mut message: Message = Box::new_uninit();
    // SAFETY: inside the allocation.
    unsafe { message.as_mut_ptr().cast::<u64>().write(number) };
    message
}

#[inline(never)]
fn add(sum: &mut u64, message: &Message) {
    *sum = sum.wrapping_add(first(message));
}

#[inline(never)]
fn mix(sum: &mut u64, message: &Message) {
    *sum ^= first(message);
}

fn first(message: &Message) -> u64 {
    // SAFETY: `fresh` writes the first word of every message.
    unsafe { message.as_ptr().cast::<u64>().read() }
}
