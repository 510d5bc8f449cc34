//! Files that a rank has open, when it moves or is copied.
//!
//! A descriptor is the process's. A rank's are in a range of numbers of its own ([`Numbers`]), the same in each
//! process, so that a number and what it means can be made again anywhere: before the rank leaves, paths and positions
//! are written into its [`State`] and all is closed; where it arrives files are opened by their paths again.

pub(super) mod appended;
mod calls;
mod departed;
mod directory_streams;
mod held;
mod hold_changes;
mod locks;
mod makers;
mod numbers;
mod openers;
pub(super) mod stand_ins;
mod stream;
mod temporary_names;
mod told_contents;
mod undo_log;
mod writers;

use std::ffi::CStr;
use std::io;
use std::ops::Range;

use super::list::List;
use super::outcome::may_run_again;
use super::{State, with_process_memory};
use crate::LoadError;
use crate::linker::loaded;
pub use departed::Departed;
pub use held::Reason;
pub(super) use locks::Locks;
pub(super) use makers::{adopt, adopt_stream};
pub(super) use numbers::Descriptors;
pub use numbers::{Numbers, TooManyDescriptors};
pub use stream::{prepare_streams, streams_are_known};
pub use undo_log::{UndoLogs, before_shared_write, before_write, keep_undo_logs};
pub(super) use undo_log::{before_cut_at, before_loss, before_rename, note_made_at};

/// A file that cannot move with its rank.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// It is no file, or has no name any more: [`State::held`] says so before.
    #[error("a pipe, socket or deleted file (descriptor {descriptor}) cannot move with its rank")]
    NoFile {
        /// Its descriptor.
        descriptor: i32,
    },
    /// It cannot be opened again.
    #[error("cannot open {path} again after a move: {error}")]
    Gone {
        /// The file.
        path: String,
        /// The system's reason.
        error: io::Error,
    },
    /// Somebody else in this process has the number of a descriptor.
    #[error(
        "descriptor {descriptor} of a rank that has arrived is taken: limit the numbers that this process uses"
    )]
    Taken {
        /// Its number.
        descriptor: i32,
    },
    /// A library that the rank has loaded later is not here.
    #[error(transparent)]
    Library(Box<LoadError>),
    /// What was written over since a checkpoint cannot be put back.
    #[error("cannot put back what {path} had at the checkpoint: {error}")]
    Undo {
        /// The file, or the log.
        path: String,
        /// The system's reason.
        error: io::Error,
    },
    /// There is no memory for what has to be remembered.
    #[error("no memory is left to remember open files")]
    Memory,
}

/// The function that answers for this one of the C library.
pub(super) fn symbol(name: &str) -> Option<usize> {
    let parts = [
        calls::symbol,
        openers::symbol,
        makers::symbol,
        temporary_names::symbol,
        directory_streams::symbol,
        hold_changes::symbol,
        locks::symbol,
        stream::symbol,
        writers::symbol,
    ];
    parts.iter().find_map(|part: &fn(&str) -> Option<usize>| part(name))
}

/// Closes the descriptors of a rank and the streams that lie in these addresses, the rank's. The rank does not run;
/// `malloc` gives memory of the rank while this is called.
///
/// # Errors
/// If one of them is no file. Then none is closed.
///
/// # Safety
/// The state is that of a rank whose streams these are; none of them is in use.
pub unsafe fn files_depart(state: *mut State, slot: Range<usize>) -> Result<(), FilesError> {
    // SAFETY: the caller's promise.
    let state = unsafe { &mut *state };
    state.locks.release_all();
    stand_ins::go_on(state);
    let streams = stream::streams_in(&slot);
    let noted = note(state, &streams, false);
    if noted.is_err() {
        forget(&mut state.departed);
        return noted;
    }
    for file in streams {
        // SAFETY: a stream of the library's list, which nobody uses; its memory stays as it is.
        unsafe { stream::take_from_list(file) };
        if state.descriptors.number(stream::descriptor(file)).is_none() {
            // SAFETY: the stream's own.
            unsafe { ::libc::close(stream::descriptor(file)) };
        }
    }
    state.descriptors.close_all();
    Ok(())
}

