//! What calls about messages have in common: buffers, envelopes, patterns, and what statuses tell.

use std::ffi::c_int;

use talisman_ampi::comm::Communicator;
use talisman_ampi::engine::{Area, Buffer, Envelope, Pattern, Status, Token};
use talisman_ampi::objects::{Kept, Record};
use talisman_ampi::process::Process;
use talisman_ampi::raw;

use super::call::{Outcome, local};
use crate::abi::{Abi, Told};
use crate::class::Class;

/// The number of `MPI_MESSAGE_NO_PROC`.
pub const NO_PROC: u32 = u32::MAX - 1;

/// How an operation has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// For its status.
    pub told: Told,
    /// What went wrong.
    pub error: Option<Class>,
}

/// What an operation without a message tells.
pub fn nothing<A: Abi>() -> Told {
    Told { source: A::ANY_SOURCE, tag: A::ANY_TAG, bytes: 0, is_cancelled: false }
}

/// What a receive from no process tells.
pub fn from_nobody<A: Abi>() -> Told {
    Told { source: A::PROC_NULL, ..nothing::<A>() }
}

/// Values of the program: so many of a datatype.
#[inline(always)]
pub fn buffer(process: &Process, at: usize, count: i64, datatype: u32) -> Result<Buffer, Class> {
    let count = u64::try_from(count).map_err(|_| Class::Count)?;
    let size = process.datatypes.get(datatype)?.size();
    let bytes = count.checked_mul(size).ok_or(Class::Count)?;
    Ok(Buffer { area: Area::Memory, at: at as u64, count, datatype, bytes })
}

/// Where a message goes; none if to no process.
#[inline]
pub fn envelope<A: Abi>(
    process: &Process,
    communicator: u32,
    to: c_int,
    tag: c_int,
) -> Result<Option<Envelope>, Class> {
    let communicator = process.comms.get(communicator)?;
    if to == A::PROC_NULL {
        return Ok(None);
    }
    if tag < 0 {
        return Err(Class::Tag);
    }
    let to = u32::try_from(to).ok().and_then(|number| communicator.world_rank(number)).ok_or(Class::Rank)?;
    Ok(Some(Envelope { context: communicator.contexts().user, to, tag }))
}

/// What a receive accepts; none if it is from no process.
#[inline]
pub fn pattern<A: Abi>(
    process: &Process,
    communicator: u32,
    source: c_int,
    tag: c_int,
) -> Result<Option<Pattern>, Class> {
    let communicator = process.comms.get(communicator)?;
    if source == A::PROC_NULL {
        return Ok(None);
    }
    let tag = match tag {
        any if any == A::ANY_TAG => None,
        tag if tag < 0 => return Err(Class::Tag),
        tag => Some(tag),
    };
    let source = match source {
        any if any == A::ANY_SOURCE => None,
        source => Some(u32::try_from(source).map_err(|_| Class::Rank)?),
    };
    communicator.pattern(source, tag).map(Some).ok_or(Class::Rank)
}

/// A communicator, also one that was freed and has requests.
fn communicator_of(process: &Process, handle: u32) -> Option<&Communicator> {
    process.comms.get(handle).ok().or_else(|| process.objects.retired.get(&handle))
}

/// What a status says in words of the interface.
pub fn told<A: Abi>(process: &Process, communicator: u32, kind: Kept, status: &Status) -> Told {
    if let Kept::Nobody = kind {
        return from_nobody::<A>();
    }
    let number = |rank| communicator_of(process, communicator)?.number_of(rank);
    Told {
        source: status.source.and_then(number).map_or(A::ANY_SOURCE, |number| number as c_int),
        tag: status.tag.unwrap_or(A::ANY_TAG),
        bytes: status.truncated.map_or(status.bytes, |truncated| truncated.buffer),
        is_cancelled: status.cancelled,
    }
}

/// The same with its error.
pub fn ended<A: Abi>(process: &Process, communicator: u32, kind: Kept, status: &Status) -> Ended {
    Ended { told: told::<A>(process, communicator, kind, status), error: error_of(status) }
}

/// What went wrong with an operation.
pub fn error_of(status: &Status) -> Option<Class> {
    status.truncated.map(|_| Class::Truncate)
}

/// Whether the program ignores this status.
pub fn is_ignored<A: Abi>(at: usize) -> bool {
    at == A::STATUS_IGNORE || at == 0
}

/// Writes a status, unless the program ignores it.
///
/// # Safety
/// `at` is a status of the program, or what says that it is ignored.
pub unsafe fn put_status<A: Abi>(at: usize, told: Told) {
    if !is_ignored::<A>(at) {
        // SAFETY: the caller's promise.
        unsafe { A::write_status(at, told) };
    }
}

/// Writes the status of what is no operation, unless the program ignores it: of an empty one the error is there, too (MPI-3.1, 3.7.3).
///
/// # Safety
/// As for [`put_status`].
pub unsafe fn put_empty_status<A: Abi>(at: usize) {
    if !is_ignored::<A>(at) {
        // SAFETY: the caller's promise.
        unsafe {
            A::write_status(at, nothing::<A>());
            A::error_of(at).write_unaligned(0);
        }
    }
}

/// Waits for a request that the program has no handle of.
pub fn wait_for<A: Abi>(name: &'static str, communicator: u32, token: Token) -> Result<Ended, Class> {
    raw::wait_all(name, &[token])?;
    received::<A>(communicator, token)
}

/// How a request has ended that the program has no handle of.
fn received<A: Abi>(communicator: u32, token: Token) -> Result<Ended, Class> {
    local(|process| {
        let status = process.engine.test(token)?.ok_or(Class::Intern)?;
        Ok(ended::<A>(process, communicator, Kept::Receive, &status))
    })
}

/// The same, where only errors count.
pub fn wait_without_status<A: Abi>(name: &'static str, token: Token) -> Outcome {
    let ended = wait_for::<A>(name, 0, token)?;
    ended.error.map_or(Ok(()), Err)
}

/// A request that the program gets a handle of.
pub fn record(token: Token, communicator: u32, kind: Kept) -> Record {
    Record { token, communicator, is_persistent: false, kind }
}
