//! How a rank ends, and with it the job.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use talisman_ampi::rank;
use talisman_ampi::slot::on_process_heap;
use talisman_loader::libc::{Ended, is_own_thread};

use crate::{control, slice, waits};

/// What shells make of a process that has aborted: 128 and the number of SIGABRT.
const ABORTED: u8 = 128 + libc::SIGABRT as u8;

/// The program of the rank that calls has ended: its exit status if the job goes on, which is 0.
pub fn end(ended: Option<Ended>) -> i32 {
    control::flush();
    let (rank, lacks) = control::with(|control| {
        control.streams.finish();
        let lacks = match control.has_begun && !control.has_finished {
            true => Some("MPI_Finalize"),
            false => control.has_session.then_some("MPI_Session_finalize"),
        };
        (control.rank, lacks)
    });
    match (ended.map(status), lacks) {
        (None, _) => {
            rank::end_job(1, &format!("rank {rank} has no memory for its arguments and its environment"))
        }
        (Some(0), Some(function)) => fail(1, &format!("rank {rank} ended before it called {function}")),
        (Some(0), None) => 0,
        (Some(ABORTED), _) => abort(ABORTED, &format!("rank {rank} aborted")),
        (Some(status), _) => fail(status, &format!("rank {rank} ended with status {status}")),
    }
}

/// How the first rank of this process has failed: others fail after it, often because of it.
static FIRST: OnceLock<(u8, String)> = OnceLock::new();

/// For how long others go on when a rank has failed.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// After which time one of them is interrupted meanwhile, if it computes.
const SLICE: Duration = Duration::from_millis(10);

/// The rank that calls has ended the job by its status. Where each rank is a process all of them get as far as this one
/// did, mostly: the first one says how the program is used, and all end with a status. So others have their turn before
/// the job ends.
fn fail(status: u8, why: &str) -> ! {
    on_process_heap(|| FIRST.get_or_init(|| (status, why.to_owned())));
    slice::set_if_none(SLICE);
    waits::sleep(LAST_WORDS.as_nanos() as u64);
    abort(status, why)
}

/// The job ends with this, or with what has failed before.
pub fn abort(status: u8, why: &str) -> ! {
    if is_own_thread() {
        end_by_thread(status, &format!("{why}; a thread that the rank has started called it"));
    }
    let (status, why) = FIRST.get().map_or((status, why), |(status, why)| (*status, why));
    rank::end_job(status, why)
}

/// For how long a thread waits for its rank to end the job.
const PATIENCE: Duration = Duration::from_secs(5);

/// The status of a process that ends with this: its lowest 8 bits. That others do not go on is a failure, whatever the
/// program says of itself.
pub fn failure(status: i32) -> u8 {
    match status as u8 {
        0 => 1,
        status => status,
    }
}

/// A thread has its rank end the job. If that is where nobody hears it, its process ends, and with it the job.
pub fn end_by_thread(status: u8, why: &str) -> ! {
    watch(status, why.to_owned());
    rank::end_job(status, why)
}

/// A thread has its rank end, by this function with these two numbers. If that is where nobody hears it, the process ends.
pub fn end_rank_by_thread(end: fn(i32, i32) -> !, how: i32, status: i32) -> ! {
    let why = "a thread of a rank has called exit, and the rank does nothing in which it would hear of it";
    let is_heard = watch(failure(status), why.into());
    is_heard.store(rank::end_by_thread(end, how, status).is_ok(), Ordering::Relaxed);
    loop {
        std::thread::park();
    }
}

/// After a while the process ends, unless this is set until then.
fn watch(status: u8, why: String) -> Arc<AtomicBool> {
    let is_heard = Arc::new(AtomicBool::new(false));
    let seen = is_heard.clone();
    std::thread::spawn(move || {
        std::thread::sleep(PATIENCE);
        if !seen.load(Ordering::Relaxed) {
            eprintln!("talisman-mpi: error: {why}");
            // SAFETY: a number.
            unsafe { libc::_exit(status.into()) }
        }
    });
    is_heard
}

/// As a shell sees it.
fn status(ended: Ended) -> u8 {
    match ended {
        Ended::Exited(status) => (status & 0xff) as u8,
        Ended::Aborted => ABORTED,
    }
}

/// What `assert` calls.
///
/// # Safety
/// As the C library's function.
unsafe extern "C" fn assert_fail(
    assertion: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    let text = |text: *const c_char| match text.is_null() {
        true => "?".into(),
        // SAFETY: a string of the program's, by its promise.
        false => unsafe { CStr::from_ptr(text) }.to_string_lossy(),
    };
    control::flush();
    let rank = control::with(|control| control.rank);
    let place = format!("{}:{line}: {}", text(file), text(function));
    rank::end_job(ABORTED, &format!("rank {rank}: {place}: assertion `{}` failed", text(assertion)))
}

/// The functions, by the names that programs ask for.
pub fn symbol(name: &str) -> Option<usize> {
    (name == "__assert_fail").then_some(assert_fail as *const () as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_those_of_a_shell() {
        let all = [Ended::Exited(0), Ended::Exited(5), Ended::Exited(-1), Ended::Exited(256), Ended::Aborted];
        assert_eq!(all.map(status), [0, 5, 255, 0, 134]);
    }
}
