//! Steps at which something is to happen (`--kill 2@step40`): a PE that reports one goes on when it has happened.

use std::sync::{Mutex, MutexGuard, PoisonError};

use talisman_base::ids::PeId;
use talisman_transport::sim_wait::sim_wait;

/// A PE waits at most so long at a step, in nanoseconds, as on a thread.
pub(super) const STEP_WAIT_NS: u64 = 2_000_000_000;

/// The steps of one process.
#[derive(Debug, Default)]
pub(super) struct Steps(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Those that are still to come, in increasing order.
    watched: Vec<u64>,
    /// The last one that the launcher has seen to.
    seen: u64,
    /// PEs that wait, each with its step.
    waiting: Vec<(PeId, u64)>,
}

impl Steps {
    /// Something is to happen at these.
    pub(super) fn watch(&self, steps: &[u64]) {
        self.lock().watched = steps.to_vec();
    }

    /// The program is so far: whether anything is to happen now.
    pub(super) fn watches(&self, done: u64) -> bool {
        let mut state = self.lock();
        let before = state.watched.len();
        state.watched.retain(|step| *step > done);
        state.watched.len() < before
    }

    /// A PE waits at a step. The world goes on meanwhile.
    pub(super) fn wait(&self, pe: PeId, step: u64) {
        self.lock().waiting.push((pe, step));
        sim_wait(pe);
        self.lock().waiting.retain(|(other, _)| *other != pe);
    }

    /// What was to happen at this step has happened.
    pub(super) fn seen(&self, step: u64) {
        let mut state = self.lock();
        state.seen = state.seen.max(step);
    }

    /// The step at which a PE waits, and whether the launcher has seen to that.
    pub(super) fn of(&self, pe: PeId) -> Option<(u64, bool)> {
        let state = self.lock();
        let (_, step) = state.waiting.iter().find(|(other, _)| *other == pe)?;
        Some((*step, state.seen >= *step))
    }

    /// Whether any PE waits.
    pub(super) fn has_waiting(&self) -> bool {
        !self.lock().waiting.is_empty()
    }

    /// All is one thread's: this never waits. It is a mutex because what PEs say may come from any thread elsewhere.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
