//! A store-load fence that costs the frequent side nothing.

use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence, fence};

use rustix::io::Errno;
use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};

/// A pair of fences, one on each side of a store-load race (Dekker's pattern): *light* for the side that runs
/// per message, *heavy* for the side that runs before going to sleep.
///
/// If one thread does `store A; light; load B` and another `store B; heavy; load A`, at least one of the two
/// loads sees the other's store. With the kernel's `membarrier` the heavy side makes every core that runs a thread
/// of this process (`PRIVATE_EXPEDITED`), or of any process that registered for it (`GLOBAL_EXPEDITED`), execute a full
/// barrier, so light only has to hold the compiler back. A full fence per message instead costs about 20 ns in
/// ping-pong and over 100 ns in a stream. Where the kernel has no membarrier, both sides are full fences.
#[derive(Clone, Copy, Debug)]
pub struct AsymmetricFence {
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Both sides are full fences.
    Full,
    /// Among the threads of this process.
    Process,
    /// Among the processes that share memory, too.
    Host,
}

impl AsymmetricFence {
    /// Registers this process with the kernel for fences of either kind, which takes it microseconds while there is one thread. Once there
    /// are more, it waits until all cores have been elsewhere, for some milliseconds. What it cannot do is seen when that is needed.
    pub fn register_early() {
        _ = AsymmetricFence::new();
        _ = register(MembarrierCommand::RegisterGlobalExpedited);
    }

    /// Among the threads of this process. Registers it with the kernel, once, and says which kind of fence it got.
    ///
    /// All of these in a process are of the same kind, so any two form a pair.
    pub fn new() -> AsymmetricFence {
        static EXPEDITED: OnceLock<bool> = OnceLock::new();
        let expedited =
            *EXPEDITED.get_or_init(|| register(MembarrierCommand::RegisterPrivateExpedited).is_ok());
        AsymmetricFence { kind: if expedited { Kind::Process } else { Kind::Full } }
    }

    /// Both sides are full fences, whatever the kernel has: for whoever sleeps as often as others send. A heavy one of the other kinds
    /// interrupts all cores that run these threads.
    pub fn full() -> AsymmetricFence {
        AsymmetricFence { kind: Kind::Full }
    }

    /// Whether the kernel has barriers across processes. One process asks, for all that will form pairs.
    pub fn host_is_expedited() -> bool {
        !cfg!(miri) && membarrier_query().contains(MembarrierQuery::GLOBAL_EXPEDITED)
    }

    /// Among several processes, which all give the same `expedited`. If it is true, registers this one with the kernel.
    ///
    /// # Errors
    /// The kernel does not register it, so that it must not form pairs with those that rely on that.
    pub fn between_processes(expedited: bool) -> Result<AsymmetricFence, Errno> {
        if expedited {
            register(MembarrierCommand::RegisterGlobalExpedited)?;
        }
        Ok(AsymmetricFence { kind: if expedited { Kind::Host } else { Kind::Full } })
    }

    /// The frequent side: between its own store and the load of what the rare side stored.
    #[inline(always)]
    pub fn light(self) {
        if self.kind == Kind::Full { fence(Ordering::SeqCst) } else { compiler_fence(Ordering::SeqCst) }
    }

    /// The rare side: between its own store and the load of what the frequent side stored. A few microseconds.
    pub fn heavy(self) {
        // The calling thread needs no fence of its own: the kernel orders the caller as well.
        let command = match self.kind {
            Kind::Full => return fence(Ordering::SeqCst),
            Kind::Process => MembarrierCommand::PrivateExpedited,
            Kind::Host => MembarrierCommand::GlobalExpedited,
        };
        if let Err(error) = membarrier(command) {
            // After a registration the kernel documents no way to fail, and the light side relies on it.
            unreachable!("membarrier failed after registration: {error}");
        }
    }
}

impl Default for AsymmetricFence {
    fn default() -> AsymmetricFence {
        AsymmetricFence::new()
    }
}

/// Miri knows no system calls made in assembly, so it takes the full fences.
fn register(command: MembarrierCommand) -> Result<(), Errno> {
    if cfg!(miri) { Err(Errno::NOSYS) } else { membarrier(command) }
}
