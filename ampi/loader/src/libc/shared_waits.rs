//! Locks, conditions and semaphores in memory that several ranks have mapped. A rank that has no threads waits there for
//! another rank of its host. That may be one of its own process: so it asks again and again, and others run meanwhile.

use std::ffi::c_int;

use ::libc::{EAGAIN, EBUSY, ETIMEDOUT};

use super::CURRENT;
use super::children::is_child;
use super::deadline::Deadline;
use super::own_threads::is_own_thread;
use super::pause::sleep;
use super::thread_waits::{Object, mutex_lock};

/// Nanoseconds after which a rank looks again at what another one may have changed.
const NAP: u64 = 50_000;

/// Whether a rank calls that has no threads.
pub fn waits_for_ranks() -> bool {
    // SAFETY: a state that is entered is there.
    let state = unsafe { CURRENT.get().as_ref() };
    state.is_some_and(|state| !state.threads.are_live()) && !is_own_thread() && !is_child()
}

/// Whether a mutex is for several processes (`PTHREAD_PROCESS_SHARED`).
///
/// # Safety
/// It is one.
pub unsafe fn is_shared(mutex: Object) -> bool {
    /// Where the C library has its kind, and what there stands for that: part of its binary interface, as programs have mutexes
    /// with first values of their own.
    const KIND: usize = 16;
    const SHARED: c_int = 128;
    // SAFETY: the caller's promise.
    unsafe { mutex.byte_add(KIND).cast::<c_int>().read() & SHARED != 0 }
}

/// The same of a lock for readers and writers.
///
/// # Safety
/// It is one.
pub unsafe fn is_shared_rwlock(lock: Object) -> bool {
    const SHARED: usize = 28;
    // SAFETY: the caller's promise.
    unsafe { lock.byte_add(SHARED).cast::<c_int>().read() != 0 }
}

/// Tries again and again; the number of the error if it fails.
pub fn until_free(attempt: impl Fn() -> c_int, until: Deadline) -> c_int {
    let is_had = |error: &c_int| !matches!(*error, EBUSY | EAGAIN);
    until.attempt(|| Some(attempt()).filter(is_had)).unwrap_or(ETIMEDOUT)
}

/// Others run while a mutex is free, and may change what is waited for: who waits for a condition looks whether they have.
///
/// # Safety
/// The rank has the mutex.
pub unsafe fn free_for_others(mutex: Object, until: Deadline) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { ::libc::pthread_mutex_unlock(mutex.cast()) } {
        0 => sleep(NAP),
        error => return error,
    }
    // SAFETY: as above.
    match unsafe { mutex_lock(mutex) } {
        0 if until.is_over() => ETIMEDOUT,
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_is_not_free_in_time_is_not_waited_for() {
        let past = ::libc::timespec { tv_sec: 1, tv_nsec: 0 };
        // SAFETY: a time.
        let over = unsafe { Deadline::of(::libc::CLOCK_REALTIME, &raw const past) };
        assert_eq!(until_free(|| EBUSY, over), ETIMEDOUT);
        assert_eq!(until_free(|| 0, over), 0);
        let left = Cell::new(20);
        let attempt = || if left.replace(left.get() - 1) > 0 { EAGAIN } else { 0 };
        assert_eq!((until_free(attempt, Deadline::never()), left.get()), (0, -1));
    }

    #[test]
    fn what_is_for_several_processes_is_known() {
        // SAFETY: objects of the C library, made by it; zero is what it begins with.
        unsafe {
            for shared in [false, true] {
                let (mut of_mutex, mut mutex): (::libc::pthread_mutexattr_t, ::libc::pthread_mutex_t) =
                    std::mem::zeroed();
                let (mut of_lock, mut lock): (::libc::pthread_rwlockattr_t, ::libc::pthread_rwlock_t) =
                    std::mem::zeroed();
                ::libc::pthread_mutexattr_init(&raw mut of_mutex);
                ::libc::pthread_mutexattr_setpshared(&raw mut of_mutex, shared.into());
                ::libc::pthread_mutex_init(&raw mut mutex, &raw const of_mutex);
                ::libc::pthread_rwlockattr_init(&raw mut of_lock);
                ::libc::pthread_rwlockattr_setpshared(&raw mut of_lock, shared.into());
                ::libc::pthread_rwlock_init(&raw mut lock, &raw const of_lock);
                assert_eq!(is_shared((&raw mut mutex).cast()), shared);
                assert_eq!(is_shared_rwlock((&raw mut lock).cast()), shared);
            }
        }
    }
}
