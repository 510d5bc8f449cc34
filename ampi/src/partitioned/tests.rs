//! Random messages in parts between ranks that move, over a network that delivers in any order.

use proptest::prelude::*;

use super::{Parts, PartsError, Source};
use crate::comm::ContextPair;
use crate::datatype::{Basic, Datatype};
use crate::engine::{Engine, Envelope, Rank, Status, Tag, Token};
use crate::process::Process;
use crate::testing::{BASE, World};

/// Longer parts are announced.
const EAGER_MAX: u64 = 24;
const ROOM: u64 = 4_096;
const CONTEXT: u32 = ContextPair::WORLD.of_parts();

fn world(seed: u64) -> World {
    let mut world = World::new(2, 8 * ROOM as usize, seed).with_moves(6);
    for (process, rank) in world.processes.iter_mut().zip(0..) {
        process.engine = Engine::new(rank).with_eager_max(EAGER_MAX);
    }
    world
}

/// Values of so many bytes, each at the beginning of so many.
fn values(process: &mut Process, size: u64, extent: u64) -> u32 {
    let bytes = Datatype::of(Basic::Byte).contiguous(size).expect("it is short");
    process.datatypes.insert(bytes.resized(0, extent as i64))
}

#[derive(Clone, Copy, Debug)]
struct Side {
    parts: u32,
    count: u64,
    size: u64,
    gap: u64,
}

impl Side {
    fn bytes(self) -> u64 {
        u64::from(self.parts) * self.count * self.size
    }

    fn of(self, process: &mut Process, at: u64) -> Parts {
        let extent = self.size + self.gap;
        let datatype = values(process, self.size, extent);
        let Side { parts, count, size, .. } = self;
        Parts { at, parts, count, datatype, size, extent: extent as i64 }
    }

    /// Where a byte of the message lies.
    fn place(self, byte: u64) -> usize {
        (byte / self.size * (self.size + self.gap) + byte % self.size) as usize
    }
}

fn make(world: &mut World, sides: [Side; 2], tag: Tag, at: u64) -> [Token; 2] {
    [send(world, sides[0], tag, at), receive(world, sides[1], tag, at)]
}

fn send(world: &mut World, side: Side, tag: Tag, at: u64) -> Token {
    world.call(0, |process, out| {
        let parts = side.of(process, BASE + at);
        process.send_parts(Some(Envelope { context: CONTEXT, to: 1, tag }), parts, out)
    })
}

fn receive(world: &mut World, side: Side, tag: Tag, at: u64) -> Token {
    world.call(1, |process, out| {
        let parts = side.of(process, BASE + at);
        process.receive_parts(Some(Source { context: CONTEXT, rank: 0, tag }), parts, out)
    })
}

fn start(world: &mut World, rank: Rank, request: Token) {
    world.call(rank, |process, out| process.start(request, out)).expect("it is inactive");
}

fn ready(world: &mut World, request: Token, parts: &[u32]) -> Result<(), PartsError> {
    world.call(0, |process, out| process.parts_are_ready(request, parts.iter().copied(), out))
}

/// The byte at a place of the message of a round.
fn value(round: u64, byte: u64) -> u8 {
    (round * 101 + byte + 1) as u8
}

fn fill(world: &mut World, side: Side, at: u64, round: u64) {
    for byte in 0..side.bytes() {
        world.memories[0].bytes[at as usize + side.place(byte)] = value(round, byte);
    }
}

/// Whether these bytes of the message of a round are in the receiver's memory.
fn is_there(world: &World, side: Side, at: u64, round: u64, bytes: std::ops::Range<u64>) -> bool {
    let memory = &world.memories[1].bytes[at as usize..];
    bytes.into_iter().all(|byte| memory[side.place(byte)] == value(round, byte))
}

fn has_arrived(world: &World, request: Token, part: u32) -> bool {
    world.processes[1].partitioned.has_arrived(request, part).expect("there is such a part")
}

fn test(world: &mut World, rank: Rank, request: Token) -> Option<Status> {
    world.processes[rank as usize].engine.test(request).expect("it is there")
}

