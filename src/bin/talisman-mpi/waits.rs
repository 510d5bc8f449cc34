//! A rank that lets time pass, by `sleep` or `sched_yield`: others run meanwhile.

use std::time::Duration;

use talisman_ampi::{raw, thread};

/// A rank that sleeps looks at the clock so often at most, if its PE has nothing else to do.
const NAP: Duration = Duration::from_micros(200);

/// The other ranks of this PE run.
pub fn give_way() {
    if thread::running().is_some() {
        thread::suspend();
    }
}

/// Returns when so much time has passed, by the job's clock: a rank that moves meanwhile sleeps on. Where that clock stands
/// still while a rank runs, the time for which this thread has slept itself counts.
pub fn sleep(nanoseconds: u64) {
    let mut left = Duration::from_nanos(nanoseconds);
    while !left.is_zero() {
        let begun = now();
        give_way();
        let mut passed = now().saturating_sub(begun);
        if passed < NAP {
            let nap = left.min(NAP).saturating_sub(passed);
            std::thread::sleep(nap);
            passed += nap;
        }
        left = left.saturating_sub(passed.max(Duration::from_nanos(1)));
    }
}

/// Time since the job began; none passes where no rank calls.
fn now() -> Duration {
    raw::now().unwrap_or_default()
}
