//! Statuses of requests that stay as they are: of one, of any, of all and of some (MPI-4.1, 3.7.6).

use std::ffi::c_int;

use talisman_ampi::objects::Kind;
use talisman_ampi::process::Process;

use super::call::{Outcome, engine, known_or_null, looked, put};
use super::message::{Ended, ended, nothing, put_empty_status, put_status};
use super::several::{list_length, tell};
use crate::abi::Abi;
use crate::class::Class;

/// What is seen of a request.
#[derive(Clone, Copy)]
enum Seen {
    /// It is null, or persistent and not begun.
    Idle,
    /// It is under way.
    Pending,
    /// It has ended so.
    Ended(Ended),
}

impl Seen {
    /// How it has ended: what is idle has an empty status.
    fn ended<A: Abi>(self) -> Option<Ended> {
        match self {
            Seen::Idle => Some(Ended { told: nothing::<A>(), error: None }),
            Seen::Pending => None,
            Seen::Ended(ended) => Some(ended),
        }
    }
}

/// # Safety
/// The handle is the program's.
unsafe fn look<A: Abi>(process: &Process, handle: A::Handle) -> Result<Seen, Class> {
    // SAFETY: the caller's promise.
    let number = unsafe { known_or_null::<A>(Kind::Request, handle) }?;
    let Some(number) = number else { return Ok(Seen::Idle) };
    let record = *process.objects.requests.get(number).ok_or(Class::Request)?;
    if !process.engine.is_active(record.token)? {
        return Ok(Seen::Idle);
    }
    let status = process.engine.status(record.token)?;
    let ended = |status| Seen::Ended(ended::<A>(process, record.communicator, record.kind, &status));
    Ok(status.map_or(Seen::Pending, ended))
}

unsafe fn status_of<A: Abi>(handle: A::Handle, flag: *mut c_int, status: usize) -> Outcome {
    // SAFETY: the caller's promise.
    let look = || engine(|process, _| unsafe { look::<A>(process, handle) });
    let found = looked(look, |seen| !matches!(seen, Seen::Pending))?;
    // SAFETY: the caller's promise.
    unsafe {
        put(flag, c_int::from(!matches!(found, Seen::Pending)))?;
        match found {
            Seen::Pending => Ok(()),
            Seen::Idle => {
                put_empty_status::<A>(status);
                Ok(())
            }
            Seen::Ended(Ended { told, error }) => {
                put_status::<A>(status, told);
                error.map_or(Ok(()), Err)
            }
        }
    }
}

/// The request at a place of a list of so many.
unsafe fn look_at<A: Abi>(process: &Process, handles: *const A::Handle, at: usize) -> Result<Seen, Class> {
    // SAFETY: the caller's promise: the program's list has so many.
    unsafe { look::<A>(process, handles.add(at).read_unaligned()) }
}

unsafe fn status_of_any<A: Abi>(
    count: c_int,
    handles: *const A::Handle,
    (index, flag, status): (*mut c_int, *mut c_int, usize),
) -> Outcome {
    let n = list_length::<A>(count, handles)?;
    // The first that has ended, or nothing to wait for.
    let look = || {
        engine(|process, _| {
            let mut is_any_pending = false;
            for at in 0..n {
                // SAFETY: the caller's promise.
                match unsafe { look_at::<A>(process, handles, at) }? {
                    Seen::Ended(ended) => return Ok(Some((at as c_int, ended))),
                    Seen::Pending => is_any_pending = true,
                    Seen::Idle => {}
                }
            }
            let nothing = Ended { told: nothing::<A>(), error: None };
            Ok((!is_any_pending).then_some((A::UNDEFINED, nothing)))
        })
    };
    let found = looked(look, Option::is_some)?;
    // SAFETY: the caller's promise.
    unsafe {
        put(flag, c_int::from(found.is_some()))?;
        put(index, found.map_or(A::UNDEFINED, |(at, _)| at))?;
        let Some((_, Ended { told, error })) = found else { return Ok(()) };
        put_status::<A>(status, told);
        error.map_or(Ok(()), Err)
    }
}

unsafe fn status_of_all<A: Abi>(
    count: c_int,
    handles: *const A::Handle,
    flag: *mut c_int,
    statuses: usize,
) -> Outcome {
    let n = list_length::<A>(count, handles)?;
    // SAFETY: the caller's promise.
    let seen = |at| engine(|process, _| unsafe { look_at::<A>(process, handles, at) }.map(Seen::ended::<A>));
    let have_ended = || (0..n).try_fold(true, |all, at| Ok(all & seen(at)?.is_some()));
    let have_ended = looked(have_ended, |have_ended| *have_ended)?;
    // SAFETY: the caller's promise.
    unsafe { put(flag, c_int::from(have_ended)) }?;
    let mut has_failed = false;
    for at in (0..n).filter(|_| have_ended) {
        let ended = seen(at)?.ok_or(Class::Intern)?;
        has_failed |= ended.error.is_some();
        // SAFETY: the caller's promise.
        unsafe { tell::<A>(statuses, at, &ended) };
    }
    if has_failed { Err(Class::InStatus) } else { Ok(()) }
}

unsafe fn status_of_some<A: Abi>(
    count: c_int,
    handles: *const A::Handle,
    (ended_count, indices): (*mut c_int, *mut c_int),
    statuses: usize,
) -> Outcome {
    let n = list_length::<A>(count, handles)?;
    // SAFETY: the caller's promise.
    let seen = |at| engine(|process, _| unsafe { look_at::<A>(process, handles, at) });
    // Whether all are idle, and how many have ended.
    let look = || {
        (0..n).try_fold((true, 0), |(are_idle, ended), at| {
            let seen = seen(at)?;
            let (is_idle, has_ended) = (matches!(seen, Seen::Idle), matches!(seen, Seen::Ended(_)));
            Ok((are_idle && is_idle, ended + c_int::from(has_ended)))
        })
    };
    let (are_idle, total) = looked(look, |(are_idle, ended)| *are_idle || *ended > 0)?;
    let (mut told, mut has_failed) = (0, false);
    for at in (0..n).filter(|_| total > 0) {
        let Seen::Ended(ended) = seen(at)? else { continue };
        has_failed |= ended.error.is_some();
        // SAFETY: the caller's promise: both lists have room for all.
        unsafe {
            put(indices.add(told), at as c_int)?;
            tell::<A>(statuses, told, &ended);
        }
        told += 1;
    }
    // SAFETY: the caller's promise.
    unsafe { put(ended_count, if are_idle { A::UNDEFINED } else { told as c_int }) }?;
    if has_failed { Err(Class::InStatus) } else { Ok(()) }
}

super::calls! {
    "Request_get_status" request_get_status<>(request: A::Handle, flag: *mut c_int, status: usize) => {
        status_of::<A>(request, flag, status)
    };
    "Request_get_status_any" request_get_status_any<>(
        count: c_int, requests: *const A::Handle, index: *mut c_int, flag: *mut c_int, status: usize,
    ) => status_of_any::<A>(count, requests, (index, flag, status));
    "Request_get_status_all" request_get_status_all<>(
        count: c_int, requests: *const A::Handle, flag: *mut c_int, statuses: usize,
    ) => status_of_all::<A>(count, requests, flag, statuses);
    "Request_get_status_some" request_get_status_some<>(
        count: c_int, requests: *const A::Handle, ended: *mut c_int, indices: *mut c_int, statuses: usize,
    ) => status_of_some::<A>(count, requests, (ended, indices), statuses);
}
