//! What ranks cost on one PE, without links: switching, matching, a message there and back, memory, a move.
//!
//! `cargo bench -p talisman-ampi` prints the best of several rounds beside what bounds it: budgets of the project in
//! nanoseconds, or a copy of the same bytes in the same run. An argument selects rows by their names. With `--check`
//! the program fails if a budget is exceeded.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use talisman_ampi::engine::{
    Action, Actions, Begun, Body, Buffer, Engine, Envelope, Frame, Mode, Owner, Pattern, Payload,
};
use talisman_ampi::rank::{Outgoing, Rank, call, wait_all};
use talisman_ampi::slot::{BASE, Layout, RankAllocator, Slot, SlotSpace};
use talisman_ampi::thread::{Resumed, Thread, suspend};

#[global_allocator]
static ALLOCATOR: RankAllocator = RankAllocator;

/// Rounds of which the best counts: others use the machine too.
const ROUNDS: usize = 7;

/// What is measured, and the most it may take, both in nanoseconds.
type Figure = (&'static str, fn() -> f64, fn() -> Option<f64>);

const FIGURES: &[Figure] = &[
    ("switch to a rank and back", switch_pair, || Some(60.0)),
    ("eager message of 8 bytes through two engines, receive posted", || matched(true), || None),
    ("the same, unexpected", || matched(false), || None),
    ("8 bytes from rank to rank, one way", || one_way(8), || Some(120.0)),
    ("1 MiB from rank to rank, one way", || one_way(1 << 20), || Some(1.05 * copy(1 << 20))),
    ("64 bytes allocated and freed in a slot", allocation, || None),
    ("a rank made, run and gone", made, || Some(25_000.0)),
    ("a rank of 16 MiB put aside and back", aside, || None),
];

fn main() -> ExitCode {
    SlotSpace::reserve(BASE, Layout::DEFAULT, 4_096).expect("these addresses are free");
    println!("| what | ours | budget |\n|---|---|---|");
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let mut met = true;
    for (what, figure, budget) in FIGURES {
        if only.as_ref().is_none_or(|only| what.contains(only.as_str())) {
            met &= row(what, figure(), budget());
        }
    }
    if !met && std::env::args().any(|argument| argument == "--check") {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn row(what: &str, ns: f64, budget: Option<f64>) -> bool {
    let budget_text = budget.map_or("–".to_owned(), |budget| format!("{budget:.0} ns"));
    println!("| {what} | {ns:.1} ns | {budget_text} |");
    budget.is_none_or(|budget| ns <= budget)
}

/// The best of several rounds of so many calls, in nanoseconds each.
fn best(calls: u32, mut round: impl FnMut(u32)) -> f64 {
    let mut time = || {
        let start = Instant::now();
        round(calls);
        start.elapsed().as_nanos() as f64 / f64::from(calls)
    };
    (0..ROUNDS).map(|_| time()).fold(f64::INFINITY, f64::min)
}

fn slot(number: u32) -> Slot {
    Slot::new(number).expect("a free slot")
}

fn switch_pair() -> f64 {
    let mut thread = Thread::new(slot(0), || {
        loop {
            suspend();
        }
    });
    best(1_000_000, |calls| {
        for _ in 0..calls {
            assert_eq!(thread.resume().expect("in place"), Resumed::Suspended);
        }
    })
}

fn matched(posted: bool) -> f64 {
    let (mut sender, mut receiver) = (Engine::new(0), Engine::new(1));
    let (to, buffer) = (Envelope { context: 0, to: 1, tag: 3 }, Buffer::of_bytes(64, 8));
    let pattern = Pattern { context: 0, source: Some(0), tag: Some(3) };
    let mut out: Actions = Vec::new();
    best(300_000, |calls| {
        for _ in 0..calls {
            let early = posted.then(|| receiver.receive(pattern, buffer, Owner::User, &mut out));
            let send = sender.send(Mode::Standard, to, buffer, Owner::User, &mut out);
            let Some(Action::Send { frame, .. }) = out.pop() else { unreachable!("it sends") };
            let frame: Frame<Payload> = frame.map(|_| Payload::of(black_box(&[1; 8])));
            assert!(matches!(frame.body, Body::Eager(_)));
            receiver.on_frame(frame, &mut out).expect("a peer has sent it");
            let receive = early.unwrap_or_else(|| receiver.receive(pattern, buffer, Owner::User, &mut out));
            black_box(&out);
            out.clear();
            assert!(
                sender.test(send).expect("there").is_some()
                    && receiver.test(receive).expect("there").is_some()
            );
        }
    })
}

fn wait(begun: Begun) {
    let Begun::Pending(request) = begun else { return };
    wait_all(&[request]).expect("a rank calls");
    // SAFETY: no buffer is given.
    unsafe { call(|process, _| process.engine.test(request)) }.expect("a rank calls").expect("it is there");
}

fn ping_pong(rank: u32, bytes: usize) {
    let (mut memory, peer) = (vec![0u8; bytes], 1 - rank);
    let buffer = Buffer::of_bytes(memory.as_mut_ptr().expose_provenance() as u64, bytes as u64);
    let to = Envelope { context: 0, to: peer, tag: 1 };
    let from = Pattern { context: 0, source: Some(peer), tag: Some(1) };
    for turn in 0.. {
        // SAFETY: the memory lives as long as the loop, and each request is waited for.
        let request = unsafe {
            call(|process, out| match (turn + rank) % 2 {
                0 => process.engine.begin_blocking_send(Mode::Standard, to, buffer, out),
                _ => process.engine.begin_blocking_receive(from, buffer, out),
            })
        };
        wait(request.expect("a rank calls"));
    }
}

/// Two ranks that send each other something, driven as a PE would.
fn one_way(bytes: usize) -> f64 {
    let mut ranks = [0, 1].map(|rank| Rank::new(slot(1 + rank), rank, 2, move || ping_pong(rank, bytes)));
    let (mut flying, mut sent): (Vec<Outgoing>, Vec<Outgoing>) = (Vec::new(), Vec::new());
    for rank in &mut ranks {
        rank.resume(&mut flying).expect("in place");
    }
    let mut arrived = 0u32;
    best(if bytes > 1_000 { 200 } else { 100_000 }, |calls| {
        let end = arrived + calls;
        while arrived < end {
            std::mem::swap(&mut flying, &mut sent);
            for (to, frame) in sent.drain(..) {
                let rank = &mut ranks[to as usize];
                // The frames that end a message.
                arrived += u32::from(matches!(frame.body, Body::Eager(_) | Body::Data { .. }));
                rank.on_frame(frame, &mut flying).expect("a peer has sent it");
                if rank.is_ready() {
                    rank.resume(&mut flying).expect("in place");
                }
            }
        }
    })
}

fn copy(bytes: usize) -> f64 {
    let (from, mut to) = (vec![1u8; bytes], vec![0u8; bytes]);
    best(200, |calls| {
        for _ in 0..calls {
            black_box(&mut to).copy_from_slice(black_box(&from));
        }
    })
}

fn allocation() -> f64 {
    let mut thread = Thread::new(slot(4), || {
        let mut blocks = Vec::with_capacity(1_000);
        loop {
            blocks.extend((0..1_000).map(|_| black_box(Box::new([1u8; 64]))));
            blocks.clear();
            suspend();
        }
    });
    best(1_000, |calls| {
        for _ in 0..calls {
            thread.resume().expect("in place");
        }
    }) / 1_000.0
}

fn made() -> f64 {
    best(1_000, |calls| {
        for number in 0..calls {
            let mut thread = Thread::new(slot(10 + number), || {
                black_box(Box::new(1));
            });
            assert_eq!(thread.resume().expect("in place"), Resumed::Ended);
        }
    })
}

fn aside() -> f64 {
    let mut thread = Thread::new(slot(5), || {
        let memory = vec![1u8; 16 << 20];
        suspend();
        black_box(memory);
    });
    thread.resume().expect("in place");
    best(100, |calls| {
        for _ in 0..calls {
            thread.slot_mut().put_aside().expect("there is room");
            thread.slot_mut().put_back().expect("nobody is there");
        }
    })
}
