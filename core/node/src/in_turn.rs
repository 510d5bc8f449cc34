//! Whose turn it is in a simulated job that people wait for: its PEs share a thread, so another one looks whether that comes back.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use super::held_up::{HeldUp, LOOK_EVERY};
use talisman_base::ids::PeId;
use talisman_job::job::Job;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::running::Window;

/// Where another thread sees the PE whose turn it is.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) window: Window,
    pe: AtomicU32,
}

thread_local! {
    /// That of the job that this thread simulates, if somebody looks.
    static SEEN: RefCell<Option<Arc<Turn>>> = const { RefCell::new(None) };
}

impl Turn {
    pub(super) fn pe(&self) -> PeId {
        self.pe.load(Ordering::Relaxed)
    }
}

/// Simulates a job; meanwhile people are told of an entry that does not return when it is to end.
pub fn watched<R>(job: &Arc<Job>, simulate: impl FnOnce() -> R) -> R {
    let turn = Arc::new(Turn::default());
    SEEN.set(Some(turn.clone()));
    let (done, is_done) = channel::<()>();
    let result = thread::scope(|scope| {
        let look = move || {
            let start = Instant::now();
            let mut held_up = HeldUp::in_turn(turn);
            while is_done.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                held_up.look(start.elapsed(), job).into_iter().for_each(|line| job.warn(line));
            }
        };
        // Without that thread the job runs all the same.
        let _looking = thread::Builder::new().name("watch".into()).spawn_scoped(scope, look);
        let result = simulate();
        drop(done);
        result
    });
    SEEN.set(None);
    result
}

/// A PE has its turn.
pub fn in_turn<R>(pe: &Pe, turn: impl FnOnce() -> R) -> R {
    let Some(seen) = SEEN.with_borrow(Clone::clone) else { return turn() };
    seen.pe.store(pe.id, Ordering::Relaxed);
    let _open = seen.window.open(pe);
    turn()
}
