//! A store-load fence that costs the frequent side nothing.

use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence, fence};

use rustix::thread::{MembarrierCommand, membarrier};

/// A pair of fences, one on each side of a store-load race (Dekker's pattern): *light* for the side that runs
/// per message, *heavy* for the side that runs before going to sleep.
///
/// If one thread does `store A; light; load B` and another `store B; heavy; load A`, at least one of the two
/// loads sees the other's store. With the kernel's `membarrier(PRIVATE_EXPEDITED)` the heavy side makes every
/// core that runs a thread of this process execute a full barrier, so light only has to hold the compiler
/// back. A full fence per message instead costs about 20 ns in ping-pong and over 100 ns in a stream. Where
/// the kernel has no membarrier, both sides are full fences.
#[derive(Clone, Copy, Debug)]
pub struct AsymmetricFence {
    expedited: bool,
}

impl AsymmetricFence {
    /// Registers the process with the kernel, once, and says which kind of fence it got.
    ///
    /// Every `AsymmetricFence` of a process is of the same kind, so any two form a pair.
    pub fn new() -> AsymmetricFence {
        static EXPEDITED: OnceLock<bool> = OnceLock::new();
        AsymmetricFence { expedited: *EXPEDITED.get_or_init(register) }
    }

    /// The frequent side: between its own store and the load of what the rare side stored.
    #[inline(always)]
    pub fn light(self) {
        if self.expedited { compiler_fence(Ordering::SeqCst) } else { fence(Ordering::SeqCst) }
    }

    /// The rare side: between its own store and the load of what the frequent side stored. A few microseconds.
    pub fn heavy(self) {
        // The calling thread needs no fence of its own: the kernel orders the caller as well.
        if !self.expedited {
            fence(Ordering::SeqCst);
        } else if let Err(error) = membarrier(MembarrierCommand::PrivateExpedited) {
            // After a registration the kernel documents no way to fail, and the light side relies on it.
            unreachable!("membarrier(PRIVATE_EXPEDITED) failed after registration: {error}");
        }
    }
}

impl Default for AsymmetricFence {
    fn default() -> AsymmetricFence {
        AsymmetricFence::new()
    }
}

/// Whether membarrier can be used. Miri knows no system calls made in assembly, so it takes the full fences.
fn register() -> bool {
    !cfg!(miri) && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}
