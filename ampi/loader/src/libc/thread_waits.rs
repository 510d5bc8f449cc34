//! Functions in which a rank waits for threads that it has started: locks, conditions, barriers, semaphores. It waits
//! there as any thread does, its PE's with it; but it may be interrupted there as in its own code, so that others of the
//! PE have their turns: what a thread of it waits for may depend on these.
//! One that has no threads waits for [other ranks](super::shared_waits).

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use ::libc::timespec;

use super::deadline::Deadline;
use super::own_threads::is_own_thread;
use super::pause::give_way;
use super::shared_waits::{free_for_others, is_shared, is_shared_rwlock, until_free, waits_for_ranks};
use super::{CURRENT, errno, functions, set_errno, shared_barrier};

functions! {
    "pthread_mutex_lock" => mutex_lock,
    "pthread_mutex_timedlock" => mutex_timedlock,
    "pthread_rwlock_rdlock" => rwlock_rdlock,
    "pthread_rwlock_wrlock" => rwlock_wrlock,
    "pthread_cond_wait" => cond_wait,
    "pthread_cond_timedwait" => cond_timedwait,
    "pthread_cond_clockwait" => cond_clockwait,
    "pthread_barrier_wait" => barrier_wait,
    "pthread_mutex_trylock" => mutex_trylock,
    "sem_wait" => semaphore_wait,
    "sem_trywait" => semaphore_trywait,
    "sem_timedwait" => semaphore_timedwait,
    "sem_clockwait" => semaphore_clockwait,
    "mtx_lock" => mutex_lock,
    "cnd_wait" => cond_wait,
    "cnd_timedwait" => cond_timedwait_of_c,
}

/// Any of these: what is behind it only the C library knows.
pub(super) type Object = *mut c_void;

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
    pub(super) fn pthread_barrier_wait(barrier: Object) -> c_int;
    fn sem_wait(semaphore: Object) -> c_int;
    fn sem_timedwait(semaphore: Object, until: *const timespec) -> c_int;
    fn sem_clockwait(semaphore: Object, clock: c_int, until: *const timespec) -> c_int;
    fn cnd_timedwait(condition: Object, mutex: Object, until: *const timespec) -> c_int;
    fn pthread_rwlock_tryrdlock(lock: Object) -> c_int;
    fn pthread_rwlock_trywrlock(lock: Object) -> c_int;
    fn sem_trywait(semaphore: Object) -> c_int;
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
pub(super) fn in_wait<T>(call: impl FnOnce() -> T) -> T {
    if !may_wait_for_threads() {
        return call();
    }
    set_waits_for_threads(true);
    let result = call();
    set_waits_for_threads(false);
    result
}

pub(super) unsafe extern "C-unwind" fn mutex_lock(mutex: Object) -> c_int {
    // SAFETY: called as C's function is, as in all that follow.
    unsafe {
        if waits_for_ranks() && is_shared(mutex) {
            return until_free(|| pthread_mutex_trylock(mutex), Deadline::never());
        }
        if !may_wait_for_threads() {
            return pthread_mutex_lock(mutex);
        }
        match pthread_mutex_trylock(mutex) {
            ::libc::EBUSY => in_wait(|| pthread_mutex_lock(mutex)),
            result => result,
        }
    }
}

/// Who does not wait for others may ask again and again.
unsafe extern "C-unwind" fn mutex_trylock(mutex: Object) -> c_int {
    // SAFETY: as above.
    unsafe {
        let result = pthread_mutex_trylock(mutex);
        if result == ::libc::EBUSY && waits_for_ranks() && is_shared(mutex) {
            give_way();
        }
        result
    }
}

unsafe extern "C-unwind" fn semaphore_trywait(semaphore: Object) -> c_int {
    // SAFETY: as above.
    let result = unsafe { sem_trywait(semaphore) };
    if result != 0 && waits_for_ranks() {
        let error = errno();
        // SAFETY: as above.
        unsafe { give_way() };
        set_errno(error);
    }
    result
}