/// Writes what is open into the state, streams last: they are written out first, so that positions are right.
fn note(state: &mut State, streams: &[usize], is_copy: bool) -> Result<(), FilesError> {
    streams.iter().for_each(|file| stream::write_out(*file));
    forget(&mut state.departed);
    for entry in state.descriptors.entries(is_copy) {
        push(state, entry?)?;
    }
    for file in streams {
        let own = state.descriptors.number(stream::descriptor(*file)).is_some();
        let entry = if own { Departed::of_stream(*file) } else { Departed::stream_and_file(*file)? };
        push(state, entry)?;
    }
    Ok(())
}

fn push(state: &mut State, entry: Departed) -> Result<(), FilesError> {
    if state.departed.push(entry.with_content()?) { Ok(()) } else { Err(FilesError::Memory) }
}

fn has_contents(departed: &List<Departed>) -> bool {
    (0..departed.len()).filter_map(|index| departed.get(index)).any(|entry| entry.has_content())
}

/// Forgets what was noted, and gives all memory back.
fn forget(departed: &mut List<Departed>) {
    (0..departed.len()).filter_map(|index| departed.get(index)).for_each(|entry| entry.forget_content());
    departed.clear();
}

/// A rank is about to be copied. `malloc` gives memory of the rank while this is called.
///
/// # Safety
/// The state is that of the rank, which does not run.
pub unsafe fn files_settle(state: *mut State) {
    // SAFETY: the caller's promise.
    stand_ins::go_on(unsafe { &mut *state });
}

/// The streams that lie in these addresses, a rank's, for a copy of the rank: it finds them as they are now, and files
/// that they write to as long as they are now. Such as are no files are passed over: the copy has none. The rank does
/// not run.
pub fn files_open(slot: Range<usize>) -> Vec<Departed> {
    let streams = stream::streams_in(&slot);
    streams.iter().for_each(|file| stream::write_out(*file));
    streams.into_iter().filter_map(|file| Some(Departed::stream_and_file(file).ok()?.with_length())).collect()
}

/// Notes these streams, and the rank's descriptors, in a rank that is about to be copied. If they have been noted
/// before, nothing is changed. `malloc` gives memory of the rank while this is called.
///
/// # Safety
/// The state is that of the rank, which does not run.
pub unsafe fn files_note(state: *mut State, open: &[Departed]) {
    // SAFETY: the caller's promise.
    let state = unsafe { &mut *state };
    if state.is_uncut {
        return;
    }
    if has_contents(&state.departed) {
        forget(&mut state.departed);
    }
    undo_log::begin_period(state);
    let mut count = 0;
    // What is no file, or what there is no memory for, is not opened in the copy.
    for entry in state.descriptors.entries(true).flatten().filter_map(|entry| entry.with_content().ok()) {
        match state.departed.set(count, entry) {
            true => count += 1,
            false => entry.forget_content(),
        }
    }
    for stream in open {
        let own = state.descriptors.number(stream.descriptor()).is_some();
        let entry = if own { Departed::of_stream(stream.stream()) } else { *stream };
        count += usize::from(state.departed.set(count, entry));
    }
    let amid = open.iter().filter(|stream| stream.is_amid());
    undo_log::note_streams(state, amid.map(Departed::descriptor));
    // A lost rank that goes back alone does not write again what it has appended.
    let closed = if may_run_again() { 0 } else { state.appended.len() };
    if may_run_again() {
        appended::note_lengths(state);
    }
    for index in 0..closed {
        if let Some(entry) = state.appended.get(index).and_then(|file| file.noted()) {
            count += usize::from(state.departed.set(count, entry));
        }
    }
    state.departed.shorten(count);
}

