//! How a PE goes to sleep without missing a message, and how a sender wakes it without paying when it is awake.

use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::time::Duration;

use super::sync::{AsymmetricFence, Futex, Ordering};

const AWAKE: u32 = 0;
const PARKED: u32 = 1;

/// Why a call to [`Parker::park`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Woken {
    /// There was work at the last look; the thread did not sleep.
    NotParked,
    /// A sender called.
    BySender,
    /// The timeout ended, or the kernel woke the thread for no reason of ours.
    ByItself,
}

/// The sleeping place of one thread, known to every thread that sends to it.
///
/// Only the owner parks; any thread may call [`unpark_if_parked`](Parker::unpark_if_parked), after each
/// message or once after several. The protocol and why no wake-up is lost are in the `README.md` beside this file.
#[repr(align(128))] // Senders poll `state` per message: nothing else may share its line.
pub struct Parker {
    state: State,
    fence: AsymmetricFence,
    bell: Option<Bell>,
}

/// Where `AWAKE` or `PARKED` is kept.
enum State {
    Own(Futex),
    /// In memory that other processes have too. The keeper keeps it mapped.
    Shared(NonNull<Futex>, #[expect(dead_code, reason = "kept for its end")] Keeper),
}

/// As long as it lives, so does some memory.
type Keeper = std::sync::Arc<dyn Any + Send + Sync>;

// SAFETY: all variants are a `Futex`, which is shared soundly by itself, and what keeps it, which is `Send` and `Sync`.
unsafe impl Send for State {}
// SAFETY: as above.
unsafe impl Sync for State {}

/// What wakes a thread that sleeps by other means than the futex.
type Bell = Box<dyn Fn() + Send + Sync>;

impl Parker {
    /// A parker whose owner sleeps on a futex, by [`park`](Parker::park).
    pub fn new() -> Parker {
        Parker { state: State::Own(Futex::new(AWAKE)), fence: AsymmetricFence::new(), bell: None }
    }

    /// The same where there are more owners than cores, if that is so: they sleep often, and so each sender pays a little.
    pub fn sharing_cores(shares: bool) -> Parker {
        let fence = if shares { AsymmetricFence::full() } else { AsymmetricFence::new() };
        Parker { fence, ..Parker::new() }
    }

    /// A parker whose owner sleeps elsewhere, by [`park_in`](Parker::park_in), for example in `epoll_wait`;
    /// `bell` ends that sleep, or the next one if it has not begun yet, for example by writing to an eventfd.
    pub fn with_bell(bell: impl Fn() + Send + Sync + 'static) -> Parker {
        Parker { bell: Some(Box::new(bell)), ..Parker::new() }
    }

    /// A parker whose owner may be in another process than its senders: each makes one over the same `state`, which is
    /// zero at first. As [`with_bell`](Parker::with_bell), the bell being heard across processes.
    ///
    /// If another process writes something else to `state`, a wake-up may be lost or come for no reason, nothing worse.
    ///
    /// # Safety
    /// `state` is valid as long as `keeper` lives, and nothing but a parker uses it. The fences of all parkers over it form
    /// pairs.
    pub unsafe fn in_shared_memory(
        state: NonNull<Futex>,
        keeper: Keeper,
        fence: AsymmetricFence,
        bell: impl Fn() + Send + Sync + 'static,
    ) -> Parker {
        Parker { state: State::Shared(state, keeper), fence, bell: Some(Box::new(bell)) }
    }

    /// Sleeps until a sender calls or `timeout` ends, unless `has_work` finds something after the senders
    /// can see that this thread is about to sleep.
    ///
    /// `has_work` must look at everything that a sender fills before it calls
    /// [`unpark_if_parked`](Parker::unpark_if_parked). May return early without a reason ([`Woken::ByItself`]).
    pub fn park(&self, has_work: impl FnOnce() -> bool, timeout: Option<Duration>) -> Woken {
        assert!(self.bell.is_none(), "senders ring the bell of this parker: its owner sleeps by park_in");
        self.announce_and(has_work, || self.state().wait(PARKED, timeout))
    }

    /// As [`park`](Parker::park), for a thread that sleeps in `sleep`, where the bell is heard.
    pub fn park_in(&self, has_work: impl FnOnce() -> bool, sleep: impl FnOnce()) -> Woken {
        assert!(self.bell.is_some(), "senders wake the futex of this parker: its owner sleeps by park");
        self.announce_and(has_work, sleep)
    }

    /// Wakes the owner if it sleeps or is about to. To be called after the message is where `has_work` looks.
    ///
    /// One load when the owner is awake. Of several senders, one makes the system call.
    #[inline(always)]
    pub fn unpark_if_parked(&self) {
        self.fence.light();
        if self.state().load(Ordering::Relaxed) == PARKED {
            self.unpark();
        }
    }

    /// Wakes the owner, or ends the sleep that it begins next, whoever has taken its announcement back. To be called by its own process
    /// when it has to look up: a sender of another process may have been killed before it made the call, and all others take that for
    /// made. A system call.
    pub fn wake(&self) {
        match &self.bell {
            // Senders are threads of the owner's process, which live as long as it does.
            None => self.unpark_if_parked(),
            Some(ring) => ring(),
        }
    }

    #[inline(always)]
    fn state(&self) -> &Futex {
        match &self.state {
            State::Own(state) => state,
            // SAFETY: valid as long as the keeper lives, which `self` has.
            State::Shared(state, _) => unsafe { state.as_ref() },
        }
    }

    fn announce_and(&self, has_work: impl FnOnce() -> bool, sleep: impl FnOnce()) -> Woken {
        self.state().store(PARKED, Ordering::Relaxed);
        self.fence.heavy();
        let sleeps = !has_work();
        if sleeps {
            sleep();
        }
        // Acquire: what a sender did before it took the announcement back is seen by the caller.
        match (self.state().swap(AWAKE, Ordering::Acquire), sleeps) {
            (_, false) => Woken::NotParked,
            (PARKED, true) => Woken::ByItself,
            (_, true) => Woken::BySender,
        }
    }

    /// Out of line: at 14 µs for a sleeper on another core it is as rare as the idle policy can make it.
    #[cold]
    fn unpark(&self) {
        // The exchange picks the one sender that makes the call: a wake-up costs the sender, so never two. The
        // losers leave no store behind, so every store is ordered with the next announcement.
        if self.state().compare_exchange(PARKED, AWAKE, Ordering::Release, Ordering::Relaxed).is_err() {
            return;
        }
        match &self.bell {
            None => self.state().wake_one(),
            Some(ring) => ring(),
        }
    }
}

impl Default for Parker {
    fn default() -> Parker {
        Parker::new()
    }
}

impl fmt::Debug for Parker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parker")
            .field("state", self.state())
            .field("fence", &self.fence)
            .finish_non_exhaustive()
    }
}
