//! A process that has the segment and writes what it likes, driven by bytes: a fuzz target, and the tests.

use std::sync::Arc;

use super::frame::seal;
use super::layout::{Direction, LINE, SLOT, SLOTS};
use super::sync::Ordering;
use super::{Incoming, LinkError, Peer};
use super::{Mapping, Receiver, Segment, Sender, Shape, bytes, create, slots};

const TWO: Shape = Shape { nodes: 2, pes: 1 };
/// From node 1, the hostile one.
const INBOUND: Direction = Direction { from: 1, to: 0, lane: 0 };
const OUT: Direction = Direction { from: 0, to: 1, lane: 0 };

/// Lets a hostile process act on a live link as `data` says; how the link ended, if it did. Panics if an honest process
/// comes to harm by it.
pub fn run(data: &[u8]) -> Option<LinkError> {
    let mut victim = Victim::new();
    let mut acts = Acts { data };
    while let Some(act) = acts.byte() {
        match act % 6 {
            0 => victim.receive(),
            1 => victim.send(acts.word() as usize % 100_000),
            2 => victim.forge(acts.word() as u32, [acts.word(), acts.word()]),
            3 => victim.forge_likely(acts.word()),
            4 => victim.scribble(acts.word() as usize, acts.word()),
            _ => victim.scribble_on_the_link(acts.word(), acts.word()),
        }
    }
    victim.receive();
    victim.failed.or(victim.sender.error())
}

/// What to do next, of the fuzzer's choice. After the end all is zero.
struct Acts<'a> {
    data: &'a [u8],
}

impl Acts<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.data.split_first()?;
        self.data = rest;
        Some(first)
    }

    /// A word of as many bytes, up to eight, as the first one says: most numbers are small.
    fn word(&mut self) -> u64 {
        let len = self.byte().unwrap_or(0) % 9;
        (0..len).fold(0, |word, _| word << 8 | u64::from(self.byte().unwrap_or(0)))
    }
}

/// An honest node, and the hands of a hostile one.
struct Victim {
    sender: Sender,
    receiver: Receiver,
    failed: Option<LinkError>,
    /// The other node's mapping and ends.
    theirs: Mapping,
    slots: slots::Writer,
    bytes: bytes::Writer,
}

impl Victim {
    fn new() -> Victim {
        let segment = create(TWO).expect("a small segment");
        let [ours, theirs] = [(); 2].map(|()| Mapping::open(&segment, TWO).expect("the one just made"));
        let parker = Arc::new(ours.parker(1, 0, || ()));
        let (sender, receiver) = ours.link(0, 1, Peer { node: 1, lane: 0 }, parker);
        let (slots, bytes) = theirs.ends(INBOUND);
        let (slots, bytes) = (slots::Writer::new(slots), bytes::Writer::new(bytes));
        Victim { sender, receiver, failed: None, theirs, slots, bytes }
    }

    fn receive(&mut self) {
        let mut check = |incoming: Incoming<'_>| assert_eq!(incoming.rank, 0);
        let result = self.receiver.receive(SLOTS * 2, &mut check);
        match (&self.failed, result) {
            (Some(before), now) => assert_eq!(now.as_ref().err(), Some(before), "a failed link stays failed"),
            (None, Ok(taken)) => assert!(taken <= SLOTS * 2),
            (None, Err(error)) => self.failed = Some(error),
        }
    }

    fn send(&mut self, n: usize) {
        // A receiver that takes nothing is bounded by who sends, not here.
        if self.sender.unsent() < 1 << 20 {
            self.sender.send(0, &vec![1; n], vec![Segment::of_vec(vec![2u8; n / 2])]);
        }
        self.sender.flush();
    }

    /// A slot with a checksum that fits.
    fn forge(&mut self, header: u32, [first, second]: [u64; 2]) {
        if self.slots.has_room() == Ok(true) {
            self.slots.publish(seal(header, [first, second, 3, 4, 5, 6], self.slots.lap()));
        }
    }

    /// One that may well be right: a short message, or the first or a further chunk of a long one, with a table of
    /// segments that is any.
    fn forge_likely(&mut self, choice: u64) {
        let (kind, rest) = ((choice % 3 + 1) as u32, choice / 3);
        let chunk = [rest.to_ne_bytes(), (1u64 << (rest % 14)).to_ne_bytes()].concat().repeat(4);
        if self.bytes.has_room(chunk.len(), self.slots.positions()) == Ok(true) {
            self.bytes.write([&chunk, &[]]);
        }
        self.forge(kind | (rest as u32 & 0x1f) << 8, [rest % 70_000, rest % 5]);
    }

    /// Any word of the segment.
    fn scribble(&self, offset: usize, word: u64) {
        let offset = offset % (self.theirs.memory.len / 8) * 8;
        self.theirs.memory.word(offset).store(word, Ordering::Relaxed);
    }

    /// One of the words that the victim looks at: positions, slots, its parker, the table of a long message.
    fn scribble_on_the_link(&self, place: u64, word: u64) {
        let layout = &self.theirs.layout;
        let at = (place / 5 % 65_536) as usize * 8;
        let offset = match place % 5 {
            0 => layout.positions(OUT) + at % LINE,
            1 => layout.slots(INBOUND) + at % (SLOTS * SLOT),
            2 => layout.bytes(INBOUND) + at % 4096,
            3 => layout.positions(INBOUND) + at % LINE,
            _ => layout.parker(1, 0) + at % LINE,
        };
        self.scribble(offset / 8, word);
    }
}