/// Opens again what [`files_depart`] has closed, or [`files_note`] has noted for this copy: then [`files_restored`] has to
/// be called before the rank runs, and until then nothing new is noted.
///
/// # Errors
/// The first file that is not there any more, or descriptor that is taken; all others are open then.
///
/// # Safety
/// The state has arrived at its addresses with all its memory. `malloc` gives memory of the rank.
pub unsafe fn files_arrive(state: *mut State) -> Result<(), FilesError> {
    // SAFETY: the caller's promise.
    let state = unsafe { &mut *state };
    state.children.arrive();
    state.process_locale.arrive();
    let library = loaded::take_missing(state.base);
    let mut result = library.map_or(Ok(()), |error| Err(FilesError::Library(Box::new(error))));
    for index in 0..state.departed.len() {
        let Some(entry) = state.departed.get(index) else { break };
        state.is_uncut |= entry.has_length();
        // SAFETY: a stream or file that has departed, or was noted for this copy.
        result = result.and(unsafe { entry.open_again(&mut state.stand_ins) });
        if entry.has_stand_in() {
            state.descriptors.note_own(entry.descriptor());
        }
    }
    if !state.is_uncut {
        forget(&mut state.departed);
    }
    result
}

/// Files that a rank's copy writes to, and the lengths that they had when it was made: others may have the same ones, and
/// have noted them a little later, when more was in them.
///
/// # Safety
/// The state has arrived ([`files_arrive`]).
pub unsafe fn files_noted(state: *const State) -> Vec<(Vec<u8>, u64)> {
    // SAFETY: the caller's promise.
    let State { departed, period, owner, .. } = unsafe { &*state };
    let lengths = (0..departed.len()).filter_map(|index| departed.get(index)?.noted());
    // Who goes back alone puts back its own.
    let undone = (*period > 0 && !may_run_again()).then(|| (undo_log::key(*owner), *period));
    lengths.chain(undone).collect()
}

/// Cuts the files that a rank's copy writes to back to the greatest length that any copy of the same time has noted
/// ([`files_noted`]): `greatest` says which. All have to be cut before any of the ranks goes on.
///
/// # Errors
/// The first file that cannot be cut; the others are.
///
/// # Safety
/// As for [`files_noted`]. `malloc` gives memory of the rank.
pub unsafe fn files_restored(
    state: *mut State,
    greatest: impl Fn(&[u8]) -> Option<u64>,
) -> Result<(), FilesError> {
    // SAFETY: the caller's promise.
    let state = unsafe { &mut *state };
    let mut result = undo_log::undo(state, &greatest);
    for index in 0..state.departed.len() {
        let Some(entry) = state.departed.get(index) else { break };
        if let Some((file, length)) = with_process_memory(|| entry.noted()) {
            result = result.and(entry.cut(greatest(&file).map_or(length, |greatest| greatest.max(length))));
            with_process_memory(|| drop(file));
        }
    }
    state.is_uncut = false;
    forget(&mut state.departed);
    appended::restored(state);
    state.descriptors.forget_closed();
    result
}

/// All have put back and cut what they write to. What was opened again by its name before, where another file had that, is opened once
/// more.
///
/// # Safety
/// As for [`files_noted`].
pub unsafe fn files_go_on(state: *const State) {
    // SAFETY: the caller's promise.
    unsafe { (*state).descriptors.open() }.for_each(departed::open_replaced);
}

/// Closes what a rank has open that is never to run again; unless threads of it run on, which may wait for any of that: they end
/// with the process.
///
/// # Safety
/// As for [`files_depart`].
pub unsafe fn files_end(state: *mut State, slot: Range<usize>) {
    // SAFETY: the caller's promise.
    let runs_on = unsafe { (*state).has_live_threads() };
    let streams = stream::streams_in(&slot);
    streams.iter().for_each(|file| stream::write_out(*file));
    // SAFETY: the caller's promise.
    stand_ins::settle_all(unsafe { &*state });
    for file in streams.into_iter().filter(|_| !runs_on) {
        // SAFETY: a stream of the library's list, which nobody uses.
        unsafe {
            stream::take_from_list(file);
            ::libc::close(stream::descriptor(file));
        }
    }
    if !runs_on {
        // SAFETY: the caller's promise.
        unsafe {
            (*state).locks.release_all();
            (*state).descriptors.close_all();
        }
    }
}

fn gone(path: &CStr) -> FilesError {
    FilesError::Gone { path: path.to_string_lossy().into_owned(), error: io::Error::last_os_error() }
}
