//! Functions in which a rank waits for threads that it has started: locks, conditions, barriers, semaphores. It waits
//! there as any thread does, its PE's with it; but it may be interrupted there as in its own code, so that others of the
//! PE have their turns: what a thread of it waits for may depend on these.

use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use ::libc::timespec;

use super::own_threads::is_own_thread;
use super::{CURRENT, functions};

functions! {
    "pthread_mutex_lock" => mutex_lock,
    "pthread_mutex_timedlock" => mutex_timedlock,
    "pthread_rwlock_rdlock" => rwlock_rdlock,
    "pthread_rwlock_wrlock" => rwlock_wrlock,
    "pthread_cond_wait" => cond_wait,
    "pthread_cond_timedwait" => cond_timedwait,
    "pthread_cond_clockwait" => cond_clockwait,
    "pthread_barrier_wait" => barrier_wait,
    "sem_wait" => semaphore_wait,
    "sem_timedwait" => semaphore_timedwait,
    "sem_clockwait" => semaphore_clockwait,
    "mtx_lock" => mutex_lock,
    "cnd_wait" => cond_wait,
    "cnd_timedwait" => cond_timedwait_of_c,
    "syscall" => system_call,
}

/// Any of these: what is behind it only the C library knows.
type Object = *mut c_void;

// Waiting for a condition or a semaphore ends when the thread is cancelled, by unwinding.
unsafe extern "C-unwind" {
    fn pthread_mutex_lock(mutex: Object) -> c_int;
    fn pthread_mutex_trylock(mutex: Object) -> c_int;
    fn pthread_mutex_timedlock(mutex: Object, until: *const timespec) -> c_int;
    fn pthread_rwlock_rdlock(lock: Object) -> c_int;
    fn pthread_rwlock_wrlock(lock: Object) -> c_int;
    fn pthread_cond_wait(condition: Object, mutex: Object) -> c_int;
    fn pthread_cond_timedwait(condition: Object, mutex: Object, until: *const timespec) -> c_int;
    fn pthread_cond_clockwait(
        condition: Object,
        mutex: Object,
        clock: c_int,
        until: *const timespec,
    ) -> c_int;
    fn pthread_barrier_wait(barrier: Object) -> c_int;
    fn sem_wait(semaphore: Object) -> c_int;
    fn sem_timedwait(semaphore: Object, until: *const timespec) -> c_int;
    fn sem_clockwait(semaphore: Object, clock: c_int, until: *const timespec) -> c_int;
    fn cnd_timedwait(condition: Object, mutex: Object, until: *const timespec) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
}

/// Whether the rank that runs on this thread is in such a function, and may be interrupted there.
pub fn waits_for_threads() -> bool {
    waiting().is_some_and(|waiting| waiting.load(Ordering::Relaxed))
}

/// It is in one from now on, or not: who interrupts it there does something else first.
pub fn set_waits_for_threads(waits: bool) {
    if let Some(waiting) = waiting() {
        waiting.store(waits, Ordering::Relaxed);
    }
}

fn waiting() -> Option<&'static AtomicBool> {
    // SAFETY: a state that is entered is there.
    unsafe { CURRENT.get().as_ref() }.map(|state| &state.waits_for_threads)
}

/// Whether a rank calls that has threads: then it may have to wait for these.
fn may_wait_for_threads() -> bool {
    // SAFETY: a state that is entered is there.
    unsafe { CURRENT.get().as_ref() }.is_some_and(|state| state.threads.are_live()) && !is_own_thread()
}

/// Calls a function in which a rank may be interrupted while it waits for its threads.
#[inline(always)]
fn in_wait<T>(call: impl FnOnce() -> T) -> T {
    if !may_wait_for_threads() {
        return call();
    }
    set_waits_for_threads(true);
    let result = call();
    set_waits_for_threads(false);
    result
}

unsafe extern "C-unwind" fn mutex_lock(mutex: Object) -> c_int {
    // SAFETY: called as C's function is, as in all that follow.
    unsafe {
        if !may_wait_for_threads() {
            return pthread_mutex_lock(mutex);
        }
        match pthread_mutex_trylock(mutex) {
            ::libc::EBUSY => in_wait(|| pthread_mutex_lock(mutex)),
            result => result,
        }
    }
}

unsafe extern "C-unwind" fn mutex_timedlock(mutex: Object, until: *const timespec) -> c_int {
    // SAFETY: as above.
    in_wait(|| unsafe { pthread_mutex_timedlock(mutex, until) })
}

unsafe extern "C-unwind" fn rwlock_rdlock(lock: Object) -> c_int {
    // SAFETY: as above.
    in_wait(|| unsafe { pthread_rwlock_rdlock(lock) })
}

unsafe extern "C-unwind" fn rwlock_wrlock(lock: Object) -> c_int {
    // SAFETY: as above.
    in_wait(|| unsafe { pthread_rwlock_wrlock(lock) })
}

unsafe extern "C-unwind" fn cond_wait(condition: Object, mutex: Object) -> c_int {
    // SAFETY: as above.
    in_wait(|| unsafe { pthread_cond_wait(condition, mutex) })
}

unsafe extern "C-unwind" fn cond_timedwait(
    condition: Object,
    mutex: Object,
    until: *const timespec,
) -> c_int {
    // SAFETY: as above.
    in_wait(|| unsafe { pthread_cond_timedwait(condition, mutex, until) })
}

unsafe extern "C-unwind" fn cond_timedwait_of_c(
    condition: Object,
    mutex: Object,
    until: *const timespec,
) -> c_int {
    // SAFETY: as above.
    in_wait(|| unsafe { cnd_timedwait(condition, mutex, until) })
}

unsafe extern "C-unwind" fn cond_clockwait(
    condition: Object,
    mutex: Object,
    clock: c_int,
    until: *const timespec,
) -> c_int {
    // SAFETY: as above.
    in_wait(|| unsafe { pthread_cond_clockwait(condition, mutex, clock, until) })
}

unsafe extern "C-unwind" fn barrier_wait(barrier: Object) -> c_int {
    // SAFETY: as above.
    in_wait(|| unsafe { pthread_barrier_wait(barrier) })
}

unsafe extern "C-unwind" fn semaphore_wait(semaphore: Object) -> c_int {
    // SAFETY: as above.
    in_wait(|| unsafe { sem_wait(semaphore) })
}

unsafe extern "C-unwind" fn semaphore_timedwait(semaphore: Object, until: *const timespec) -> c_int {
    // SAFETY: as above.
    in_wait(|| unsafe { sem_timedwait(semaphore, until) })
}

unsafe extern "C-unwind" fn semaphore_clockwait(
    semaphore: Object,
    clock: c_int,
    until: *const timespec,
) -> c_int {
    // SAFETY: as above.
    in_wait(|| unsafe { sem_clockwait(semaphore, clock, until) })
}

/// Waits for a word of memory are made so where the C library has no function for it.
unsafe extern "C-unwind" fn system_call(
    number: c_long,
    one: c_long,
    two: c_long,
    three: c_long,
    four: c_long,
    five: c_long,
    six: c_long,
) -> c_long {
    // SAFETY: as above; arguments that are not given are not looked at.
    let call = || unsafe { syscall(number, one, two, three, four, five, six) };
    if number == ::libc::SYS_futex { in_wait(call) } else { call() }
}
