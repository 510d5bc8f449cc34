//! The idle policy on a thread whose clock, core and messages are made up.

use std::cell::Cell;
use std::time::Duration;

use crate::idle::{Idle, Waiter};

/// A thread on which a poll takes 10 ns and a yield what the test says.
struct Scripted {
    now: Duration,
    /// What a yield takes, by its number in the phase.
    yield_takes: fn(u32) -> Duration,
    /// When there is work.
    work_at: Duration,
    polls: u32,
    yields: u32,
    parks: u32,
}

const QUICK: Duration = Duration::from_nanos(230);
const SLOW: Duration = Duration::from_micros(50);
/// A turn of a thread that only computes.
const LONG: Duration = Duration::from_millis(3);
const NEVER: Duration = Duration::MAX;

impl Scripted {
    fn run(idle: &mut Idle, yield_takes: fn(u32) -> Duration, work_at: Duration) -> Scripted {
        let now = Duration::ZERO;
        let mut thread = Scripted { now, yield_takes, work_at, polls: 0, yields: 0, parks: 0 };
        idle.idle_on(&mut thread);
        thread
    }

    /// Polls beyond the one that follows each yield.
    fn polls_in_slices(&self) -> u32 {
        self.polls - self.yields
    }
}

impl Waiter for Scripted {
    fn has_work(&mut self) -> bool {
        self.polls += 1;
        self.now += Duration::from_nanos(10);
        self.now >= self.work_at
    }

    fn now(&mut self) -> Duration {
        self.now
    }

    fn yield_now(&mut self) {
        self.now += (self.yield_takes)(self.yields);
        self.yields += 1;
    }

    fn park(&mut self) {
        self.parks += 1;
    }
}

#[test]
fn where_pes_share_cores_one_that_is_kept_is_left_at_once() {
    let mut idle = Idle::sharing_cores(true);
    let first = Scripted::run(&mut idle, |_| LONG, NEVER);
    assert_eq!((first.yields, first.parks), (1, 1), "that is how it is found");
    let next = Scripted::run(&mut idle, |_| LONG, NEVER);
    assert_eq!((next.polls, next.yields, next.parks), (1, 0, 1), "after one look");
    let next = Scripted::run(&mut idle, |_| LONG, Duration::from_nanos(10));
    assert_eq!((next.polls, next.parks), (1, 0), "which finds what is there");
}

#[test]
fn work_that_comes_soon_is_polled_for() {
    let thread = Scripted::run(&mut Idle::new(), |_| QUICK, Duration::from_nanos(500));
    assert_eq!((thread.polls, thread.yields, thread.parks), (50, 0, 0));
}

#[test]
fn a_free_core_is_polled_and_offered_for_200_us_and_then_left() {
    let thread = Scripted::run(&mut Idle::new(), |_| QUICK, NEVER);
    assert_eq!(thread.parks, 1);
    assert!((200..203).contains(&thread.now.as_micros()), "{:?}", thread.now);
    let yielding = QUICK * thread.yields;
    assert!(yielding * 3 < thread.now, "most of the time goes into polling, not {yielding:?}");
    assert!((100..=200).contains(&thread.yields), "about one yield per microsecond, not {}", thread.yields);
}

#[test]
fn work_found_after_a_yield_ends_the_phase() {
    let thread = Scripted::run(&mut Idle::new(), |_| SLOW, Duration::from_micros(40));
    assert_eq!((thread.yields, thread.parks), (1, 0));
}

#[test]
fn a_crowded_core_is_not_polled_until_16_yields_were_quick() {
    let mut idle = Idle::new();
    let found = |thread: &Scripted| (thread.polls_in_slices() > 0, thread.parks);
    let first = Scripted::run(&mut idle, |_| SLOW, Duration::from_micros(30));
    assert_eq!(found(&first), (true, 0), "it polls until it knows");
    // The suspicion outlasts the phase. Two quick yields a phase, found by the look after the second.
    for _ in 0..8 {
        let next = Scripted::run(&mut idle, |_| QUICK, Duration::from_nanos(450));
        assert_eq!((found(&next), next.yields), ((false, 0), 2));
    }
    let last = Scripted::run(&mut idle, |_| QUICK, Duration::from_nanos(450));
    assert_eq!((found(&last), last.yields), ((true, 0), 0), "the core is taken to be free again");
}

#[test]
fn a_core_that_stays_crowded_is_left_after_200_us() {
    let thread = Scripted::run(&mut Idle::new(), |_| SLOW, NEVER);
    assert_eq!((thread.yields, thread.parks), (4, 1));
}

#[test]
fn one_slow_yield_stops_the_polling_within_a_phase() {
    let thread =
        Scripted::run(&mut Idle::new(), |n| if n == 0 { SLOW } else { QUICK }, Duration::from_micros(53));
    // After the slow yield come 50 µs + 16 quick yields before the next slice.
    assert_eq!(thread.parks, 0);
    assert!(thread.yields > 8 && thread.polls_in_slices() < 120, "{} yields", thread.yields);
}

#[test]
fn a_core_that_another_thread_keeps_is_left_soon_and_seldom_offered() {
    let mut idle = Idle::new();
    let first = Scripted::run(&mut idle, |_| LONG, NEVER);
    assert_eq!((first.yields, first.parks), (1, 1), "that is how it is found");
    for phases in [64, 128, 256, 512, 1024, 2048, 4096, 4096] {
        let next = Scripted::run(&mut idle, |_| LONG, NEVER);
        assert_eq!((next.yields, next.parks), (0, 1));
        assert!((20..25).contains(&next.now.as_micros()), "{:?}", next.now);
        for _ in 1..phases {
            assert_eq!(Scripted::run(&mut idle, |_| LONG, Duration::from_nanos(50)).yields, 0);
        }
        assert_eq!(
            Scripted::run(&mut idle, |_| LONG, NEVER).yields,
            1,
            "after {phases} phases it is tried again"
        );
    }
}

#[test]
fn work_that_comes_soon_is_polled_for_on_a_kept_core() {
    let mut idle = Idle::new();
    Scripted::run(&mut idle, |_| LONG, NEVER);
    let thread = Scripted::run(&mut idle, |_| LONG, Duration::from_micros(5));
    assert_eq!((thread.yields, thread.parks), (0, 0));
}

#[test]
fn a_core_that_is_kept_no_more_is_offered_as_before() {
    let mut idle = Idle::new();
    Scripted::run(&mut idle, |_| LONG, NEVER);
    for _ in 0..64 {
        Scripted::run(&mut idle, |_| QUICK, NEVER);
    }
    for _ in 0..2 {
        assert!(Scripted::run(&mut idle, |_| QUICK, NEVER).yields > 16);
    }
}

#[test]
fn the_real_thread_returns_on_work_or_after_one_park() {
    let (polls, parks) = (Cell::new(0), Cell::new(0));
    let work_on_third = || {
        polls.set(polls.get() + 1);
        polls.get() == 3
    };
    Idle::new().idle(work_on_third, || parks.set(parks.get() + 1));
    assert_eq!((polls.get(), parks.get()), (3, 0));
    Idle::new().idle(|| false, || parks.set(parks.get() + 1));
    assert_eq!(parks.get(), 1);
}
