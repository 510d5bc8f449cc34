//! Every collective against its definition, over a network that delivers in any order while ranks move.

mod at_once;
mod barriers;
mod combining;
mod inter;
mod moving;

use super::*;
use crate::datatype::{Basic, Datatype};
use crate::engine::{Mode, Token};
use crate::process::UserCombine;
use crate::testing::{BASE, World};

/// A map x -> a x + b of integers modulo 2^32. To apply one after the other is not commutative.
pub type Affine = [u32; 2];

pub const AFTER: u64 = 77;

pub fn compose(left: Affine, right: Affine) -> Affine {
    let [a, b] = left;
    [a.wrapping_mul(right[0]), a.wrapping_mul(right[1]).wrapping_add(b)]
}

/// Of values with a gap of four bytes.
const EXTENT: usize = 12;

fn compose_all(call: UserCombine<'_>) {
    assert_eq!(call.function, AFTER);
    for value in 0..call.count as usize {
        let at = call.origin + value * EXTENT;
        let result = compose(read(&call.left[at..]), read(&call.right[at..]));
        write(&mut call.right[at..], result);
    }
}

fn read(bytes: &[u8]) -> Affine {
    let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    [word(0), word(4)]
}

fn write(bytes: &mut [u8], value: Affine) {
    bytes[..4].copy_from_slice(&value[0].to_ne_bytes());
    bytes[4..8].copy_from_slice(&value[1].to_ne_bytes());
}

/// Ranks with a send and a receive buffer of so many values each.
pub struct Bench {
    pub world: World,
    pub values: Values,
    room: usize,
    op: u32,
    tag: i32,
}

impl Bench {
    pub fn new(ranks: u32, room: usize, seed: u64) -> Bench {
        let mut world = World::new(ranks, 2 * room.max(1) * EXTENT, seed).with_moves(40);
        let pair = Datatype::of(Basic::U32).contiguous(2).unwrap().resized(0, EXTENT as i64);
        let values = Values::of(crate::datatype::NAMED.len() as u32, &pair);
        let mut op = 0;
        for (process, memory) in world.processes.iter_mut().zip(&mut world.memories) {
            assert_eq!(process.datatypes.insert(pair.clone()), values.datatype);
            op = process.ops.insert(AFTER, false);
            memory.function = compose_all;
            memory.bytes.fill(0xee);
        }
        Bench { world, values, room: room.max(1), op, tag: 0 }
    }

    fn at(&self, place: Place, index: usize) -> usize {
        assert!(index < self.room);
        if place == Place::Send { index * EXTENT } else { (self.room + index) * EXTENT }
    }

    /// Fills a buffer of each rank.
    pub fn fill(&mut self, place: Place, len: usize, value: impl Fn(u32, usize) -> Affine) {
        for rank in 0..self.world.memories.len() {
            for index in 0..len {
                let at = self.at(place, index);
                write(&mut self.world.memories[rank].bytes[at..], value(rank as u32, index));
            }
        }
    }

    /// A value in a rank's receive buffer.
    pub fn received(&self, rank: u32, index: usize) -> Affine {
        read(&self.world.memories[rank as usize].bytes[self.at(Place::Receive, index)..])
    }

    /// Begins a collective on a rank.
    pub fn begin(&mut self, rank: u32, schedule: Schedule) -> Token {
        let size = self.world.processes.len() as u32;
        self.begin_among(rank, schedule, &(0..size).collect::<Vec<_>>())
    }

    /// Begins a collective on a rank, among these.
    pub fn begin_among(&mut self, rank: u32, schedule: Schedule, members: &[u32]) -> Token {
        let receive = BASE + (self.room * EXTENT) as u64;
        let request = Token { index: 0, generation: 0 };
        let call = Call { context: 1, tag: self.tag, send: BASE, receive, op: self.op, request };
        self.world.call(rank, |process, out| process.begin(schedule, call, members, out))
    }

    /// Runs a collective on all ranks, which begin it in any order.
    pub fn run(&mut self, schedule: impl Fn(Member) -> Schedule) {
        let size = self.world.processes.len() as u32;
        let mut begun = Vec::new();
        let first = self.world.below(u64::from(size)) as u32;
        for rank in (first..size).chain(0..first) {
            begun.push((rank, self.begin(rank, schedule(Member { rank, size }))));
            self.world.step();
        }
        self.tag += 1;
        self.world.run();
        for (rank, request) in begun {
            let process = &mut self.world.processes[rank as usize];
            let status = process.engine.test(request).unwrap().expect("the collective has ended");
            assert_eq!(status.truncated, None);
            assert_eq!((process.scratch(), process.collectives.under_way()), (0, 0));
            assert_eq!((process.engine.unexpected().count(), process.engine.posted().len()), (0, 0));
        }
    }
}

/// What a rank has at an index; never neutral.
pub fn operand(rank: u32, index: usize) -> Affine {
    let mixed = (u64::from(rank) * 1_000_003 + index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    [(mixed >> 32) as u32 | 1, mixed as u32]
}

/// What these ranks have, combined in their order.
pub fn combined(ranks: std::ops::Range<u32>, index: usize) -> Affine {
    ranks.map(|rank| operand(rank, index)).reduce(compose).expect("at least one rank")
}

/// Numbers of ranks, and of values: none, one, odd numbers, and enough for the algorithms for long vectors.
pub const RANKS: std::ops::RangeInclusive<u32> = 1..=33;
pub const SHORT: [usize; 3] = [0, 1, 5];
pub const LONG: usize = 4_201;
pub const SOME_RANKS: [u32; 7] = [1, 3, 4, 7, 8, 13, 33];
