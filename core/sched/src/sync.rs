//! What threads share is built from these types only, so that the same source runs on the real machine and
//! inside the model checker `loom`.
//!
//! Sources that are checked name this module as `super::sync`. The crate's own modules get the types below;
//! `tests/loom_*.rs` include the same sources beside another `sync` (`tests/model/sync.rs`), which gives
//! loom's types under the same names. The list is as short as the checked sources allow.

mod fence;
mod futex;

pub use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
pub use std::sync::{Arc, Condvar, Mutex, MutexGuard};

pub use fence::AsymmetricFence;
pub use futex::Futex;

/// A cell whose content is reached by pointer inside a closure, which is the form `loom` can watch.
///
/// It does no checking of its own: whoever dereferences the pointer says why no other thread does so too.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell that holds `value`.
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    /// Runs `f` with a pointer to read through.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Runs `f` with a pointer to write through.
    #[inline(always)]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
