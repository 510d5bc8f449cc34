//! Links through shared memory between two processes, against the limit of the same machine in the same run.
//!
//! `cargo bench -p talisman-transport --bench transport_shm`. One way is half a round trip. Each comparison is a median over
//! interleaved rounds; its ratio is the median of the ratios within a round, as in `handover.rs`.

use std::hint::{black_box, spin_loop};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, Command};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use talisman_pup::Segment;
use talisman_sched::bell::Bell;
use talisman_transport::shm::{Mapping, Receiver, Sender, Shape, create};
use talisman_transport::{Incoming, Peer};

/// Many short rounds: on a machine that others use too, some of them are undisturbed.
const ROUNDS: usize = 61;
const SHAPE: Shape = Shape { nodes: 2, pes: 1 };
const DESCRIPTORS: &str = "TALISMAN_BENCH_DESCRIPTORS";
const MIB: usize = 1 << 20;

/// What is measured: ours, and what it is compared with. Both processes go through the same list.
struct Comparison {
    name: &'static str,
    ours: Work,
    limit: Work,
}

#[derive(Clone, Copy)]
enum Work {
    /// Two flags in shared memory, polled: the limit of small messages.
    Flags,
    /// Messages there and back, with a head of so many bytes.
    Heads(usize),
    /// The same, with one segment of so many.
    Segments(usize),
    /// Many messages of so many bytes one way.
    Stream(usize),
    /// A copy of so many bytes that no cache has: the limit of large messages. One process does it.
    Copy(usize),
}

const COMPARISONS: [Comparison; 10] = [
    Comparison { name: "8 B | flags", ours: Work::Heads(8), limit: Work::Flags },
    Comparison { name: "48 B | flags", ours: Work::Heads(48), limit: Work::Flags },
    Comparison { name: "128 B | flags", ours: Work::Heads(128), limit: Work::Flags },
    Comparison { name: "1 KiB | flags", ours: Work::Heads(1024), limit: Work::Flags },
    Comparison { name: "8 KiB | flags", ours: Work::Heads(8192), limit: Work::Flags },
    Comparison { name: "stream of 16 B, each | flags", ours: Work::Stream(16), limit: Work::Flags },
    Comparison { name: "stream of 1 KiB, each | flags", ours: Work::Stream(1024), limit: Work::Flags },
    Comparison { name: "64 KiB | cold copy", ours: Work::Segments(64 << 10), limit: Work::Copy(64 << 10) },
    Comparison { name: "1 MiB | cold copy", ours: Work::Segments(MIB), limit: Work::Copy(MIB) },
    Comparison { name: "16 MiB | cold copy", ours: Work::Segments(16 * MIB), limit: Work::Copy(16 * MIB) },
];

fn main() {
    if let Some(descriptors) = handed_over() {
        // It does not outlive the one that reports.
        set_parent_process_death_signal(Some(Signal::KILL)).expect("a signal");
        on_core(1);
        return run(&mut Side::new(1, &descriptors), |_, _| ());
    }
    let flags = memfd_create("flags", MemfdFlags::empty()).expect("a memfd");
    ftruncate(&flags, 4096).expect("a page");
    let bell = || Bell::new().expect("a bell").as_fd().try_clone_to_owned().expect("a copy");
    let descriptors = [create(SHAPE).expect("a segment"), flags, bell(), bell()];
    let mut child = start(&descriptors);
    on_core(0);
    let mut samples: Vec<(Vec<f64>, Vec<f64>)> = vec![Default::default(); COMPARISONS.len()];
    run(&mut Side::new(0, &descriptors), |number, (ours, limit)| {
        samples[number].0.push(ours);
        samples[number].1.push(limit);
    });
    child.wait().expect("the other process ends");
    report(samples);
}

