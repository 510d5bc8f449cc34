//! Time of the processor. The system counts it for each process: for a rank that comes to another one it goes on from where it was.

use super::CURRENT;
use super::own_threads::is_own_thread;

/// What a rank was told last of each count, in the unit of who counts: plain data.
#[repr(C)]
pub struct CpuTime {
    counts: [Rising; COUNTS],
}

/// A count, and what this process's is less.
#[derive(Clone, Copy)]
#[repr(C)]
struct Rising {
    last: u64,
    before: u64,
}

const COUNTS: usize = 8;

/// Who counts, and what.
#[derive(Clone, Copy)]
pub enum Count {
    /// `clock`.
    Clock,
    /// `CLOCK_PROCESS_CPUTIME_ID`.
    OfProcess,
    /// `CLOCK_THREAD_CPUTIME_ID`.
    OfThread,
    /// `getrusage`: of the user, and of the system.
    User,
    System,
    /// `times`, the same.
    UserTicks,
    SystemTicks,
}

impl CpuTime {
    pub const fn new() -> CpuTime {
        CpuTime { counts: [Rising { last: 0, before: 0 }; COUNTS] }
    }

    fn rise(&mut self, count: Count, now: u64) -> u64 {
        let Rising { last, before } = &mut self.counts[count as usize];
        if now.saturating_add(*before) < *last {
            *before = *last - now;
        }
        *last = now.saturating_add(*before);
        *last
    }
}

/// What the running rank is told of a count of its process.
pub fn rising(count: Count, now: u64) -> u64 {
    if is_own_thread() {
        // It stays in one process.
        return now;
    }
    // SAFETY: the running rank's state, if one runs; nobody else looks at it.
    unsafe { CURRENT.get().as_mut() }.map_or(now, |state| state.cpu_time.rise(count, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_goes_on_in_another_process() {
        let mut time = CpuTime::new();
        let told: Vec<u64> = [5, 9, 2, 3, 3, 1, 8].map(|now| time.rise(Count::Clock, now)).into();
        assert_eq!(told, [5, 9, 9, 10, 10, 10, 17]);
        assert_eq!(time.rise(Count::User, 4), 4, "others have their own");
    }
}
