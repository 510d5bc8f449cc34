//! Programs of several ranks that call MPI, over a network that delivers in any order, while ranks move at any moment.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use talisman_ampi::collective::{Call, Member, Values, allreduce, barrier};
use talisman_ampi::comm::Communicators;
use talisman_ampi::datatype::{Basic, Datatypes};
use talisman_ampi::engine::{Begun, Body, Buffer, Envelope, Mode, Pattern, Status, Token};
use talisman_ampi::op::{Ops, Predefined};
use talisman_ampi::process::{Process, UserCombine};
use talisman_ampi::rank::{CallError, Outgoing, Rank, call, is_in_operation, wait_all, wait_message};
use talisman_ampi::slot::Slot;
use talisman_ampi::thread::{Resumed, running, suspend};

use crate::Test;

pub const ALL: &[Test] = &[
    ("a ring of messages of all lengths", || assert!(worlds(8, 20, ring) > 0, "none was read where it was")),
    ("a farm with wildcards and probes", || _ = worlds(5, 20, farm)),
    ("sums and barriers", || _ = worlds(7, 20, sums)),
    ("an operation of the program runs where its rank runs", || _ = worlds(3, 5, operation)),
];

/// Slots of worlds; the other tests take the lower ones.
const FIRST_SLOT: u32 = 48;

/// One world at a time has those slots.
static SLOTS: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Runs a program on so many ranks, with so many seeds; in every other world they read long messages where those are.
/// How many were read so.
fn worlds(ranks: u32, seeds: u64, program: fn(u32, u32)) -> usize {
    let _slots = SLOTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    (0..seeds).map(|seed| World::new(ranks, seed, program).run()).sum()
}

struct World {
    ranks: Vec<Rank>,
    ended: Vec<bool>,
    flying: Vec<Outgoing>,
    random: Xoshiro256PlusPlus,
    moves: u32,
    lend: bool,
    /// Messages that were read where they are.
    taken: usize,
}

impl World {
    fn new(ranks: u32, seed: u64, program: fn(u32, u32)) -> World {
        let rank = |number: u32| {
            let slot = Slot::new(FIRST_SLOT + number).expect("worlds take turns");
            Rank::new(slot, number, ranks, move || program(number, ranks))
        };
        World {
            ranks: (0..ranks).map(rank).collect(),
            ended: vec![false; ranks as usize],
            flying: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            moves: 0,
            lend: seed % 2 == 1,
            taken: 0,
        }
    }

    fn below(&mut self, n: usize) -> usize {
        (self.random.next_u64() % n as u64) as usize
    }

    fn run(mut self) -> usize {
        while !self.ended.iter().all(|ended| *ended) {
            let rank = self.below(self.ranks.len());
            match self.below(4) {
                0 => self.move_away(rank),
                1 => self.resume(rank),
                _ => self.deliver(),
            }
            let stuck = self.flying.is_empty()
                && self.ranks.iter().zip(&self.ended).all(|(rank, ended)| *ended || !rank.is_ready());
            assert!(!stuck || self.ended.iter().all(|ended| *ended), "all wait: {:?}", self.waiting());
        }
        assert!(self.moves > 0);
        while !self.flying.is_empty() {
            self.deliver();
        }
        for rank in &self.ranks {
            let process = rank.process();
            assert_eq!(
                (process.engine.unexpected().count(), process.engine.early(), process.scratch()),
                (0, 0, 0)
            );
        }
        assert!(self.lend || self.taken == 0);
        self.taken
    }

    fn waiting(&self) -> Vec<String> {
        self.ranks.iter().map(|rank| format!("{:?}", rank.process().engine.waits_for())).collect()
    }

    fn resume(&mut self, rank: usize) {
        if self.ended[rank] || !self.ranks[rank].is_ready() {
            return;
        }
        self.ranks[rank].set_lending(self.lend, false);
        match self.ranks[rank].resume(&mut self.flying).expect("its memory is there") {
            Resumed::Suspended => {}
            Resumed::Ended => self.ended[rank] = true,
            other => panic!("rank {rank}: {other:?}"),
        }
    }

    fn deliver(&mut self) {
        if !self.flying.is_empty() {
            let at = self.below(self.flying.len());
            let (to, frame) = self.flying.swap_remove(at);
            self.taken += usize::from(matches!(frame.body, Body::Taken { .. }));
            self.ranks[to as usize].on_frame(frame, &mut self.flying).expect("a rank has sent it");
        }
    }

    /// To another process and back, as far as its memory can tell.
    fn move_away(&mut self, rank: usize) {
        self.moves += 1;
        let mut leaving = self.ranks.swap_remove(rank);
        leaving.depart(&mut self.flying).expect("there is room aside");
        let bytes = talisman_pup::to_bytes(&leaving);
        drop(leaving);
        self.ranks.push(talisman_pup::from_bytes(&bytes).expect("it was packed just now"));
        let last = self.ranks.len() - 1;
        self.ranks.swap(rank, last);
    }
}

/// What a port of these to the interface for users has instead.
fn work<T: Copy>(work: impl FnOnce(&mut Process, &mut Vec<talisman_ampi::engine::Action>) -> T) -> T {
    // SAFETY: the helpers below wait for each request before the borrow of its buffer ends, and move nothing of the
    // rank's heap.
    unsafe { call(work) }.expect("a rank calls")
}

fn wait(request: Token) -> Status {
    wait_all(&[request]).expect("a rank calls");
    work(|process, _| process.engine.test(request)).expect("it is there").expect("it has ended")
}

fn finish(begun: Begun) -> Status {
    match begun {
        Begun::Done(status) => status,
        Begun::Pending(request) => wait(request),
    }
}