unsafe extern "C-unwind" fn mutex_timedlock(mutex: Object, until: *const timespec) -> c_int {
    // SAFETY: as above.
    unsafe {
        match waits_for_ranks() && is_shared(mutex) {
            true => until_free(|| pthread_mutex_trylock(mutex), Deadline::of(::libc::CLOCK_REALTIME, until)),
            false => in_wait(|| pthread_mutex_timedlock(mutex, until)),
        }
    }
}

unsafe extern "C-unwind" fn rwlock_rdlock(lock: Object) -> c_int {
    // SAFETY: as above.
    unsafe {
        match waits_for_ranks() && is_shared_rwlock(lock) {
            true => until_free(|| pthread_rwlock_tryrdlock(lock), Deadline::never()),
            false => in_wait(|| pthread_rwlock_rdlock(lock)),
        }
    }
}

unsafe extern "C-unwind" fn rwlock_wrlock(lock: Object) -> c_int {
    // SAFETY: as above.
    unsafe {
        match waits_for_ranks() && is_shared_rwlock(lock) {
            true => until_free(|| pthread_rwlock_trywrlock(lock), Deadline::never()),
            false => in_wait(|| pthread_rwlock_wrlock(lock)),
        }
    }
}

unsafe extern "C-unwind" fn cond_wait(condition: Object, mutex: Object) -> c_int {
    // SAFETY: as above.
    unsafe {
        match waits_for_ranks() && is_shared(mutex) {
            true => free_for_others(mutex, Deadline::never()),
            false => in_wait(|| pthread_cond_wait(condition, mutex)),
        }
    }
}

unsafe extern "C-unwind" fn cond_timedwait(
    condition: Object,
    mutex: Object,
    until: *const timespec,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        match waits_for_ranks() && is_shared(mutex) {
            true => free_for_others(mutex, Deadline::of(::libc::CLOCK_REALTIME, until)),
            false => in_wait(|| pthread_cond_timedwait(condition, mutex, until)),
        }
    }
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
    unsafe {
        match waits_for_ranks() && is_shared(mutex) {
            true => free_for_others(mutex, Deadline::of(clock, until)),
            false => in_wait(|| pthread_cond_clockwait(condition, mutex, clock, until)),
        }
    }
}

unsafe extern "C-unwind" fn barrier_wait(barrier: Object) -> c_int {
    // SAFETY: as above.
    unsafe {
        match waits_for_ranks() {
            true => shared_barrier::wait_for_ranks(barrier),
            false => in_wait(|| pthread_barrier_wait(barrier)),
        }
    }
}

/// As `sem_trywait`, but gives the number of the error.
unsafe fn try_semaphore(semaphore: Object) -> c_int {
    // SAFETY: as above.
    match unsafe { sem_trywait(semaphore) } {
        0 => 0,
        _ => errno(),
    }
}

/// For other ranks, until there is time for that no more.
unsafe fn semaphore_of_ranks(semaphore: Object, until: Deadline) -> c_int {
    // SAFETY: as above.
    match until_free(|| unsafe { try_semaphore(semaphore) }, until) {
        0 => 0,
        error => {
            set_errno(error);
            -1
        }
    }
}

unsafe extern "C-unwind" fn semaphore_wait(semaphore: Object) -> c_int {
    // SAFETY: as above.
    unsafe {
        match waits_for_ranks() {
            true => semaphore_of_ranks(semaphore, Deadline::never()),
            false => in_wait(|| sem_wait(semaphore)),
        }
    }
}

unsafe extern "C-unwind" fn semaphore_timedwait(semaphore: Object, until: *const timespec) -> c_int {
    // SAFETY: as above.
    unsafe {
        match waits_for_ranks() {
            true => semaphore_of_ranks(semaphore, Deadline::of(::libc::CLOCK_REALTIME, until)),
            false => in_wait(|| sem_timedwait(semaphore, until)),
        }
    }
}

unsafe extern "C-unwind" fn semaphore_clockwait(
    semaphore: Object,
    clock: c_int,
    until: *const timespec,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        match waits_for_ranks() {
            true => semaphore_of_ranks(semaphore, Deadline::of(clock, until)),
            false => in_wait(|| sem_clockwait(semaphore, clock, until)),
        }
    }
}