/// Two ways to cut the same bytes.
fn sides() -> impl Strategy<Value = [Side; 2]> {
    const SIZES: [u64; 4] = [1, 2, 3, 5];
    let side = |total: u64| {
        let sizes: Vec<u64> = SIZES.into_iter().filter(|size| total.is_multiple_of(*size)).collect();
        (proptest::sample::select(sizes), 0..3_u64).prop_flat_map(move |(size, gap)| {
            let values = total / size;
            let cuts: Vec<u64> = (1..=values.min(12)).filter(|parts| values.is_multiple_of(*parts)).collect();
            proptest::sample::select(cuts).prop_map(move |parts| Side {
                parts: parts as u32,
                count: values / parts,
                size,
                gap,
            })
        })
    };
    (1..160_u64).prop_flat_map(move |total| [side(total), side(total)])
}

proptest! {
    /// Each part that has arrived is there, none arrives before it is ready, and all do.
    #[test]
    fn parts_arrive_as_they_are_ready(
        sides in sides(), orders: [u64; 3], steps in proptest::collection::vec(0..8_usize, 40), seed: u64,
    ) {
        let mut world = world(seed);
        let [from, into] = sides;
        let [send, receive] = make(&mut world, sides, 5, 0);
        let mut steps = steps.into_iter().cycle();
        for (round, order) in (0..).zip(orders) {
            fill(&mut world, from, 0, round);
            if order % 2 == 0 {
                start(&mut world, 1, receive);
            }
            start(&mut world, 0, send);
            let mut left: Vec<u32> = (0..from.parts).collect();
            let mut is_started = order % 2 == 0;
            let mut are_ready = vec![false; from.bytes() as usize];
            while !left.is_empty() {
                let part = left.remove(((order >> 8) % left.len() as u64) as usize);
                ready(&mut world, send, &[part]).unwrap();
                let each = from.count * from.size;
                are_ready[(u64::from(part) * each) as usize..][..each as usize].fill(true);
                (0..steps.next().unwrap()).for_each(|_| { world.step(); });
                if !is_started && left.len() as u32 <= from.parts / 2 {
                    start(&mut world, 1, receive);
                    is_started = true;
                }
                let each = into.count * into.size;
                for part in (0..into.parts).filter(|_| is_started) {
                    let bytes = u64::from(part) * each..u64::from(part + 1) * each;
                    if has_arrived(&world, receive, part) {
                        prop_assert!(are_ready[bytes.start as usize..bytes.end as usize].iter().all(|ready| *ready));
                        prop_assert!(is_there(&world, into, 0, round, bytes));
                    }
                }
            }
            world.run();
            prop_assert!((0..into.parts).all(|part| has_arrived(&world, receive, part)));
            let status = test(&mut world, 1, receive).expect("all is there");
            prop_assert_eq!((status.source, status.tag, status.bytes), (Some(0), Some(5), from.bytes()));
            prop_assert_eq!(test(&mut world, 0, send), Some(Status::EMPTY));
            prop_assert!(is_there(&world, into, 0, round, 0..into.bytes()));
        }
        prop_assert_eq!(world.processes[1].scratch(), 0);
        for (rank, request) in [(0, send), (1, receive)] {
            world.call(rank, |process, _| process.free(request)).expect("it is there");
            prop_assert_eq!(&world.processes[rank as usize].partitioned.sends.len(), &0);
            prop_assert_eq!(&world.processes[rank as usize].partitioned.receives.len(), &0);
        }
    }
}

const ONE: Side = Side { parts: 3, count: 2, size: 4, gap: 0 };

#[test]
fn they_match_in_the_order_in_which_they_were_made() {
    for seed in 0..20 {
        let mut world = world(seed);
        // Started in the opposite order, and one with another tag between them.
        let sends = [(7, 0), (8, 1), (7, 2)].map(|(tag, at)| send(&mut world, ONE, tag, at * ROOM));
        if seed % 2 == 0 {
            world.run();
        }
        let receives = [(8, 1), (7, 0), (7, 2)].map(|(tag, at)| receive(&mut world, ONE, tag, at * ROOM));
        (0..3).for_each(|at| fill(&mut world, ONE, at * ROOM, at));
        for at in [2, 1, 0] {
            start(&mut world, 0, sends[at]);
            ready(&mut world, sends[at], &[2, 0, 1]).unwrap();
            start(&mut world, 1, receives[at]);
        }
        world.run();
        for (request, at) in receives.into_iter().zip([1, 0, 2]) {
            assert!(test(&mut world, 1, request).is_some());
            assert!(is_there(&world, ONE, at * ROOM, at, 0..ONE.bytes()), "{at}");
        }
    }
}

