//! A 32-bit atomic word on which a thread can sleep.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::thread::futex::{self, Flags, Timespec};

/// An atomic word on which one thread sleeps until another changes it and says so (Linux `futex`).
#[derive(Debug)]
#[repr(transparent)] // It may lie in memory that processes share.
pub struct Futex(AtomicU32);

impl Futex {
    /// A word that holds `value`.
    pub const fn new(value: u32) -> Futex {
        Futex(AtomicU32::new(value))
    }

    /// The value.
    #[inline(always)]
    pub fn load(&self, order: Ordering) -> u32 {
        self.0.load(order)
    }

    /// Sets the value.
    pub fn store(&self, value: u32, order: Ordering) {
        self.0.store(value, order);
    }

    /// Sets the value and returns the one before.
    pub fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.0.swap(value, order)
    }

    /// Sets the value to `new` if it is `current`; returns the value before, as `Ok` if it was.
    pub fn compare_exchange(
        &self,
        current: u32,
        new: u32,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u32, u32> {
        self.0.compare_exchange(current, new, success, failure)
    }

    /// Sleeps if the word holds `expected`, until `wake_one`, a signal or the end of `timeout`.
    ///
    /// The comparison and falling asleep are one step: a change followed by `wake_one` is never missed.
    /// Which of the reasons ended the sleep is not told; the caller looks at the word.
    pub fn wait(&self, expected: u32, timeout: Option<Duration>) {
        // A timeout beyond what the kernel can express is as good as none.
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        // Every error is an early return (changed word, timeout, signal), which the caller must allow for anyway.
        let _ = futex::wait(&self.0, Flags::PRIVATE, expected, timeout.as_ref());
    }

    /// Wakes one thread that sleeps on this word, if there is one.
    pub fn wake_one(&self) {
        // The only errors are about the address, and it is that of a live word.
        let _ = futex::wake(&self.0, Flags::PRIVATE, 1);
    }
}
