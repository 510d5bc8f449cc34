//! A rank that lets time pass, by `sleep` or `sched_yield`: others run meanwhile.

use std::time::Duration;

use talisman_ampi::{rank, raw, thread};
use talisman_loader::libc::is_own_thread;

/// A rank that sleeps looks at the clock so often at most, if its PE has nothing else to do.
const NAP: Duration = Duration::from_micros(200);

/// The other ranks of this PE run.
pub fn give_way() {
    if thread::running().is_some() || is_own_thread() {
        rank::give_way();
    }
}

/// Returns when so much time has passed, by the job's clock: a rank that moves meanwhile sleeps on. Where that clock stands
/// still while a rank runs, the time for which this thread has slept itself counts. Threads of the rank that ask for something wake it.
pub fn sleep(nanoseconds: u64) {
    let mut left = Duration::from_nanos(nanoseconds);
    if is_own_thread() {
        return std::thread::sleep(left);
    }
    while !left.is_zero() {
        let begun = now();
        give_way();
        let mut passed = now().saturating_sub(begun);
        if passed < NAP {
            passed += rank::nap(left.min(NAP).saturating_sub(passed));
        }
        left = left.saturating_sub(passed.max(Duration::from_nanos(1)));
    }
}

/// Time since the job began; none passes where no rank calls.
fn now() -> Duration {
    raw::now().unwrap_or_default()
}