#[test]
fn only_parts_of_an_active_send_become_ready() {
    let mut world = world(1);
    let [send, receive] = make(&mut world, [ONE; 2], 0, 0);
    assert_eq!(ready(&mut world, send, &[0]), Err(PartsError::Inactive));
    let of_a_receive = world.call(1, |process, out| process.parts_are_ready(receive, [0].into_iter(), out));
    assert_eq!(of_a_receive, Err(PartsError::OtherRequest));
    start(&mut world, 0, send);
    assert_eq!(ready(&mut world, send, &[0, 3]), Err(PartsError::NoPart(3)), "none of them is ready then");
    assert_eq!(ready(&mut world, send, &[0, 1]), Ok(()));
    assert_eq!(ready(&mut world, send, &[2, 1]), Err(PartsError::Ready(1)));
    let of_receiver = |world: &World, part| world.processes[1].partitioned.has_arrived(receive, part);
    assert_eq!(of_receiver(&world, 2), Ok(true), "it is not active");
    assert_eq!(of_receiver(&world, 3), Err(PartsError::NoPart(3)));
    assert_eq!(world.processes[0].partitioned.has_arrived(send, 0), Err(PartsError::OtherRequest));
    start(&mut world, 1, receive);
    world.run();
    assert_eq!([0, 1, 2].map(|part| of_receiver(&world, part)), [Ok(true), Ok(true), Ok(false)]);
    assert_eq!(test(&mut world, 1, receive), None);
}

#[test]
fn a_message_that_is_longer_is_cut() {
    let mut world = world(2);
    let longer = Side { parts: 5, ..ONE };
    let [send, receive] = make(&mut world, [longer, ONE], 3, 0);
    fill(&mut world, longer, 0, 0);
    start(&mut world, 0, send);
    start(&mut world, 1, receive);
    ready(&mut world, send, &[0, 1, 2, 3, 4]).unwrap();
    world.run();
    let status = test(&mut world, 1, receive).expect("all has come");
    assert_eq!(status.truncated.map(|truncated| (truncated.message, truncated.buffer)), Some((40, 24)));
    assert!(is_there(&world, ONE, 0, 0, 0..24));
    assert_eq!(world.memories[1].bytes[24], 0);
}

#[test]
fn what_is_freed_ends_unseen() {
    let mut world = world(3);
    let [send, receive] = make(&mut world, [ONE; 2], 3, 0);
    fill(&mut world, ONE, 0, 0);
    start(&mut world, 0, send);
    start(&mut world, 1, receive);
    for (rank, request) in [(0, send), (1, receive)] {
        ready(&mut world, send, if rank == 0 { &[0, 2] } else { &[1] }).unwrap();
        world.call(rank, |process, _| process.free(request)).expect("it is there");
    }
    world.run();
    assert!(is_there(&world, ONE, 0, 0, 0..ONE.bytes()));
    let left = world.processes.iter().map(|process| &process.partitioned);
    assert!(left.into_iter().all(|left| left.sends.is_empty() && left.receives.is_empty()));
}

#[test]
fn one_that_was_never_started_has_its_sender() {
    let mut world = world(5);
    let never = receive(&mut world, ONE, 4, 0);
    world.call(1, |process, _| process.free(never)).expect("it is there");
    let [first, second] = [0, ROOM].map(|at| send(&mut world, ONE, 4, at));
    let receive = receive(&mut world, ONE, 4, ROOM);
    start(&mut world, 1, receive);
    for (request, is_its) in [(first, false), (second, true)] {
        start(&mut world, 0, request);
        ready(&mut world, request, &[0, 1, 2]).unwrap();
        world.run();
        assert_eq!(test(&mut world, 1, receive).is_some(), is_its);
    }
}

#[test]
fn nobody_takes_and_gives_nothing() {
    let mut world = world(4);
    let memory = |process: &mut Process| ONE.of(process, BASE);
    let [send, receive] = world.call(0, |process, out| {
        let parts = memory(process);
        [process.send_parts(None, parts, out), process.receive_parts(None, parts, out)]
    });
    for _ in 0..2 {
        [send, receive].into_iter().for_each(|request| start(&mut world, 0, request));
        assert_eq!(test(&mut world, 0, receive), Some(Status::EMPTY));
        assert_eq!(test(&mut world, 0, send), None);
        ready(&mut world, send, &[1, 0, 2]).unwrap();
        assert_eq!(test(&mut world, 0, send), Some(Status::EMPTY));
    }
    assert_eq!(world.frames, 0);
}
