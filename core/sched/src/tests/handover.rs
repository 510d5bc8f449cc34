//! Rings and parkers on real threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::park::{Parker, Woken};
use crate::ring::{Consumer, DEFAULT_CAPACITY, Producer, Words, ring};

/// Fewer under Miri, which is some thousand times slower.
const MESSAGES: u64 = if cfg!(miri) { 100 } else { 100_000 };

fn message(number: u64) -> Words {
    std::array::from_fn(|word| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(word as u64))
}

#[test]
fn a_ring_holds_its_capacity_and_no_more() {
    for capacity in [2, 4, 64] {
        let (mut producer, mut consumer) = ring(capacity);
        for lap in 0..3 {
            (0..capacity as u64).for_each(|i| assert_eq!(producer.try_push(message(lap + i)), Ok(())));
            assert_eq!(producer.try_push(message(99)), Err(message(99)));
            assert!(!consumer.is_empty());
            let mut expected = lap..;
            let drained = consumer.drain(usize::MAX, |w| assert_eq!(Some(*w), expected.next().map(message)));
            assert_eq!((drained, consumer.pop(), consumer.is_empty()), (capacity, None, true));
        }
    }
}

#[test]
fn free_slots_are_announced_by_the_quarter_lap_or_on_demand() {
    let (mut producer, mut consumer) = ring(8);
    (0..8).for_each(|i| assert_eq!(producer.try_push(message(i)), Ok(())));
    assert_eq!(consumer.pop(), Some(message(0)));
    assert!(producer.try_push(message(8)).is_err(), "one of eight is less than a quarter");
    assert_eq!(consumer.pop(), Some(message(1)));
    assert_eq!(producer.try_push(message(8)), Ok(()));
    assert_eq!(producer.try_push(message(9)), Ok(()));
    assert_eq!(consumer.pop(), Some(message(2)));
    assert!(producer.try_push(message(10)).is_err());
    consumer.publish();
    assert_eq!(producer.try_push(message(10)), Ok(()));
}

#[test]
fn a_message_whose_reader_panics_is_gone_and_the_next_one_is_not() {
    let (mut producer, mut consumer) = ring(2);
    producer.try_push(message(1)).unwrap();
    producer.try_push(message(2)).unwrap();
    let drained = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        consumer.drain(2, |_| std::panic::resume_unwind(Box::new("reader")))
    }));
    assert!(drained.is_err());
    assert_eq!(consumer.pop(), Some(message(2)));
    assert_eq!(producer.try_push(message(3)), Ok(()));
    assert_eq!(consumer.pop(), Some(message(3)));
}

#[test]
#[should_panic(expected = "a ring of 3 slots")]
fn a_capacity_that_is_no_power_of_two_is_refused() {
    let _ = ring::<Words>(3);
}

#[test]
fn a_stream_arrives_whole_and_in_order() {
    for capacity in [2, DEFAULT_CAPACITY] {
        let (mut producer, mut consumer) = ring(capacity);
        let pushing = thread::spawn(move || {
            (0..MESSAGES).for_each(|number| push(&mut producer, message(number)));
        });
        let mut next = 0;
        while next < MESSAGES {
            let before = next;
            consumer.drain(64, |words| {
                assert_eq!(*words, message(next));
                next += 1;
            });
            if next == before {
                thread::yield_now();
            }
        }
        assert!(consumer.is_empty());
        pushing.join().unwrap();
    }
}

/// Several PEs pass tokens round in rings of two slots and park whenever they have nothing to pass on: a lost
/// wake-up would stop them for good.
#[test]
#[cfg_attr(miri, ignore = "the futex is a system call made in assembly")]
fn tokens_keep_going_round_through_sleeping_pes() {
    const PES: usize = 4;
    let parkers: Arc<[Parker]> = (0..PES).map(|_| Parker::new()).collect();
    let finished = Arc::new(AtomicU64::new(0));
    let (producers, mut consumers): (Vec<_>, Vec<_>) = (0..PES).map(|_| ring(4)).unzip();
    // PE i pushes into ring i and pops from ring i - 1.
    consumers.rotate_right(1);
    let start = |(me, (producer, consumer))| {
        let pe = TokenPe { me, producer, consumer, parkers: parkers.clone(), finished: finished.clone() };
        thread::spawn(move || pe.run(if me == 0 { TokenPe::TOKENS } else { 0 }))
    };
    let threads: Vec<_> = producers.into_iter().zip(consumers).enumerate().map(start).collect();
    let passed: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(passed, TokenPe::TOKENS * TokenPe::HOPS);
}

struct TokenPe {
    me: usize,
    producer: Producer,
    consumer: Consumer,
    parkers: Arc<[Parker]>,
    /// Tokens that have made all their hops.
    finished: Arc<AtomicU64>,
}

impl TokenPe {
    const TOKENS: u64 = 3;
    const HOPS: u64 = 4_000;

    /// Returns how many hops this PE made.
    fn run(mut self, tokens: u64) -> u64 {
        let mut hops = 0;
        (0..tokens).for_each(|_| self.pass_on(0, &mut hops));
        while self.finished.load(Ordering::Acquire) < Self::TOKENS {
            match self.consumer.pop() {
                Some(words) => self.pass_on(words[0], &mut hops),
                None => self.sleep(),
            }
        }
        hops
    }

    fn pass_on(&mut self, hop: u64, hops: &mut u64) {
        if hop == Self::HOPS {
            self.finished.fetch_add(1, Ordering::AcqRel);
            self.parkers.iter().for_each(Parker::unpark_if_parked);
            return;
        }
        *hops += 1;
        push(&mut self.producer, [hop + 1; 7]);
        self.parkers[(self.me + 1) % self.parkers.len()].unpark_if_parked();
    }

    fn sleep(&mut self) {
        self.consumer.publish();
        let has_work = || !self.consumer.is_empty() || self.finished.load(Ordering::Relaxed) == Self::TOKENS;
        let _ = self.parkers[self.me].park(has_work, None);
    }
}

fn push(producer: &mut Producer, words: Words) {
    while producer.try_push(words).is_err() {
        thread::yield_now();
    }
}

#[test]
#[cfg_attr(miri, ignore = "the futex is a system call made in assembly")]
fn a_parked_thread_wakes_by_itself_when_its_time_is_up() {
    let parker = Parker::new();
    assert_eq!(parker.park(|| false, Some(Duration::from_micros(50))), Woken::ByItself);
    assert_eq!(parker.park(|| true, None), Woken::NotParked);
}

#[test]
fn the_bell_rings_once_per_sleep() {
    let rung = Arc::new(AtomicU64::new(0));
    let counted = rung.clone();
    let parker = Parker::with_bell(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    parker.unpark_if_parked();
    assert_eq!(rung.load(Ordering::Relaxed), 0, "nobody sleeps yet");
    let woken = parker.park_in(|| false, || (0..3).for_each(|_| parker.unpark_if_parked()));
    assert_eq!((woken, rung.load(Ordering::Relaxed)), (Woken::BySender, 1));
    assert_eq!(parker.park_in(|| true, || unreachable!("there is work")), Woken::NotParked);
}