fn report(samples: Vec<(Vec<f64>, Vec<f64>)>) {
    println!("{:<32} | {:^25} | {:^25} | {:^13}", "one way, ns", "ours", "limit", "ratio");
    println!("{:<32} | {:>12} {:>12} | {:>12} {:>12} |", "", "median", "fastest", "median", "fastest");
    for (Comparison { name, .. }, (ours, limit)) in COMPARISONS.iter().zip(samples) {
        let ratio = median(ours.iter().zip(&limit).map(|(ours, limit)| ours / limit).collect());
        let (ours, limit) = (sorted(ours), sorted(limit));
        let middle = ours.len() / 2;
        println!(
            "{name:<32} | {:>12.1} {:>12.1} | {:>12.1} {:>12.1} | {ratio:>6.2} {:>6.2}",
            ours[middle],
            ours[0],
            limit[middle],
            limit[0],
            ours[0] / limit[0],
        );
    }
}

fn median(samples: Vec<f64>) -> f64 {
    sorted(samples)[ROUNDS / 2]
}

fn sorted(mut samples: Vec<f64>) -> Vec<f64> {
    samples.sort_by(f64::total_cmp);
    samples
}

fn run(side: &mut Side, mut keep: impl FnMut(usize, (f64, f64))) {
    for _ in 0..ROUNDS {
        for (number, Comparison { ours, limit, .. }) in COMPARISONS.iter().enumerate() {
            keep(number, (side.measure(*ours), side.measure(*limit)));
        }
    }
}

/// This binary again, as the other process.
fn start(descriptors: &[OwnedFd; 4]) -> Child {
    let number = |descriptor: &OwnedFd| {
        fcntl_setfd(descriptor, FdFlags::empty()).expect("a descriptor of ours");
        descriptor.as_raw_fd().to_string()
    };
    let numbers: Vec<String> = descriptors.iter().map(number).collect();
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.env(DESCRIPTORS, numbers.join(",")).spawn().expect("this program runs")
}

fn handed_over() -> Option<[OwnedFd; 4]> {
    let numbers = std::env::var(DESCRIPTORS).ok()?;
    // SAFETY: open, handed over by the parent, and nobody else's in this process.
    let descriptor = |number: &str| unsafe { OwnedFd::from_raw_fd(number.parse().expect("a number")) };
    numbers.split(',').map(descriptor).collect::<Vec<_>>().try_into().ok()
}

/// Between two looks. Where others want the core it goes to them now and then, or each hand-over would take a turn of theirs.
fn pause(looks: &mut u32) {
    *looks += 1;
    if looks.is_multiple_of(4096) { std::thread::yield_now() } else { spin_loop() }
}

/// Keeps this process on the `core`-th of the cores it may use.
fn on_core(core: usize) {
    let allowed = sched_getaffinity(None).expect("the kernel tells the cores");
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
    let mut one = CpuSet::new();
    one.set(cores[core % cores.len()]);
    sched_setaffinity(None, &one).expect("the core is one of ours");
}

/// One of the two processes.
struct Side {
    me: u32,
    sender: Sender,
    receiver: Receiver,
    flags: [&'static AtomicU64; 2],
    /// Hand-overs by flag so far.
    handed: u64,
    /// Source and target of copies.
    cold: [Vec<u8>; 2],
    /// Parts of them copied so far.
    copied: usize,
}

impl Side {
    fn new(me: u32, [segment, flags, first, second]: &[OwnedFd; 4]) -> Side {
        let mapping = Mapping::open(segment, SHAPE).expect("the segment of this job");
        let bell = Bell::of([second, first][me as usize].try_clone().expect("a copy"));
        let parker = Arc::new(mapping.parker(1 - me, 0, move || bell.ring()));
        let (sender, receiver) = mapping.link(me, 1 - me, Peer { node: 1 - me, lane: 0 }, parker);
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping of a page.
        let at = unsafe { mmap(std::ptr::null_mut(), 4096, access, MapFlags::SHARED, flags, 0) };
        let at: NonNull<u8> = NonNull::new(at.expect("a page").cast()).expect("not at zero");
        // SAFETY: aligned words of the page, which stays mapped to the end and is used by atomics alone.
        let flags = [0, 128].map(|offset| unsafe { at.add(offset).cast().as_ref() });
        let cold = if me == 0 { [1, 2].map(|byte| vec![byte; 64 * MIB]) } else { Default::default() };
        Side { me, sender, receiver, flags, handed: 0, cold, copied: 0 }
    }

