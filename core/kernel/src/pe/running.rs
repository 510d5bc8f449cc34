//! What a PE runs, as other threads of its process may see it: when a job ends, people want to know whom it waits for.
//!
//! The PE stores two words, as it would if nobody looked. Who looks may find an object that is just about to be freed, by this PE or, if it
//! moved within the node, by another. So a look is announced, and whoever frees an object meanwhile waits for its end ([`before_free`]). Of
//! the two, each says first what it does and then looks at what the other has said, with a fence in between: at least one sees the other.

use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Pe;
use crate::entry_info::EntryInfo;
use crate::object::Head;
use talisman_observe::stats::Counter;

/// The object and entry that a PE runs.
#[derive(Default)]
pub struct Running {
    object: AtomicPtr<Head>,
    entry: AtomicPtr<EntryInfo>,
}

impl Running {
    /// From now on it runs this object, or none.
    #[inline(always)]
    pub fn set(&self, object: Option<NonNull<Head>>) {
        self.object.store(object.map_or(null_mut(), NonNull::as_ptr), Ordering::Release);
    }

    #[inline(always)]
    pub fn get(&self) -> Option<NonNull<Head>> {
        NonNull::new(self.object.load(Ordering::Relaxed))
    }

    /// Its entry, if it is one.
    #[inline(always)]
    pub fn set_entry(&self, entry: Option<&'static EntryInfo>) {
        let entry = entry.map_or(null_mut(), |entry| (&raw const *entry).cast_mut());
        self.entry.store(entry, Ordering::Relaxed);
    }

    #[inline(always)]
    pub fn entry(&self) -> Option<&'static EntryInfo> {
        // SAFETY: null, or from a reference to what lives for ever and is never written.
        unsafe { self.entry.load(Ordering::Relaxed).as_ref() }
    }
}

/// Whether somebody looks.
static LOOKING: AtomicBool = AtomicBool::new(false);
/// Held by who looks.
static LOOK: Mutex<()> = Mutex::new(());

/// Before an object is freed that a PE may have run: nobody looks at it.
#[inline]
pub fn before_free() {
    fence(Ordering::SeqCst);
    if LOOKING.load(Ordering::Relaxed) {
        drop(lock(&LOOK));
    }
}

/// Where other threads see what a PE runs, while that works.
#[derive(Default)]
pub struct Window(Mutex<Option<Sight>>);

struct Sight {
    running: NonNull<Running>,
    /// Entries that have run, the one that runs included.
    run: NonNull<Counter>,
}

// SAFETY: both consist of atomics, and `Open` sees to it that they are there.
unsafe impl Send for Sight {}

/// The PE stays where it is as long as this lives.
pub struct Open<'a> {
    window: &'a Window,
    _pe: &'a Pe,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        *lock(&self.window.0) = None;
    }
}

impl Window {
    /// The PE can be seen from now on.
    pub fn open<'a>(&'a self, pe: &'a Pe) -> Open<'a> {
        let sight = Sight { running: NonNull::from(&pe.running), run: NonNull::from(&pe.stats.run) };
        *lock(&self.0) = Some(sight);
        Open { window: self, _pe: pe }
    }

    /// How many entries the PE has run, the one that runs included; none if it does not work.
    pub fn run(&self) -> Option<u64> {
        // SAFETY: there as long as the window is open, which it is while this is locked.
        lock(&self.0).as_ref().map(|sight| unsafe { sight.run.as_ref() }.get())
    }

    /// Chare, index and entry of what runs, in words; none if nothing does.
    pub fn who(&self) -> Option<String> {
        let (chare, index, entry) = {
            let sight = lock(&self.0);
            let sight = sight.as_ref()?;
            let _looking = Looking::begin();
            // SAFETY: as above.
            let running = unsafe { sight.running.as_ref() };
            let object = NonNull::new(running.object.load(Ordering::Acquire))?;
            // SAFETY: it ran after the look was announced, so whoever frees it waits until that is over.
            let (chare, index) = unsafe { Head::seen_by_others(object) };
            (chare, index, running.entry())
        };
        // User code says how an index looks: nobody waits for that.
        let who = format!("{}[{}]", (chare.name)(), (chare.show_index)(index));
        let entry = entry.filter(|entry| chare.entries.iter().any(|own| std::ptr::eq(own, *entry)));
        Some(entry.map_or_else(|| who.clone(), |entry| format!("{who}, entry `{}`", entry.name)))
    }
}

/// A look, which is announced.
struct Looking(#[allow(dead_code, reason = "held until the look is over")] MutexGuard<'static, ()>);

impl Looking {
    fn begin() -> Self {
        let held = lock(&LOOK);
        LOOKING.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        Looking(held)
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        LOOKING.store(false, Ordering::Release);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in a critical section panics half way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
