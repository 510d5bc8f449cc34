//! Random programs of several ranks: messages of all lengths and modes, receives with wildcards, sends that are taken
//! back, and moves, over a network that delivers in any order.

use proptest::prelude::*;

use crate::engine::{Buffer, Envelope, Mode, Owner, Pattern, Rank, Status, Tag, Token};
use crate::testing::{BASE, World};

/// Longer ones are announced.
const EAGER_MAX: u64 = 64;
const LONGEST: u64 = 100;
const ROOM: usize = 100;

/// What the ranks do, in any order of their own steps.
#[derive(Clone, Debug)]
enum Call {
    Send {
        from: Rank,
        to: Rank,
        tag: Tag,
        bytes: u64,
        mode: Mode,
    },
    Receive {
        at: Rank,
        source: Option<Rank>,
        tag: Option<Tag>,
    },
    /// Takes back one of the sends so far.
    Cancel(usize),
    /// Lets so many frames arrive.
    Steps(u8),
    Move(Rank),
}

struct Sent {
    from: Rank,
    to: Rank,
    tag: Tag,
    token: Token,
    status: Option<Status>,
}

struct Received {
    at: Rank,
    pattern: Pattern,
    token: Token,
    address: u64,
    /// Which message it got.
    message: Option<usize>,
}

/// A program that runs.
struct Run {
    world: World,
    sent: Vec<Sent>,
    received: Vec<Received>,
}

impl Run {
    fn new(seed: u64) -> Run {
        let mut world = World::new(3, 2 * ROOM * LONGEST as usize, seed);
        for (process, rank) in world.processes.iter_mut().zip(0..) {
            process.engine = crate::engine::Engine::new(rank).with_eager_max(EAGER_MAX);
        }
        Run { world, sent: Vec::new(), received: Vec::new() }
    }

    fn apply(&mut self, call: Call) {
        match call {
            Call::Send { from, to, tag, bytes, mode } => self.send(from, to, tag, bytes.max(8), mode),
            Call::Receive { at, source, tag } => self.receive(at, source, tag),
            Call::Cancel(which) if !self.sent.is_empty() => {
                let which = which % self.sent.len();
                let Sent { from, token, status, .. } = self.sent[which];
                if status.is_none() {
                    self.world.call(from, |process, out| {
                        process.engine.cancel(token, out).expect("it has not ended")
                    });
                }
            }
            Call::Cancel(_) => {}
            Call::Steps(steps) => (0..steps).for_each(|_| {
                self.world.step();
            }),
            Call::Move(rank) => self.world.move_away(rank),
        }
        self.look();
    }

    /// The bytes of a message are its number, again and again.
    fn send(&mut self, from: Rank, to: Rank, tag: Tag, bytes: u64, mode: Mode) {
        let (number, address) = (self.sent.len(), BASE + self.sent.len() as u64 * LONGEST);
        let at = (address - BASE) as usize;
        for chunk in self.world.memories[from as usize].bytes[at..at + LONGEST as usize].chunks_mut(8) {
            chunk.copy_from_slice(&(number as u64).to_ne_bytes()[..chunk.len()]);
        }
        let (envelope, buffer) = (Envelope { context: 0, to, tag }, Buffer::of_bytes(address, bytes));
        let token = self
            .world
            .call(from, |process, out| process.engine.send(mode, envelope, buffer, Owner::User, out));
        self.sent.push(Sent { from, to, tag, token, status: None });
    }

    fn receive(&mut self, at: Rank, source: Option<Rank>, tag: Option<Tag>) {
        let address = BASE + (ROOM + self.received.len()) as u64 * LONGEST;
        let (pattern, buffer) = (Pattern { context: 0, source, tag }, Buffer::of_bytes(address, LONGEST));
        let token =
            self.world.call(at, |process, out| process.engine.receive(pattern, buffer, Owner::User, out));
        self.received.push(Received { at, pattern, token, address, message: None });
    }

    /// Notes what has ended, and checks that it ended with the message that its status tells of.
    fn look(&mut self) {
        for sent in self.sent.iter_mut().filter(|sent| sent.status.is_none()) {
            sent.status =
                self.world.processes[sent.from as usize].engine.test(sent.token).expect("not tested before");
        }
        for received in self.received.iter_mut().filter(|received| received.message.is_none()) {
            let engine = &mut self.world.processes[received.at as usize].engine;
            let Some(status) = engine.test(received.token).expect("not tested before") else { continue };
            let at = (received.address - BASE) as usize;
            let bytes = &self.world.memories[received.at as usize].bytes[at..at + status.bytes as usize];
            let number = u64::from_ne_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
            let whole = bytes.chunks(8).all(|chunk| chunk == &(number as u64).to_ne_bytes()[..chunk.len()]);
            let sent = &self.sent[number];
            let as_sent =
                (Some(sent.from), Some(sent.tag), sent.to) == (status.source, status.tag, received.at);
            assert!(whole && as_sent, "{status:?} of message {number}");
            received.message = Some(number);
        }
    }

    /// Receives what is left, and checks that every message was received or taken back, once, and that none has
    /// overtaken another.
    fn finish(&mut self) {
        self.world.run();
        while let Some(rank) =
            (0..3).find(|rank| self.world.processes[*rank as usize].engine.unexpected().count() > 0)
        {
            self.receive(rank, None, None);
            self.world.run();
        }
        self.look();
        for (number, sent) in self.sent.iter().enumerate() {
            let times = self.received.iter().filter(|received| received.message == Some(number)).count();
            let cancelled = sent.status.expect("the send has ended").cancelled;
            assert_eq!(times, usize::from(!cancelled), "message {number}");
        }
        for (at, first) in self.received.iter().enumerate() {
            for second in self.received[at + 1..].iter().filter(|second| second.at == first.at) {
                self.check_order(first, second);
            }
        }
    }

    /// Of two messages of a sender that a receive accepts, the first gets the earlier one if both receives accept both.
    fn check_order(&self, first: &Received, second: &Received) {
        let (Some(a), Some(b)) = (first.message, second.message) else { return };
        let both = |received: &Received| {
            [a, b].iter().all(|number| received.pattern.tag.is_none_or(|tag| tag == self.sent[*number].tag))
        };
        if self.sent[a].from == self.sent[b].from && both(first) && both(second) {
            assert!(a < b, "message {a} was received before {b}");
        }
    }
}

fn call() -> impl Strategy<Value = Call> {
    let (rank, tag) = (|| 0..3u32, || 0..2i32);
    let mode = prop::sample::select(&[Mode::Standard, Mode::Standard, Mode::Synchronous, Mode::Buffered][..]);
    let source = prop::option::weighted(0.7, rank());
    prop_oneof![
        5 => (rank(), rank(), tag(), 0..LONGEST, mode)
            .prop_map(|(from, to, tag, bytes, mode)| Call::Send { from, to, tag, bytes, mode }),
        4 => (rank(), source, prop::option::weighted(0.6, tag()))
            .prop_map(|(at, source, tag)| Call::Receive { at, source, tag }),
        1 => any::<usize>().prop_map(Call::Cancel),
        3 => (1..6u8).prop_map(Call::Steps),
        1 => rank().prop_map(Call::Move),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn every_message_is_received_or_taken_back_once_and_in_order(
        calls in prop::collection::vec(call(), 0..80),
        seed in any::<u64>(),
    ) {
        let mut run = Run::new(seed);
        calls.into_iter().for_each(|call| run.apply(call));
        run.finish();
    }
}