    /// Nanoseconds per operation.
    fn measure(&mut self, work: Work) -> f64 {
        match work {
            Work::Flags => self.trips(2_000, Side::hand_over),
            Work::Heads(n) => {
                let head = vec![7; n];
                let trips = (MIB / (n + 512)).clamp(100, 2_000);
                self.trips(trips, |side| side.exchange(|side| side.sender.send(0, &head, Vec::new())))
            }
            Work::Segments(n) => {
                let segment = Segment::of_vec(vec![7u8; n]);
                let send = |side: &mut Side| side.sender.send(0, &[1; 8], vec![segment.clone()]);
                self.trips((4 * MIB / n).clamp(2, 50), |side| side.exchange(send))
            }
            Work::Stream(n) => self.stream(10_000, n),
            Work::Copy(n) => self.copy(n),
        }
    }

    /// Half of the time of a round trip.
    fn trips(&mut self, trips: usize, mut trip: impl FnMut(&mut Side)) -> f64 {
        (0..trips / 10).for_each(|_| trip(self));
        let start = Instant::now();
        (0..trips).for_each(|_| trip(self));
        start.elapsed().as_nanos() as f64 / trips as f64 / 2.0
    }

    fn hand_over(&mut self) {
        self.handed += 1;
        let [mine, theirs] = [self.flags[self.me as usize], self.flags[1 - self.me as usize]];
        if self.me == 0 {
            mine.store(self.handed, Ordering::Release);
        }
        let mut looks = 0;
        while theirs.load(Ordering::Acquire) != self.handed {
            pause(&mut looks);
        }
        if self.me == 1 {
            mine.store(self.handed, Ordering::Release);
        }
    }

    fn exchange(&mut self, send: impl FnOnce(&mut Side)) {
        if self.me == 0 {
            send(self);
            self.receive(1);
        } else {
            self.receive(1);
            send(self);
            self.flush();
        }
    }

    /// The first sends, the other says when it has all.
    fn stream(&mut self, count: usize, n: usize) -> f64 {
        let (start, head) = (Instant::now(), vec![7; n]);
        if self.me == 0 {
            for _ in 0..count {
                self.sender.send(0, &head, Vec::new());
                // What does not fit the ring waits in the sending half, but not too much of it.
                let mut looks = 0;
                while self.sender.unsent() > MIB && !self.sender.flush() {
                    pause(&mut looks);
                }
            }
            self.receive(1);
        } else {
            self.receive(count);
            self.sender.send(0, &[1], Vec::new());
            self.flush();
        }
        start.elapsed().as_nanos() as f64 / count as f64
    }

    fn receive(&mut self, count: usize) {
        let (mut seen, mut looks) = (0, 0);
        while seen < count {
            let mut one = |incoming: Incoming<'_>| {
                black_box(incoming);
                seen += 1;
            };
            if self.receiver.receive(64, &mut one).expect("an honest peer") == 0 {
                self.sender.flush();
                pause(&mut looks);
            }
        }
    }

    fn flush(&mut self) {
        let mut looks = 0;
        while self.sender.unsent() > 0 {
            if !self.sender.flush() {
                pause(&mut looks);
            }
        }
    }

    fn copy(&mut self, n: usize) -> f64 {
        if self.me == 1 {
            return 0.0;
        }
        let [source, target] = &mut self.cold;
        let len = n.max(MIB);
        // Another part each time, which has left the caches meanwhile.
        let from = self.copied % (source.len() / len) * len;
        self.copied += 1;
        let (source, target) = (&source[from..][..len], &mut target[from..][..len]);
        let start = Instant::now();
        for (source, target) in source.chunks_exact(n).zip(target.chunks_exact_mut(n)) {
            target.copy_from_slice(black_box(source));
        }
        black_box(target);
        start.elapsed().as_nanos() as f64 / (len / n) as f64
    }
}
