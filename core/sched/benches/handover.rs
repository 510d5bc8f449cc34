//! What the scheduler's building blocks cost, against the limit of the same machine in the same run.
//!
//! `cargo bench -p talisman-sched --bench handover`. Prints medians over interleaved rounds; the ratio is the median of
//! the ratios within a round, whose two sides are measured one right after the other, since two cores may hand
//! over in 20 ns at one time and in 200 ns at another. A hand-over is one way: half a round trip between two threads.

use std::collections::VecDeque;
use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use talisman_sched::idle::Idle;
use talisman_sched::park::Parker;
use talisman_sched::priority::Priority;
use talisman_sched::queue::PriorityQueue;
use talisman_sched::ring::{Consumer, DEFAULT_CAPACITY, Producer, Words, ring};

/// Many short rounds: on a machine that others use too, some of them are undisturbed.
const ROUNDS: usize = 61;
const TRIPS: u64 = 20_000;
const STREAM: u64 = 200_000;
const POPS: u64 = 50_000;
const DEPTH: usize = 1_000;

/// Nanoseconds per operation, from inside the thread that works.
type Measure = fn() -> f64;

fn main() {
    let comparisons: [(&str, Measure, Measure); 8] = [
        ("hand-over: ring | raw flag", || ring_handover(Waiting::Spin), flag_handover),
        ("hand-over: ring, parker, idle policy | raw flag", || ring_handover(Waiting::Policy), flag_handover),
        ("stream per message: ring, parker | raw flag hand-over", ring_stream, flag_handover),
        ("hop among 8 PEs on 2 cores | flags, sched_yield", crowded_hop, crowded_flag_hop),
        ("push + pop at depth 1,000: priorities -32..=-1 | one deque", urgent_priorities, one_deque),
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
        let ratio = median(ours.iter().zip(&limit).map(|(ours, limit)| ours / limit).collect());
        println!("{what:<62} | {:>9.1} | {:>9.1} | {ratio:>5.2}", median(ours), median(limit));
    }
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
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
    /// PEs of which each sends to the next.
    fn ring_of(count: usize) -> Vec<Pe> {
        let parkers: Vec<Arc<Parker>> = (0..count).map(|_| Arc::default()).collect();
        let (producers, mut consumers): (Vec<_>, Vec<_>) = (0..count).map(|_| ring(DEFAULT_CAPACITY)).unzip();
        consumers.rotate_right(1);
        let pe = |(me, (producer, consumer))| Pe {
            producer,
            consumer,
            idle: Idle::new(),
            waiting: Waiting::Policy,
            mine: Arc::clone(&parkers[me]),
            theirs: Arc::clone(&parkers[(me + 1) % count]),
        };
        producers.into_iter().zip(consumers).enumerate().map(pe).collect()
    }

    fn pair(waiting: Waiting) -> (Pe, Pe) {
        let mut pes = Pe::ring_of(2);
        pes.iter_mut().for_each(|pe| pe.waiting = waiting);
        let far = pes.pop().expect("two were made");
        (pes.remove(0), far)
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

const CROWD: usize = 8;
const ROUND_TRIPS: u64 = 500;

/// A token goes round through more PEs than there are cores.
fn crowded_hop() -> f64 {
    let pes = Pe::ring_of(CROWD);
    crowd(pes, |pe, me, trip| {
        if me == 0 {
            pe.send([trip; 7]);
        }
        black_box(pe.receive());
        if me != 0 {
            pe.send([trip; 7]);
        }
    })
}

/// The limit when crowded: nothing but flags, and the core is given away at every look that finds none.
fn crowded_flag_hop() -> f64 {
    let flags: Arc<[Flag; CROWD]> = Arc::default();
    crowd(vec![flags; CROWD], |flags, me, trip| {
        let set = |of: usize| flags[of].0.store(trip + 1, Ordering::Release);
        if me == 0 {
            set(1);
        }
        while flags[me].0.load(Ordering::Acquire) != trip + 1 {
            thread::yield_now();
        }
        if me != 0 {
            set((me + 1) % CROWD);
        }
    })
}

/// Nanoseconds per hop of members that all make `ROUND_TRIPS`, two cores for all of them.
fn crowd<M: Send + 'static>(members: Vec<M>, trip: fn(&mut M, usize, u64)) -> f64 {
    let start = |(me, mut member)| on_core(me, move || ns_each(ROUND_TRIPS, |n| trip(&mut member, me, n)));
    let threads: Vec<_> = members.into_iter().enumerate().map(start).collect();
    let ns: Vec<f64> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    ns[0] / CROWD as f64
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

fn urgent_priorities() -> f64 {
    queue_with((-32..0).map(Priority::int).collect())
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
