//! What the scheduler's building blocks cost, against the limit of the same machine in the same run.
//!
//! `cargo bench -p talisman-core --bench handover`. Prints lower quartiles over interleaved rounds, so that both
//! sides of a ratio saw the same machine and what disturbed less than three rounds in four does not count. A hand-over is one way: half a round trip between two threads on two cores.

use std::collections::VecDeque;
use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use talisman_core::scheduler::idle::Idle;
use talisman_core::scheduler::park::Parker;
use talisman_core::scheduler::priority::Priority;
use talisman_core::scheduler::queue::PriorityQueue;
use talisman_core::scheduler::ring::{Consumer, DEFAULT_CAPACITY, Producer, Words, ring};

/// Many short rounds: on a machine that others use too, some of them are undisturbed.
const ROUNDS: usize = 61;
const TRIPS: u64 = 20_000;
const STREAM: u64 = 200_000;
const POPS: u64 = 50_000;
const DEPTH: usize = 1_000;

/// Nanoseconds per operation, from inside the thread that works.
type Measure = fn() -> f64;

fn main() {
    let comparisons: [(&str, Measure, Measure); 6] = [
        ("hand-over: ring | raw flag", || ring_handover(Waiting::Spin), flag_handover),
        ("hand-over: ring, parker, idle policy | raw flag", || ring_handover(Waiting::Policy), flag_handover),
        ("stream per message: ring, parker | raw flag hand-over", ring_stream, flag_handover),
        ("push + pop at depth 1,000: priorities -32..=31 | one deque", small_priorities, one_deque),
        ("push + pop at depth 1,000: 16 integers beyond | one deque", large_priorities, one_deque),
        ("push + pop at depth 1,000: 16 long bit vectors | one deque", bit_priorities, one_deque),
    ];
    let mut samples = comparisons.map(|_| (Vec::new(), Vec::new()));
    for _ in 0..ROUNDS {
        for ((_, ours, limit), samples) in comparisons.iter().zip(&mut samples) {
            samples.0.push(ours());
            samples.1.push(limit());
        }
    }
    println!("{:<62} | {:>9} | {:>9} | {:>5}", "what", "ours, ns", "limit, ns", "ratio");
    for ((what, ..), (ours, limit)) in comparisons.iter().zip(samples) {
        let (ours, limit) = (lower_quartile(ours), lower_quartile(limit));
        println!("{what:<62} | {ours:>9.1} | {limit:>9.1} | {:>5.2}", ours / limit);
    }
}

fn lower_quartile(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 4]
}

/// Runs `f` on the `core`-th of the cores this process may use.
fn on_core<R: Send + 'static>(core: usize, f: impl FnOnce() -> R + Send + 'static) -> thread::JoinHandle<R> {
    thread::spawn(move || {
        let allowed = sched_getaffinity(None).expect("the kernel tells the cores");
        let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
        let mut one = CpuSet::new();
        one.set(cores[core % cores.len()]);
        sched_setaffinity(None, &one).expect("the core is one of ours");
        f()
    })
}

/// Times `operations` runs of `f` after a tenth of them for warming up.
fn ns_each(operations: u64, mut f: impl FnMut(u64)) -> f64 {
    let warm = operations / 10;
    (0..warm).for_each(&mut f);
    let start = Instant::now();
    (warm..operations).for_each(&mut f);
    start.elapsed().as_nanos() as f64 / (operations - warm) as f64
}

/// Two lines, so that two flags never share one.
#[repr(align(128))]
#[derive(Default)]
struct Flag(AtomicU64);

impl Flag {
    fn wait_for(&self, value: u64) {
        while self.0.load(Ordering::Acquire) != value {
            spin_loop();
        }
    }
}

/// The limit: two threads that write to each other's flag.
fn flag_handover() -> f64 {
    let flags: Arc<[Flag; 2]> = Arc::default();
    let theirs = flags.clone();
    let echo = on_core(1, move || {
        for trip in 1..=TRIPS {
            theirs[0].wait_for(trip);
            theirs[1].0.store(trip, Ordering::Release);
        }
    });
    let caller = on_core(0, move || {
        ns_each(TRIPS, |trip| {
            flags[0].0.store(trip + 1, Ordering::Release);
            flags[1].wait_for(trip + 1);
        })
    });
    echo.join().unwrap();
    caller.join().unwrap() / 2.0
}

