//! Calls of MPI as a trace of the job has them (`--trace`): a call costs a look at a flag where there is none.

use std::sync::atomic::{AtomicBool, Ordering};

use super::is_other_thread;
use super::running::outside;

/// Whether calls of this process's ranks are told.
static IS_TRACED: AtomicBool = AtomicBool::new(false);

/// What ranks of this process call is told from now on, or not.
pub(super) fn set(is_traced: bool) {
    IS_TRACED.store(is_traced, Ordering::Relaxed);
}

/// A call of the rank that runs, up to when this is dropped: perhaps on another PE.
#[derive(Debug)]
pub struct TracedCall(bool);

impl TracedCall {
    /// One of this name begins.
    #[inline]
    pub fn begin(name: &str) -> TracedCall {
        TracedCall(IS_TRACED.load(Ordering::Relaxed) && tell(Some(name)))
    }
}

impl Drop for TracedCall {
    #[inline]
    fn drop(&mut self) {
        if self.0 {
            tell(None);
        }
    }
}

/// Whether it could be told: a thread that no rank runs on may call some functions.
#[cold]
fn tell(call: Option<&str>) -> bool {
    !is_other_thread() && outside(|outside| outside.trace_call(call)).is_ok()
}
