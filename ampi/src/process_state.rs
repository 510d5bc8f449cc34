//! What a process and its threads need before the first rank runs.

use std::cell::Cell;
use std::io::Write;
use std::sync::Once;

use crate::thread::{catch_faults, note_panics};

thread_local! {
    static IS_PREPARED: Cell<bool> = const { Cell::new(false) };
}

/// Prepares this thread for ranks, and the process. To be called on the process's heap.
pub(crate) fn prepare() {
    if IS_PREPARED.replace(true) {
        return;
    }
    static PROCESS: Once = Once::new();
    PROCESS.call_once(|| {
        // Behind the runtime's own hook, which allocates.
        note_panics();
        // Its buffer is made at the first use, and would be the memory of the rank that comes first.
        let _unwritten = std::io::stdout().flush();
    });
    // A system that refuses a signal stack kills the process at a fault, without the message.
    let _without_message = catch_faults();
}
