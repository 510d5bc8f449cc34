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
    /// What measures how long entries take.
    pub meter: Meter,
}

/// What measures how long entries take, where a PE's clock is set by somebody. What it shows is no part of what a PE is given: what
/// follows from it is a value of the world.
#[derive(Clone, Debug, Default)]
pub enum Meter {
    /// That clock itself.
    #[default]
    Clock,
    /// The machine: the clock stands still in a turn. From the job's start on.
    Machine(Instant),
    /// In a simulation, a clock that never shows the same again: it has been looked at so often.
    Uneven(Rc<Cell<u64>>),
}

impl Clock {
    /// One that a simulator advances, whose PEs nobody disturbs.
    pub fn simulated(now: Rc<Cell<u64>>) -> Clock {
        Clock::Simulated(Simulated { now, computed: |_| None, meter: Meter::Clock })
    }

    /// One that is set once a turn, and stands still in it, on a machine where the job began then.
    pub fn set_in_turns(now: Rc<Cell<u64>>, start: Instant) -> Clock {
        Clock::Simulated(Simulated { now, computed: |_| None, meter: Meter::Machine(start) })
    }

    /// Whether entries are timed by the machine, where that costs something and others want its cores.
    pub fn measures_machine(&self) -> bool {
        match self {
            Clock::Real(_) => true,
            Clock::Simulated(simulated) => matches!(simulated.meter, Meter::Machine(_)),
        }
    }

    /// Time since the job started, as entries are timed.
    pub fn measured(&self) -> Duration {
        match self {
            Clock::Simulated(Simulated { meter: Meter::Machine(start), .. }) => start.elapsed(),
            _ => self.now(),
        }
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
            Clock::Simulated(Simulated { meter: Meter::Clock | Meter::Uneven(_), now, computed }) => {
                computed(now.get())
            }
            Clock::Real(_) | Clock::Simulated(_) => Some(computed_by_this_thread()),
        }
    }

    /// A cheap count for measuring how long an entry takes: cycles of the processor's counter, nanoseconds where there
    /// is none.
    #[inline(always)]
    pub fn ticks(&self) -> u64 {
        match self {
            Clock::Real(start) => machine_ticks(*start),
            Clock::Simulated(Simulated { now, meter, .. }) => match meter {
                Meter::Clock => now.get(),
                Meter::Machine(start) => machine_ticks(*start),
                Meter::Uneven(looks) => now.get() + uneven(looks),
            },
        }
    }
}

/// Goes on at each look, by as much as looks like chance.
fn uneven(looks: &Cell<u64>) -> u64 {
    looks.set(looks.get() + 1);
    let at_most = 1_000;
    looks.get() * at_most + looks.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) % at_most
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
