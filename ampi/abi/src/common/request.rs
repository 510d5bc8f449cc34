//! Waiting for one request, testing it, and giving it up (MPI-3.1, 3.7.3 and 3.8.4).

use std::ffi::c_int;

use talisman_ampi::engine::Token;
use talisman_ampi::objects::{Kept, Kind, Record};
use talisman_ampi::process::Process;
use talisman_ampi::raw;

use super::agreement::number_has_come;
use super::call::{Outcome, engine, known, known_or_null, looked, put};
use super::message::{Ended, ended, put_empty_status, put_status};
use super::own_request;
use crate::abi::{Abi, NULL};
use crate::class::Class;

/// A request that has ended.
#[derive(Clone, Copy)]
pub struct Taken {
    /// How.
    pub ended: Ended,
    /// What is known of it.
    pub record: Record,
}

/// The engine's name of a request.
pub fn token_of(process: &Process, number: u32) -> Result<Token, Class> {
    process.objects.requests.get(number).map(|record| record.token).ok_or(Class::Request)
}

/// Takes a request out that has ended; one that is persistent stays. `None` if it has not ended.
pub fn take<A: Abi>(process: &mut Process, number: u32) -> Result<Option<Taken>, Class> {
    let record = *process.objects.requests.get(number).ok_or(Class::Request)?;
    let Some(status) = process.engine.test(record.token)? else { return Ok(None) };
    let ended = ended::<A>(process, record.communicator, record.kind, &status);
    if !record.is_persistent {
        process.objects.close(number);
    }
    Ok(Some(Taken { ended, record }))
}

/// The program's handle of a request that has ended becomes null, unless it is persistent. Returns what its status
/// tells.
///
/// # Safety
/// `handle` is the program's handle of the request.
pub unsafe fn close<A: Abi>(handle: *mut A::Handle, number: u32, taken: Taken) -> Result<Ended, Class> {
    if taken.record.is_persistent {
        return Ok(taken.ended);
    }
    let ended = match taken.record.kind {
        Kept::Own(asks) => own_request::ended::<A>(asks)?,
        Kept::Duplicate { made, number_at } => {
            number_has_come(made, number_at)?;
            taken.ended
        }
        _ => taken.ended,
    };
    // SAFETY: the caller's promise; nobody uses the old handle any more.
    unsafe {
        A::forget(Kind::Request, number, handle.read_unaligned());
        put(handle, A::handle(Kind::Request, NULL))?;
    }
    Ok(ended)
}

/// Writes a status, and gives the error of an operation.
///
/// # Safety
/// As for [`put_status`].
unsafe fn tell<A: Abi>(ended: Ended, status: usize) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe { put_status::<A>(status, ended.told) };
    ended.error.map_or(Ok(()), Err)
}

unsafe fn wait_for<A: Abi>(handle: *mut A::Handle, status: usize) -> Outcome {
    // SAFETY: the caller's promise.
    let request = unsafe { known_or_null::<A>(Kind::Request, handle.read_unaligned()) }?;
    let Some(number) = request else {
        // SAFETY: the caller's promise.
        unsafe { put_empty_status::<A>(status) };
        return Ok(());
    };
    let token = engine(|process, _| token_of(process, number))?;
    raw::wait_all("MPI_Wait", &[token])?;
    let taken = engine(|process, _| take::<A>(process, number))?.ok_or(Class::Intern)?;
    // SAFETY: the caller's promise.
    unsafe {
        let ended = close::<A>(handle, number, taken)?;
        tell::<A>(ended, status)
    }
}

unsafe fn test_for<A: Abi>(handle: *mut A::Handle, flag: *mut c_int, status: usize) -> Outcome {
    // SAFETY: the caller's promise.
    let request = unsafe { known_or_null::<A>(Kind::Request, handle.read_unaligned()) }?;
    let Some(number) = request else {
        // SAFETY: the caller's promise.
        return unsafe {
            put_empty_status::<A>(status);
            put(flag, 1)
        };
    };
    let taken = looked(|| engine(|process, _| take::<A>(process, number)), Option::is_some)?;
    // SAFETY: the caller's promise.
    unsafe {
        put(flag, c_int::from(taken.is_some()))?;
        let Some(taken) = taken else { return Ok(()) };
        let ended = close::<A>(handle, number, taken)?;
        tell::<A>(ended, status)
    }
}

/// The program does not want it any more: it ends unseen.
unsafe fn free<A: Abi>(handle: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Request, handle.read_unaligned()) }?;
    let record = engine(|process, _| {
        let record = *process.objects.requests.get(number).ok_or(Class::Request)?;
        if matches!(record.kind, Kept::Duplicate { .. }) {
            // The communicator has no number until somebody waits for it.
            return Err(Class::Request);
        }
        process.free(record.token)?;
        process.objects.close(number);
        Ok(record)
    })?;
    if let Kept::Own(asks) = record.kind {
        own_request::free(asks);
    }
    // SAFETY: the caller's promise.
    unsafe {
        A::forget(Kind::Request, number, handle.read_unaligned());
        put(handle, A::handle(Kind::Request, NULL))
    }
}

unsafe fn take_back<A: Abi>(handle: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Request, handle.read_unaligned()) }?;
    let (kind, has_ended) = engine(|process, out| {
        let record = *process.objects.requests.get(number).ok_or(Class::Request)?;
        let has_ended = process.engine.status(record.token)?.is_some();
        process.engine.cancel(record.token, out)?;
        Ok((record.kind, has_ended))
    })?;
    match kind {
        Kept::Own(asks) => own_request::cancel(asks, has_ended),
        _ => Ok(()),
    }
}

super::calls! {
    "Wait" wait<>(request: *mut A::Handle, status: usize) => wait_for::<A>(request, status);
    "Test" test<>(request: *mut A::Handle, flag: *mut c_int, status: usize) => test_for::<A>(request, flag, status);
    "Request_free" request_free<>(request: *mut A::Handle) => free::<A>(request);
    "Cancel" cancel<>(request: *mut A::Handle) => take_back::<A>(request);
}
