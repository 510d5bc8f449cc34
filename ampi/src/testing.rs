//! Ranks in one thread, with a network that delivers frames in any order and ranks that move at any moment.

use std::cell::RefCell;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::engine::{Action, Actions, Engine, Frame, Head, Payload, Rank};
use crate::process::{Host, Incoming, Outcome, PerformError, Process, UserCombine};

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
        if len == 0 {
            return Ok(0..0);
        }
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
    /// How many frames were delivered, or messages given without one.
    pub frames: usize,
}

impl World {
    pub fn new(ranks: u32, memory: usize, seed: u64) -> World {
        let memories = (0..ranks).map(|_| Memory { bytes: vec![0; memory], function: |_| {} });
        World {
            processes: (0..ranks)
                .map(|rank| Process::new(Engine::new(rank), &crate::comm::World::at_start(ranks)))
                .collect(),
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
        let gives = self.below(2) == 0;
        self.perform_or_give(rank, actions, gives);
    }

    /// The same, by giving others what they wait for or not. What those do then gives nothing.
    fn perform_or_give(&mut self, rank: Rank, mut actions: Vec<Action>, gives: bool) {
        // It does not give itself anything: another process is in its place meanwhile.
        let nobody =
            Process::new(Engine::new(rank), &crate::comm::World::at_start(self.processes.len() as u32));
        let mut process = std::mem::replace(&mut self.processes[rank as usize], nobody);
        let nothing = Memory { bytes: Vec::new(), function: |_| {} };
        let own = std::mem::replace(&mut self.memories[rank as usize], nothing);
        let others = Others {
            processes: &mut self.processes,
            memories: &mut self.memories,
            led_to: Vec::new(),
            given: 0,
        };
        let mut memory = Giving { own, others: others.into(), gives };
        let mut at = 0;
        while let Some(action) = actions.get(at) {
            at += 1;
            match process.perform(action, &mut memory).expect("the test gives what it has") {
                Outcome::Done => {}
                Outcome::Send { to, frame } => self.flying.push((to, frame)),
                Outcome::Took { .. } => unreachable!("nobody lends here"),
                Outcome::Gave { send } => process.gave(send, &mut actions),
                Outcome::Call(mut operands) => {
                    (memory.own.function)(operands.call());
                    let written = process.write_result(operands.into, &operands.right, &mut memory);
                    written.expect("it was read just now");
                }
                Outcome::Answer(answers) => self.flying.extend(answers),
                Outcome::Wake => self.woken[rank as usize] = true,
            }
        }
        let Giving { own, others, .. } = memory;
        let Others { led_to, given, .. } = others.into_inner();
        self.frames += given;
        self.processes[rank as usize] = process;
        self.memories[rank as usize] = own;
        led_to.into_iter().for_each(|(rank, actions)| self.perform_or_give(rank, actions, false));
    }
}

/// The memory of a rank that may give others its messages.
struct Giving<'a> {
    own: Memory,
    others: RefCell<Others<'a>>,
    gives: bool,
}

/// The other ranks, and what they have been given leads to.
struct Others<'a> {
    processes: &'a mut [Process],
    memories: &'a mut [Memory],
    led_to: Vec<(Rank, Actions)>,
    /// How many messages they have been given.
    given: usize,
}

impl Host for Giving<'_> {
    fn read(&self, at: u64, len: u64) -> Result<&[u8], PerformError> {
        self.own.read(at, len)
    }

    fn write(&mut self, at: u64, len: u64) -> Result<&mut [u8], PerformError> {
        self.own.write(at, len)
    }

    fn give(&self, to: Rank, head: &Head, bytes: &[u8]) -> bool {
        if !self.gives || to == head.source {
            return false;
        }
        let mut others = self.others.borrow_mut();
        let Others { processes, memories, led_to, given } = &mut *others;
        // What it has to do comes before what it gets next.
        if led_to.iter().any(|(rank, actions)| *rank == to && !actions.is_empty()) {
            return false;
        }
        let mut out = Vec::new();
        let (process, memory) = (&mut processes[to as usize], &mut memories[to as usize]);
        let is_given = process.receive_whole(Incoming::of(head, bytes), memory, &mut out);
        led_to.push((to, out));
        let is_given = is_given.expect("the test gives what it has");
        *given += usize::from(is_given);
        is_given
    }
}
