//! Time, as the runtime is given it.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The source of time of a PE: the machine's, or a simulation's.
#[derive(Clone, Debug)]
pub enum Clock {
    /// Time since the job's start.
    Real(Instant),
    Simulated(Simulated),
}

/// A clock that a simulator advances.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// Nanoseconds since the job's start.
    pub now: Rc<Cell<u64>>,
    /// What the PE whose turn it is has computed by a time; none where nobody else wants its core.
    pub computed: fn(u64) -> Option<Duration>,
}

impl Clock {
    /// One that a simulator advances, whose PEs nobody disturbs.
    pub fn simulated(now: Rc<Cell<u64>>) -> Clock {
        Clock::Simulated(Simulated { now, computed: |_| None })
    }

    /// Time since the job started.
    pub fn now(&self) -> Duration {
        match self {
            Clock::Real(start) => start.elapsed(),
            Clock::Simulated(simulated) => Duration::from_nanos(simulated.now.get()),
        }
    }

    /// What the calling thread has computed so far; none where nobody else wants its core.
    pub fn computed(&self) -> Option<Duration> {
        match self {
            Clock::Real(_) => Some(computed_by_this_thread()),
            Clock::Simulated(simulated) => (simulated.computed)(simulated.now.get()),
        }
    }

    /// A cheap count for measuring how long an entry takes: cycles of the processor's counter, nanoseconds where there
    /// is none.
    #[inline(always)]
    pub fn ticks(&self) -> u64 {
        match self {
            Clock::Real(start) => machine_ticks(*start),
            Clock::Simulated(simulated) => simulated.now.get(),
        }
    }
}

/// What the calling thread has had of a processor.
pub fn computed_by_this_thread() -> Duration {
    // By the C library: rustix reads the system's table of functions itself, which valgrind does not show to it.
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes to memory of this function only.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } != 0;
    assert!(!failed, "every system counts the time of threads");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The processor's time-stamp counter: 10 ns to read, where `Instant` takes 25.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn machine_ticks(_: Instant) -> u64 {
    // SAFETY: every x86-64 processor has it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn machine_ticks(start: Instant) -> u64 {
    start.elapsed().as_nanos() as u64
}
