//! A rank that lets time pass, by `sleep` or `sched_yield`: others run meanwhile.

use std::time::{Duration, Instant};

use talisman_ampi::thread;

/// A rank that sleeps looks at the clock so often at most, if its PE has nothing else to do.
const NAP: Duration = Duration::from_micros(200);

/// The other ranks of this PE run.
pub fn give_way() {
    if thread::running().is_some() {
        thread::suspend();
    }
}

/// Returns when so much time has passed. The time is that of this host: a rank that moves meanwhile sleeps on.
pub fn sleep(nanoseconds: u64) {
    let mut left = Duration::from_nanos(nanoseconds);
    while !left.is_zero() {
        let begun = Instant::now();
        give_way();
        let passed = begun.elapsed();
        if passed < NAP {
            std::thread::sleep(left.min(NAP).saturating_sub(passed));
        }
        left = left.saturating_sub(begun.elapsed().max(Duration::from_nanos(1)));
    }
}
