//! Functions with which a program lets time pass: others may run meanwhile.

use std::ffi::{c_int, c_uint};
use std::sync::OnceLock;

use ::libc::{clockid_t, timespec};

use super::children::is_child;
use super::own_threads::is_own_thread;
use super::{functions, set_errno};

/// Fills a place as far as it can; how far, or a negative number.
pub type ReadBytes<'a> = dyn FnMut(&mut [u8]) -> isize + 'a;

/// What who runs ranks does for them. Called by a rank, on its stack.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// Another rank may run.
    pub give_way: fn(),
    /// The rank is not to go on before so many nanoseconds have passed.
    pub sleep: fn(nanoseconds: u64),
    /// From now on `malloc` is to give the process's memory, or that of the running rank again. Calls come in pairs,
    /// not one pair inside of another; the rank does not wait in between.
    pub process_memory: fn(process: bool),
    /// The rank reads two words from outside of the job, such as a time. Returns what it gets: if it does again what
    /// it did, that is what it got then, and nothing is read.
    pub world: fn(read: &mut dyn FnMut() -> [u64; 2]) -> [u64; 2],
    /// The same of bytes: how many it gets, or a negative number where there are none.
    pub world_bytes: fn(place: &mut [u8], read: &mut ReadBytes<'_>) -> isize,
    /// Whether the rank that runs does again what it did.
    pub runs_again: fn() -> bool,
    /// The rank ends, and its descriptors are closed next: what its standard streams have is to be written.
    pub flush: fn(),
    /// The process is a copy, in which the rank is to become another program: standard streams are to be what they are for
    /// the rank.
    pub begin_child: fn(),
}

static HOOKS: OnceLock<Hooks> = OnceLock::new();

/// Sets what is done. Once for a process: false if it was set before. Deadline then the thread itself yields and sleeps.
pub fn set_hooks(hooks: Hooks) -> bool {
    HOOKS.set(hooks).is_ok()
}

functions! {
    "sched_yield" => give_way,
    "pthread_yield" => give_way,
    "sleep" => sleep_seconds,
    "usleep" => sleep_microseconds,
    "nanosleep" => sleep_exactly,
    "clock_nanosleep" => sleep_by_clock,
    "thrd_yield" => give_way,
    "thrd_sleep" => sleep_exactly,
}

/// What is set, but in a rank's child: there nobody else is.
fn hooks() -> Option<&'static Hooks> {
    HOOKS.get().filter(|_| !is_child())
}

/// Another rank runs, if there is one that can.
pub(super) unsafe extern "C" fn give_way() -> c_int {
    match hooks() {
        Some(hooks) => (hooks.give_way)(),
        None => std::thread::yield_now(),
    }
    0
}

/// The rank waits for what others of its host do without messages, and is going to look again. `rounds`: how often it has
/// looked; at first others run, then it sleeps, for longer each time.
pub(super) fn give_way_longer(rounds: &mut u32) {
    /// Nanoseconds: 2 µs, and 1 ms at most.
    const SHORTEST: u64 = 2_000;
    const MOST_DOUBLED: u32 = 9;
    const AT_ONCE: u32 = 8;
    match rounds.checked_sub(AT_ONCE) {
        // SAFETY: takes nothing.
        None => _ = unsafe { give_way() },
        Some(more) => sleep(SHORTEST << more.min(MOST_DOUBLED)),
    }
    *rounds = rounds.saturating_add(1);
}

/// See [`Hooks::process_memory`].
pub(super) fn process_memory(process: bool) {
    if let Some(hooks) = hooks() {
        (hooks.process_memory)(process);
    }
}

/// See [`Hooks::flush`].
pub(super) fn flush() {
    if let Some(hooks) = hooks().filter(|_| !is_own_thread()) {
        (hooks.flush)();
    }
}

/// See [`Hooks::begin_child`].
pub(super) fn begin_child() {
    if let Some(hooks) = HOOKS.get() {
        (hooks.begin_child)();
    }
}

/// See [`Hooks::world`].
pub(super) fn world(read: &mut dyn FnMut() -> [u64; 2]) -> [u64; 2] {
    match hooks() {
        Some(hooks) => (hooks.world)(read),
        None => read(),
    }
}

/// See [`Hooks::world_bytes`].
pub(super) fn world_bytes(place: &mut [u8], read: &mut ReadBytes<'_>) -> isize {
    match hooks() {
        Some(hooks) => (hooks.world_bytes)(place, read),
        None => read(place),
    }
}

/// See [`Hooks::runs_again`].
pub(super) fn runs_again() -> bool {
    hooks().is_some_and(|hooks| (hooks.runs_again)())
}

pub(super) fn sleep(nanoseconds: u64) {
    match hooks() {
        Some(hooks) => (hooks.sleep)(nanoseconds),
        None => std::thread::sleep(std::time::Duration::from_nanos(nanoseconds)),
    }
}

unsafe extern "C" fn sleep_seconds(seconds: c_uint) -> c_uint {
    sleep(u64::from(seconds) * 1_000_000_000);
    0
}

unsafe extern "C" fn sleep_microseconds(microseconds: c_uint) -> c_int {
    sleep(u64::from(microseconds) * 1_000);
    0
}

/// A time as nanoseconds; none if it is no time.
pub(super) fn nanoseconds(time: &timespec) -> Option<u64> {
    let (seconds, rest) = (u64::try_from(time.tv_sec).ok()?, u64::try_from(time.tv_nsec).ok()?);
    (rest < 1_000_000_000).then(|| seconds.saturating_mul(1_000_000_000).saturating_add(rest))
}

unsafe extern "C" fn sleep_exactly(time: *const timespec, rest: *mut timespec) -> c_int {
    // SAFETY: called as C's function is.
    match unsafe { sleep_by_clock(::libc::CLOCK_REALTIME, 0, time, rest) } {
        0 => 0,
        error => {
            set_errno(error);
            -1
        }
    }
}

unsafe extern "C" fn sleep_by_clock(
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    rest: *mut timespec,
) -> c_int {
    // SAFETY: called as C's function is.
    let Some(mut wait) = nanoseconds(unsafe { &*time }) else { return ::libc::EINVAL };
    if flags & ::libc::TIMER_ABSTIME != 0 {
        let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: a place for the time.
        if unsafe { ::libc::clock_gettime(clock, &raw mut now) } != 0 {
            return ::libc::EINVAL;
        }
        let [now, _] = world(&mut || [nanoseconds(&now).unwrap_or(0), 0]);
        wait = wait.saturating_sub(now);
    } else if !rest.is_null() {
        // Nothing interrupts it.
        // SAFETY: called as C's function is.
        unsafe { rest.write(timespec { tv_sec: 0, tv_nsec: 0 }) };
    }
    sleep(wait);
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_time_is_refused() {
        let time = |tv_sec, tv_nsec| nanoseconds(&timespec { tv_sec, tv_nsec });
        assert_eq!(time(2, 5), Some(2_000_000_005));
        assert_eq!(time(-1, 0), None);
        assert_eq!(time(0, 1_000_000_000), None);
        assert_eq!(time(i64::MAX, 0), Some(u64::MAX));
    }
}
