//! Ranks in one thread, with a network that delivers frames in any order and ranks that move at any moment.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::engine::{Action, Actions, Engine, Frame, Payload, Rank};
use crate::process::{Host, Outcome, PerformError, Process, UserCombine};

/// The memory of a rank begins here: an address that is no offset by accident.
pub const BASE: u64 = 0x10_0000;

/// The memory of a rank.
pub struct Memory {
    pub bytes: Vec<u8>,
    /// The program's only operation.
    pub function: fn(UserCombine<'_>),
}

impl Memory {
    fn range(&self, at: u64, len: u64) -> Result<std::ops::Range<usize>, PerformError> {
        let start = at.checked_sub(BASE).ok_or(PerformError::NoMemory { at, len })? as usize;
        let end = start + len as usize;
        if end <= self.bytes.len() { Ok(start..end) } else { Err(PerformError::NoMemory { at, len }) }
    }
}

impl Host for Memory {
    fn read(&self, at: u64, len: u64) -> Result<&[u8], PerformError> {
        self.range(at, len).map(|range| &self.bytes[range])
    }

    fn write(&mut self, at: u64, len: u64) -> Result<&mut [u8], PerformError> {
        self.range(at, len).map(|range| &mut self.bytes[range])
    }
}

/// A world of ranks.
pub struct World {
    pub processes: Vec<Process>,
    pub memories: Vec<Memory>,
    pub woken: Vec<bool>,
    /// Frames on their way.
    flying: Vec<(Rank, Frame<Payload>)>,
    random: Xoshiro256PlusPlus,
    /// One of so many steps is a move; none if 0.
    moves: u64,
    /// How many frames were delivered.
    pub frames: usize,
}

impl World {
    pub fn new(ranks: u32, memory: usize, seed: u64) -> World {
        let memories = (0..ranks).map(|_| Memory { bytes: vec![0; memory], function: |_| {} });
        World {
            processes: (0..ranks).map(|rank| Process::new(Engine::new(rank), ranks)).collect(),
            memories: memories.collect(),
            woken: vec![false; ranks as usize],
            flying: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            moves: 0,
            frames: 0,
        }
    }

    /// Ranks move, now and then.
    pub fn with_moves(mut self, one_of: u64) -> World {
        self.moves = one_of;
        self
    }

    /// A random number below this.
    pub fn below(&mut self, n: u64) -> u64 {
        self.random.next_u64() % n
    }

    /// Something that a rank calls.
    pub fn call<T>(&mut self, rank: Rank, call: impl FnOnce(&mut Process, &mut Actions) -> T) -> T {
        let mut out = Vec::new();
        let result = call(&mut self.processes[rank as usize], &mut out);
        self.perform(rank, out);
        result
    }

    /// Delivers a frame, any of those on their way. Returns whether there was one.
    pub fn step(&mut self) -> bool {
        if self.moves > 0 && self.below(self.moves) == 0 {
            let rank = self.below(self.processes.len() as u64) as Rank;
            self.move_away(rank);
        }
        if self.flying.is_empty() {
            return false;
        }
        let at = self.below(self.flying.len() as u64) as usize;
        let (to, frame) = self.flying.swap_remove(at);
        self.frames += 1;
        if self.below(2) == 0 || !self.receives_at_once(to, &frame) {
            self.call(to, |process, out| process.on_frame(frame, out).expect("a peer has sent it"));
        }
        true
    }

    /// Whether a frame finds a receive that waits for it.
    fn receives_at_once(&mut self, to: Rank, frame: &Frame<Payload>) -> bool {
        let (process, memory) = (&mut self.processes[to as usize], &mut self.memories[to as usize]);
        let mut out = Vec::new();
        let is_there = process.receive_at_once(frame, memory, &mut out).expect("the test gives what it has");
        self.perform(to, out);
        is_there
    }

    /// Until no frame is on its way.
    pub fn run(&mut self) {
        while self.step() {}
    }

    /// What a move does to a rank: it pays, and is packed and unpacked.
    pub fn move_away(&mut self, rank: Rank) {
        self.call(rank, |process, out| process.pay(out));
        let process = &mut self.processes[rank as usize];
        let back =
            talisman_pup::from_bytes(&talisman_pup::to_bytes(process)).expect("it was packed just now");
        assert_eq!(*process, back);
        *process = back;
    }

    fn perform(&mut self, rank: Rank, actions: Vec<Action>) {
        let (process, memory) = (&mut self.processes[rank as usize], &mut self.memories[rank as usize]);
        for action in actions {
            match process.perform(&action, memory).expect("the test gives what it has") {
                Outcome::Done => {}
                Outcome::Send { to, frame } => self.flying.push((to, frame)),
                Outcome::Took { .. } => unreachable!("nobody lends here"),
                Outcome::Call(mut operands) => {
                    (memory.function)(operands.call());
                    let written = process.write_result(operands.into, &operands.right, memory);
                    written.expect("it was read just now");
                }
                Outcome::Wake => self.woken[rank as usize] = true,
            }
        }
    }
}
