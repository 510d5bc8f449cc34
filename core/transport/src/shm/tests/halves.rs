//! Both halves of links, in one process that maps the segment twice.

use std::sync::Arc;

use super::super::{Mapping, Receiver, Sender, Shape, create};
use crate::{Arrived, Incoming, Peer};
use talisman_pup::Segment;

const TWO: Shape = Shape { nodes: 2, pes: 1 };

/// A link's halves on node 0, and on node 1.
pub(super) fn linked() -> ((Sender, Receiver), (Sender, Receiver)) {
    let fd = create(TWO).unwrap();
    let mappings = [(); 2].map(|()| Mapping::open(&fd, TWO).unwrap());
    let halves = |me: u32, other: u32| {
        let bell = Arc::new(mappings[me as usize].parker(other, 0, || ()));
        mappings[me as usize].link(me, other, Peer { node: other, lane: 0 }, bell)
    };
    (halves(0, 1), halves(1, 0))
}

/// A message, kept.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    rank: u16,
    head: Vec<u8>,
    segments: Vec<Vec<u8>>,
}

impl Kept {
    pub(super) fn of(incoming: Incoming<'_>) -> Kept {
        let segments = incoming.segments.iter().map(|segment| segment.bytes().to_vec()).collect();
        Kept { rank: incoming.rank, head: incoming.head.to_vec(), segments }
    }

    /// The `number`-th of a kind with so many bytes.
    pub(super) fn made(number: u64, head: usize, segments: &[usize]) -> Kept {
        let bytes = |n: usize, salt: u64| {
            let byte = |i| ((i as u64).wrapping_mul(0x9e37_79b9) >> 7).wrapping_add(number * 31 + salt) as u8;
            (0..n).map(byte).collect::<Vec<u8>>()
        };
        let segments = (1..).zip(segments).map(|(salt, &n)| bytes(n, salt)).collect();
        Kept { rank: 0, head: bytes(head, 0), segments }
    }

    pub(super) fn send(&self, sender: &mut Sender) {
        let segments = self.segments.iter().map(|bytes| Segment::of_vec(bytes.clone())).collect();
        sender.send(self.rank, &self.head, segments);
    }
}

fn received(receiver: &mut Receiver, budget: usize) -> Vec<Kept> {
    let mut kept = Vec::new();
    receiver.receive(budget, &mut |incoming| kept.push(Kept::of(incoming))).unwrap();
    kept
}

#[test]
fn messages_of_all_sizes_arrive_in_order() {
    let ((mut out, _), (_, mut inbound)) = linked();
    let heads = [0, 1, 8, 47, 48, 49, 63, 64, 65, 1000, 32767, 32768, 32769, 300_000, 1 << 20];
    let segments: [&[usize]; 6] = [&[], &[0], &[1], &[0, 40_000, 0, 7], &[1 << 20, 16 << 10], &[64; 100]];
    let mut expected = Vec::new();
    for (number, &head) in (0..).zip(&heads) {
        expected.extend(segments.iter().map(|segments| Kept::made(number, head, segments)));
    }
    expected.iter().for_each(|message| message.send(&mut out));
    let mut got = Vec::new();
    while got.len() < expected.len() {
        let (flushed, work) = (out.flush(), inbound.has_work());
        assert!(flushed || work, "{} of {} arrived", got.len(), expected.len());
        got.extend(received(&mut inbound, 5));
    }
    assert!(got == expected);
    assert!(out.unsent() == 0 && !out.flush() && !inbound.has_work() && out.error().is_none());
    assert_eq!(received(&mut inbound, 1), []);
}

/// Messages of which some are taken as they arrive, with their ends where they came in, and the others are not.
#[test]
fn what_is_heard_and_what_is_not_arrive_in_order() {
    let ((mut out, _), (_, mut inbound)) = linked();
    let heads = [1, 48, 49, 64, 65, 1000, 8192, 32767, 32768, 32769, 100_000];
    let segments: [&[usize]; 2] = [&[], &[7, 40_000]];
    let mut expected = Vec::new();
    for (number, &head) in (0..).zip(&heads) {
        expected.extend(segments.iter().map(|segments| Kept::made(number, head, segments)));
    }
    // Laps of both rings.
    let expected = vec![expected; 12].concat();
    for message in &expected {
        let (start, end) = message.head.split_at(message.head.len() / 3);
        match message.segments.is_empty() {
            true => out.send_parts(message.rank, [start, end]),
            false => message.send(&mut out),
        }
    }
    let (mut got, mut looks, mut heard) = (Vec::new(), 0, 0);
    while got.len() < expected.len() {
        let (flushed, work) = (out.flush(), inbound.has_work());
        assert!(flushed || work, "{} of {} arrived", got.len(), expected.len());
        let got = std::cell::RefCell::new(&mut got);
        let mut take = |arrived: &Arrived<'_>| {
            looks += 1;
            let is_taken = looks % 3 > 0;
            if is_taken {
                let mut head = arrived.start.to_vec();
                head.resize(head.len() + arrived.rest.len(), 0);
                arrived.rest.copy_to(&mut head[arrived.start.len()..]);
                got.borrow_mut().push(Kept { rank: arrived.rank, head, segments: Vec::new() });
                heard += 1;
            }
            is_taken
        };
        inbound.hear(&mut take, &mut |incoming| got.borrow_mut().push(Kept::of(incoming))).unwrap();
    }
    assert!(got == expected);
    assert!(heard > 50 && looks > heard, "{heard} of {looks} that were looked at were taken");
}