fn bytes_of(values: &[u64]) -> Buffer {
    Buffer::of_bytes(values.as_ptr().addr() as u64, size_of_val(values) as u64)
}

fn send(values: &[u64], to: u32, tag: i32, mode: Mode) {
    let (envelope, buffer) = (Envelope { context: 0, to, tag }, bytes_of(values));
    finish(work(|process, out| process.engine.begin_blocking_send(mode, envelope, buffer, out)));
}

fn receive(values: &mut [u64], source: Option<u32>, tag: Option<i32>) -> Status {
    let (pattern, buffer) = (Pattern { context: 0, source, tag }, bytes_of(values));
    finish(work(|process, out| process.engine.begin_blocking_receive(pattern, buffer, out)))
}

/// A token of rising length goes around.
fn ring(rank: u32, ranks: u32) {
    let (before, after) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
    for len in [0, 1, 5, 6, 1_000, 1_024, 1_025, 20_000] {
        let mut token = vec![0; len];
        let mode = if len % 2 == 0 { Mode::Standard } else { Mode::Synchronous };
        if rank == 0 {
            token.fill(len as u64);
            send(&token, after, 7, mode);
        }
        let status = receive(&mut token, Some(before), Some(7));
        assert_eq!((status.bytes, status.truncated), (8 * len as u64, None));
        let laps = if rank == 0 { ranks } else { rank };
        assert!(token.iter().all(|value| *value == len as u64 + u64::from(laps) - 1));
        token.iter_mut().for_each(|value| *value += 1);
        if rank > 0 {
            send(&token, after, 7, mode);
        }
    }
}

/// Rank 0 hands out tasks to whoever asks, and adds the results up.
fn farm(rank: u32, ranks: u32) {
    const TASKS: u64 = 40;
    const STOP: u64 = u64::MAX;
    if rank > 0 {
        let mut task = [0];
        send(&[0], 0, 1, Mode::Standard);
        while receive(&mut task, Some(0), None).tag == Some(2) {
            let result: Vec<u64> = (0..=task[0]).collect();
            send(&result, 0, 3, Mode::Standard);
        }
        return assert_eq!(task, [STOP]);
    }
    let (mut next, mut sum, mut stopped) = (0, 0, 1);
    while stopped < ranks {
        let any = Pattern { context: 0, source: None, tag: None };
        wait_message(any).expect("a rank calls");
        let found = work(|process, _| process.engine.probe(&any)).expect("a message is there");
        let mut result = vec![0; found.bytes as usize / 8];
        let status = receive(&mut result, found.source, found.tag);
        assert_eq!((status.tag, status.bytes), (found.tag, found.bytes));
        sum += result.iter().sum::<u64>();
        let (task, tag) = if next < TASKS { (next, 2) } else { (STOP, 4) };
        next += 1;
        stopped += u32::from(task == STOP);
        send(&[task], found.source.expect("somebody has sent it"), tag, Mode::Standard);
    }
    assert_eq!(sum, (0..TASKS).map(|task| task * (task + 1) / 2).sum::<u64>());
}

/// Sums of vectors over all, short and long ones, in place, with barriers between.
fn sums(rank: u32, ranks: u32) {
    let me = Member { rank, size: ranks };
    for count in [1usize, 3, 5_000] {
        let mut values: Vec<u64> = (0..count).map(|at| u64::from(rank) + at as u64).collect();
        let buffer = values.as_mut_ptr().expose_provenance() as u64;
        collective(buffer, |values| allreduce(me, count as u64, values, true, true));
        let ranks = u64::from(ranks);
        assert!(values.iter().zip(0..).all(|(value, at)| *value == ranks * (ranks - 1) / 2 + ranks * at));
        collective(0, |_| barrier(me));
    }
}

/// A sum that asks for its rank, lets others run, and tries to wait.
fn operation(rank: u32, ranks: u32) {
    fn sum(call: UserCombine<'_>) {
        assert_eq!(wait_all(&[]), Err(CallError::InOperation));
        let rank = work(|process, _| process.engine.rank());
        assert_eq!(running(), Some(FIRST_SLOT + rank), "what it allocates is its rank's");
        assert!(is_in_operation());
        suspend();
        assert_eq!(running(), Some(FIRST_SLOT + rank));
        Predefined::Sum.apply(Basic::U64, call.left, call.right).expect("these can be added");
    }
    let op = work(|process, _| process.ops.insert(sum as fn(UserCombine<'_>) as usize as u64, true));
    let mut value = [u64::from(rank)];
    let receive = value.as_mut_ptr().expose_provenance() as u64;
    let me = Member { rank, size: ranks };
    collective_with(op, receive, |values| allreduce(me, 1, values, true, true));
    assert_eq!(value, [3]);
    assert_eq!((running(), is_in_operation()), (Some(FIRST_SLOT + rank), false));
}

fn collective(receive: u64, schedule: impl FnOnce(&Values) -> talisman_ampi::collective::Schedule) {
    collective_with(Ops::handle_of(Predefined::Sum), receive, schedule);
}

fn collective_with(
    op: u32,
    receive: u64,
    schedule: impl FnOnce(&Values) -> talisman_ampi::collective::Schedule,
) {
    let request = work(|process, out| {
        let handle = Datatypes::handle_of(Basic::U64);
        let values = Values::of(handle, process.datatypes.get(handle).expect("it is predefined"));
        let world = process.comms.get_mut(Communicators::WORLD).expect("it is always there");
        let (context, tag, members) =
            (world.contexts().collective, world.next_collective(), world.group().members());
        let request = Token { index: 0, generation: 0 };
        let call = Call { context, tag, send: 0, receive, op, request };
        process.begin(schedule(&values), call, &members, out)
    });
    wait(request);
}
