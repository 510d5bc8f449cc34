//! A panic in an entry method ends the job with a message that names who, and where.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use crate::pe::{Pe, try_current};
use talisman_job::job::End;
use talisman_transport::sim_wait::Killed;

thread_local! {
    /// Where the last panic of this thread's PE was, and what it said.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on panics of PEs are kept for [`caught`] instead of being printed; those of other threads go their old
/// way.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |info| match try_current(|_| ()) {
            Some(()) => LAST.set(Some(describe(info))),
            None => others(info),
        }));
    });
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let what = text(info.payload());
    match info.location() {
        Some(place) => format!("panicked at {}:{}: {what}", place.file(), place.line()),
        None => format!("panicked: {what}"),
    }
}

fn text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
}

/// Runs a PE; a panic in it ends the job. `false` after one.
pub fn caught(pe: &Pe, work: impl FnOnce()) -> bool {
    // The PE's cells are each changed in one step, and after a panic only dropped: nothing broken is seen.
    let Err(payload) = catch_unwind(AssertUnwindSafe(work)) else { return true };
    if payload.is::<Killed>() {
        // In a simulation: nobody hears of it, and the PE is only dropped from here on.
        pe.node.job.end_here(End { status: 1, message: None });
    } else {
        fail(pe, &*payload);
    }
    pe.running.set(None);
    pe.running.set_entry(None);
    false
}

/// The job ends because of a panic.
fn fail(pe: &Pe, payload: &(dyn Any + Send)) {
    let what = LAST.take().unwrap_or_else(|| format!("panicked: {}", text(payload)));
    pe.node.job.end(1, Some(format!("{}{} {what}", pe.who_runs(), place(pe))));
}

/// Which node that was, where there are several.
fn place(pe: &Pe) -> String {
    let node = &pe.node;
    if node.shape.nodes > 1 { format!(" (node {})", node.number) } else { String::new() }
}
