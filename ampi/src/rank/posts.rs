//! What a rank's program gets from chares and tells them, beside MPI: posts, what it is called by, and its release.

use std::panic::Location;

use super::running::{CallError, Running, with};
use super::waiting::{not_in_operation, suspend_until};
use super::{Site, Texts};

/// The values that go into the program of the rank that calls, and come out of it.
pub(super) fn texts<T: Copy>(work: impl FnOnce(&mut Texts) -> T) -> Result<T, CallError> {
    with(|running| work(running.slots.texts))
}

/// Waits until a chare has sent something, and takes the first.
///
/// # Errors
/// If no rank calls.
pub(crate) fn next_post(call: &'static str, place: &'static Location<'static>) -> Result<Vec<u8>, CallError> {
    not_in_operation()?;
    loop {
        let is_there = with(|running| {
            *running.slots.site = Site::at(call, place);
            running.slots.texts.awaits_post = running.slots.texts.posts.is_empty();
            !running.slots.texts.awaits_post
        })?;
        if is_there {
            return bytes_of(|running| running.slots.texts.posts.pop_front().unwrap_or_default());
        }
        suspend_until(|slots| !slots.texts.awaits_post)?;
    }
}

/// What this rank is called by from outside, packed.
///
/// # Errors
/// If no rank calls.
pub(crate) fn mailbox() -> Result<Vec<u8>, CallError> {
    bytes_of(|running| running.slots.outside.mailbox())
}

/// Suspends the rank that calls until it is released.
///
/// # Errors
/// If no rank calls.
pub(crate) fn pause(call: &'static str, place: &'static Location<'static>) -> Result<(), CallError> {
    not_in_operation()?;
    with(|running| {
        *running.slots.is_paused = std::mem::take(running.slots.released) == 0;
        *running.slots.site = Site::at(call, place);
    })?;
    suspend_until(|slots| !*slots.is_paused)
}

/// Bytes that are made on the process's heap, on the rank's.
pub(super) fn bytes_of(work: impl FnOnce(&mut Running<'_>) -> Vec<u8>) -> Result<Vec<u8>, CallError> {
    let length = with(|running| {
        running.copied = work(running);
        running.copied.len()
    })?;
    let mut bytes = vec![0; length];
    with(|running| bytes.copy_from_slice(&std::mem::take(&mut running.copied)))?;
    Ok(bytes)
}
