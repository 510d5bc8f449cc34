//! A process that is killed while it writes leaves whole messages behind, and nothing else.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

use super::super::{Mapping, Receiver, Sender, Shape, create};
use super::halves::Kept;
use super::process;
use crate::Peer;

const TWO: Shape = Shape { nodes: 2, pes: 1 };
const KILLS: u64 = 300;
/// The writer repeats so many. A prime, so that they lie elsewhere in the rings each time.
const MESSAGES: u64 = 53;

fn halves(fd: impl AsFd, me: u32) -> (Sender, Receiver) {
    let mapping = Mapping::open(fd, TWO).unwrap();
    let other = 1 - me;
    let parker = Arc::new(mapping.parker(other, 0, || ()));
    mapping.link(me, other, Peer { node: other, lane: 0 }, parker)
}

/// The `number`-th message of the writer: of every kind and length in turn.
fn message(number: u64) -> Kept {
    match number % 5 {
        0 | 1 => Kept::made(number, (number % 49) as usize, &[]),
        2 => Kept::made(number, 49 + (number * 977 % 4000) as usize, &[]),
        3 => Kept::made(number, (number % 100) as usize, &[16 << 10, (number * 131 % 90_000) as usize]),
        _ => Kept::made(number, 33_000 + (number * 7919 % 50_000) as usize, &[]),
    }
}

/// Not a test by itself: the process that is killed.
#[test]
fn child() {
    let Some(descriptors) = process::handed_over() else { return };
    let (mut sender, _receiver) = halves(&descriptors[0], 0);
    let messages: Vec<Kept> = (0..MESSAGES).map(message).collect();
    for message in messages.iter().cycle() {
        message.send(&mut sender);
        while sender.unsent() > 0 {
            sender.flush();
        }
    }
}

/// Reads until the link is empty; how many messages there were.
fn read_all(receiver: &mut Receiver, expected: &[Kept], mut number: usize) -> usize {
    loop {
        let mut whole = true;
        let taken = receiver.receive(16, &mut |incoming| {
            whole &= Kept::of(incoming) == expected[number % expected.len()];
            number += 1;
        });
        assert!(whole, "message {} is torn", number - 1);
        if taken.expect("a killed writer leaves nothing unreadable") == 0 {
            return number;
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "processes")]
fn no_message_is_torn_in_300_kills() {
    let expected: Vec<Kept> = (0..MESSAGES).map(message).collect();
    let mut random = 88_172_645_463_325_252u64;
    let mut messages = 0;
    for _ in 0..KILLS {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let fd = create(TWO).unwrap();
        let (_sender, mut receiver) = halves(&fd, 1);
        let mut child = process::start("killed::child", &[fd.as_fd()]);
        // Begins with its first message, which differs in no other way from those that follow.
        while !receiver.has_work() {
            assert!(child.runs(), "the writer has ended");
            std::thread::yield_now();
        }
        let (start, until) = (Instant::now(), u128::from(random % 1500));
        let mut number = 0;
        while start.elapsed().as_micros() < until {
            number = read_all(&mut receiver, &expected, number);
        }
        drop(child);
        messages += read_all(&mut receiver, &expected, number);
    }
    assert!(messages > KILLS as usize);
}