#[derive(Clone, Copy)]
enum Waiting {
    Spin,
    Policy,
}

/// A PE with one other PE.
struct Pe {
    producer: Producer,
    consumer: Consumer,
    idle: Idle,
    waiting: Waiting,
    mine: Arc<Parker>,
    theirs: Arc<Parker>,
}

impl Pe {
    fn pair(waiting: Waiting) -> (Pe, Pe) {
        let (a, b) = (Arc::new(Parker::new()), Arc::new(Parker::new()));
        let (to_b, from_a) = ring(DEFAULT_CAPACITY);
        let (to_a, from_b) = ring(DEFAULT_CAPACITY);
        let first = Pe {
            producer: to_b,
            consumer: from_b,
            idle: Idle::new(),
            waiting,
            mine: a.clone(),
            theirs: b.clone(),
        };
        let second = Pe { producer: to_a, consumer: from_a, idle: Idle::new(), waiting, mine: b, theirs: a };
        (first, second)
    }

    fn send(&mut self, words: Words) {
        while self.producer.try_push(words).is_err() {
            spin_loop();
        }
        if let Waiting::Policy = self.waiting {
            self.theirs.unpark_if_parked();
        }
    }

    fn receive(&mut self) -> Words {
        loop {
            if let Some(words) = self.consumer.pop() {
                return words;
            }
            match self.waiting {
                Waiting::Spin => spin_loop(),
                Waiting::Policy => self.wait(),
            }
        }
    }

    fn wait(&mut self) {
        let consumer = &self.consumer;
        let park = || {
            let _ = self.mine.park(|| !consumer.is_empty(), None);
        };
        self.idle.idle(|| !consumer.is_empty(), park);
    }
}

fn ring_handover(waiting: Waiting) -> f64 {
    let (mut near, mut far) = Pe::pair(waiting);
    let echo = on_core(1, move || {
        for _ in 0..TRIPS {
            let mut words = far.receive();
            words[3] += 1;
            far.send(words);
        }
    });
    let caller = on_core(0, move || {
        let mut words = [0; 7];
        ns_each(TRIPS, |_| {
            near.send(words);
            words = near.receive();
        })
    });
    echo.join().unwrap();
    caller.join().unwrap() / 2.0
}

fn ring_stream() -> f64 {
    let (mut near, mut far) = Pe::pair(Waiting::Policy);
    let sending = on_core(0, move || (0..STREAM).for_each(|number| near.send([number; 7])));
    let receiving = on_core(1, move || {
        let (start, mut seen, mut sum) = (Instant::now(), 0, 0);
        while seen < STREAM {
            let drained = far.consumer.drain(64, |words| sum += words.iter().sum::<u64>());
            seen += drained as u64;
            if drained == 0 {
                far.wait();
            }
        }
        black_box(sum);
        start.elapsed().as_nanos() as f64 / STREAM as f64
    });
    sending.join().unwrap();
    receiving.join().unwrap()
}

/// The limit of a queue: the same random numbers, a deque without priorities.
fn one_deque() -> f64 {
    let mut queue: VecDeque<usize> = (0..DEPTH).collect();
    let mut random = Random(1);
    ns_each(POPS, |_| {
        black_box(random.below(64));
        queue.push_back(7);
        black_box(queue.pop_front());
    })
}

fn small_priorities() -> f64 {
    queue_with((-32..32).map(Priority::int).collect())
}

fn large_priorities() -> f64 {
    queue_with((0..16).map(|i| Priority::int((i - 8) * 1_000 - 500)).collect())
}

fn bit_priorities() -> f64 {
    queue_with((0..16).map(|i| Priority::bits([]).extend(i, 4).extend(5, 64).extend(9, 64)).collect())
}

/// Pushes at a random one of `priorities` and pops, at constant depth.
fn queue_with(priorities: Vec<Priority>) -> f64 {
    let mut queue = PriorityQueue::new();
    let mut random = Random(1);
    let mut push =
        |queue: &mut PriorityQueue<usize>| queue.push(7, &priorities[random.below(priorities.len())]);
    (0..DEPTH).for_each(|_| push(&mut queue));
    ns_each(POPS, |_| {
        push(&mut queue);
        black_box(queue.pop_urgent().or_else(|| queue.pop_background()));
    })
}

/// Xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    /// A number below `end`, a power of two.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 as usize & (end - 1)
    }
}
