//! Waiting for several requests, and testing them (MPI-3.1, 3.7.5).

use std::ffi::c_int;

use talisman_ampi::engine::Token;
use talisman_ampi::objects::Kind;
use talisman_ampi::process::Process;
use talisman_ampi::raw;

use super::call::{Outcome, engine, known_or_null, length, looked, put};
use super::message::{Ended, nothing, put_status};
use super::request::{Taken, close, take, token_of};
use crate::abi::Abi;
use crate::class::Class;

/// A request of a list: its number, and the engine's name of it.
type Listed = (u32, Token);

/// One that has ended: its place, its number, and how.
type Found = (usize, u32, Taken);

const NOBODY: Token = Token { index: u32::MAX, generation: u32::MAX };

/// The requests of a list; none for null handles. Lists are on the rank's heap, and are filled in on the process's.
unsafe fn requests<A: Abi>(count: c_int, handles: *mut A::Handle) -> Result<Vec<Option<Listed>>, Class> {
    let count = list_length::<A>(count, handles)?;
    let mut all = Vec::with_capacity(count);
    for at in 0..count {
        // SAFETY: the program's list has so many.
        let number = unsafe { known_or_null::<A>(Kind::Request, handles.add(at).read_unaligned()) }?;
        all.push(number.map(|number| (number, NOBODY)));
    }
    engine(|process, _| {
        for (number, token) in all.iter_mut().flatten() {
            *token = token_of(process, *number)?;
        }
        Ok(())
    })?;
    Ok(all)
}

fn tokens(requests: &[Option<Listed>]) -> Vec<Token> {
    requests.iter().flatten().map(|(_, token)| *token).collect()
}

/// Where the status at a place of a list is; what is ignored stays so.
fn status_at<A: Abi>(statuses: usize, at: usize) -> usize {
    match statuses {
        ignored if ignored == A::STATUS_IGNORE || ignored == 0 => A::STATUS_IGNORE,
        first => first + at * A::STATUS_SIZE,
    }
}

/// Writes the status and the error of one of several.
///
/// # Safety
/// Statuses are a list of the program with one at this place, or ignored.
pub unsafe fn tell<A: Abi>(statuses: usize, at: usize, ended: &Ended) {
    let status = status_at::<A>(statuses, at);
    if status != A::STATUS_IGNORE {
        // SAFETY: the program's list has a status for each.
        unsafe {
            put_status::<A>(status, ended.told);
            A::error_of(status).write_unaligned(ended.error.map_or(0, A::code));
        }
    }
}

/// Takes all out, which have ended.
unsafe fn take_all<A: Abi>(requests: &[Option<Listed>], handles: *mut A::Handle, statuses: usize) -> Outcome {
    let mut has_failed = false;
    for (at, request) in requests.iter().enumerate() {
        let ended = match request {
            None => Ended { told: nothing::<A>(), error: None },
            Some((number, _)) => {
                let taken = engine(|process, _| take::<A>(process, *number))?.ok_or(Class::Intern)?;
                // SAFETY: the program's handle of this request.
                unsafe { close::<A>(handles.add(at), *number, taken) }?
            }
        };
        has_failed |= ended.error.is_some();
        // SAFETY: the program's list has a status for each.
        unsafe { tell::<A>(statuses, at, &ended) };
    }
    if has_failed { Err(Class::InStatus) } else { Ok(()) }
}

unsafe fn wait_for_all<A: Abi>(count: c_int, handles: *mut A::Handle, statuses: usize) -> Outcome {
    // SAFETY: the caller's promise.
    let requests = unsafe { requests::<A>(count, handles) }?;
    raw::wait_all("MPI_Waitall", &tokens(&requests))?;
    // SAFETY: the caller's promise.
    unsafe { take_all::<A>(&requests, handles, statuses) }
}

/// The request at a place of a list, none if its handle is null. Looked at where it is: a program may look very often.
unsafe fn listed<A: Abi>(
    process: &Process,
    handles: *mut A::Handle,
    at: usize,
) -> Result<Option<Listed>, Class> {
    // SAFETY: the caller's promise: the program's list has so many.
    let number = unsafe { known_or_null::<A>(Kind::Request, handles.add(at).read_unaligned()) }?;
    number.map(|number| Ok((number, token_of(process, number)?))).transpose()
}

/// The length of a list, if there is one.
pub fn list_length<A: Abi>(count: c_int, handles: *const A::Handle) -> Result<usize, Class> {
    let count = length(count)?;
    if count > 0 && handles.is_null() { Err(Class::Request) } else { Ok(count) }
}

/// Whether all have ended.
unsafe fn have_ended<A: Abi>(handles: *mut A::Handle, count: usize) -> Result<bool, Class> {
    engine(|process, _| {
        let mut all = true;
        for at in 0..count {
            // SAFETY: the caller's promise.
            let Some((_, token)) = unsafe { listed::<A>(process, handles, at) }? else { continue };
            all &= process.engine.status(token)?.is_some();
        }
        Ok(all)
    })
}

unsafe fn test_for_all<A: Abi>(
    count: c_int,
    handles: *mut A::Handle,
    flag: *mut c_int,
    statuses: usize,
) -> Outcome {
    let n = list_length::<A>(count, handles)?;
    // SAFETY: the caller's promise.
    let have_ended = looked(|| unsafe { have_ended::<A>(handles, n) }, |have_ended| *have_ended)?;
    // SAFETY: the caller's promise.
    unsafe {
        put(flag, c_int::from(have_ended))?;
        match have_ended {
            true => take_all::<A>(&requests::<A>(count, handles)?, handles, statuses),
            false => Ok(()),
        }
    }
}

/// One that has ended, and whether there is any that could.
unsafe fn first_ended<A: Abi>(handles: *mut A::Handle, count: usize) -> Result<(Option<Found>, bool), Class> {
    engine(|process, _| {
        let mut is_any_active = false;
        for at in 0..count {
            // SAFETY: the caller's promise.
            let Some((number, token)) = unsafe { listed::<A>(process, handles, at) }? else { continue };
            if !process.engine.is_active(token)? {
                continue;
            }
            is_any_active = true;
            if let Some(taken) = take::<A>(process, number)? {
                return Ok((Some((at, number, taken)), true));
            }
        }
        Ok((None, is_any_active))
    })
}

/// What is told of one of several: its place, its status, its error.
unsafe fn tell_one<A: Abi>(
    found: Option<Found>,
    handles: *mut A::Handle,
    index: *mut c_int,
    status: usize,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let (at, ended) = match found {
            None => (A::UNDEFINED, Ended { told: nothing::<A>(), error: None }),
            Some((at, number, taken)) => (at as c_int, close::<A>(handles.add(at), number, taken)?),
        };
        put(index, at)?;
        put_status::<A>(status, ended.told);
        ended.error.map_or(Ok(()), Err)
    }
}

unsafe fn wait_for_any<A: Abi>(
    count: c_int,
    handles: *mut A::Handle,
    index: *mut c_int,
    status: usize,
) -> Outcome {
    // SAFETY: the caller's promise.
    let requests = unsafe { requests::<A>(count, handles) }?;
    raw::wait_any("MPI_Waitany", &tokens(&requests))?;
    // SAFETY: the caller's promise.
    unsafe {
        let (found, _) = first_ended::<A>(handles, requests.len())?;
        tell_one::<A>(found, handles, index, status)
    }
}

unsafe fn test_for_any<A: Abi>(
    count: c_int,
    handles: *mut A::Handle,
    index: *mut c_int,
    flag: *mut c_int,
    status: usize,
) -> Outcome {
    let n = list_length::<A>(count, handles)?;
    let is_over = |(found, is_any_active): &(Option<_>, bool)| found.is_some() || !is_any_active;
    // SAFETY: the caller's promise.
    let found = looked(|| unsafe { first_ended::<A>(handles, n) }, is_over)?;
    let (is_over, (found, _)) = (is_over(&found), found);
    // SAFETY: the caller's promise.
    unsafe {
        put(flag, c_int::from(is_over))?;
        match is_over {
            true => tell_one::<A>(found, handles, index, status),
            false => put(index, A::UNDEFINED),
        }
    }
}

/// Takes out all that have ended.
unsafe fn take_some<A: Abi>(
    requests: &[Option<Listed>],
    handles: *mut A::Handle,
    ended_count: *mut c_int,
    indices: *mut c_int,
    statuses: usize,
) -> Outcome {
    let (mut n, mut is_any_active, mut has_failed) = (0, false, false);
    for (at, request) in requests.iter().enumerate() {
        let Some((number, token)) = *request else { continue };
        let (is_active, taken) = engine(|process, _| match process.engine.is_active(token)? {
            true => Ok((true, take::<A>(process, number)?)),
            false => Ok((false, None)),
        })?;
        is_any_active |= is_active;
        let Some(taken) = taken else { continue };
        // SAFETY: the caller's promise.
        unsafe {
            let ended = close::<A>(handles.add(at), number, taken)?;
            has_failed |= ended.error.is_some();
            put(indices.add(n), at as c_int)?;
            tell::<A>(statuses, n, &ended);
        }
        n += 1;
    }
    // SAFETY: the caller's promise.
    unsafe { put(ended_count, if is_any_active { n as c_int } else { A::UNDEFINED }) }?;
    if has_failed { Err(Class::InStatus) } else { Ok(()) }
}

unsafe fn wait_for_some<A: Abi>(
    count: c_int,
    handles: *mut A::Handle,
    ended_count: *mut c_int,
    indices: *mut c_int,
    statuses: usize,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let requests = requests::<A>(count, handles)?;
        raw::wait_any("MPI_Waitsome", &tokens(&requests))?;
        take_some::<A>(&requests, handles, ended_count, indices, statuses)
    }
}

unsafe fn test_for_some<A: Abi>(
    count: c_int,
    handles: *mut A::Handle,
    ended_count: *mut c_int,
    indices: *mut c_int,
    statuses: usize,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let requests = requests::<A>(count, handles)?;
        let look = || take_some::<A>(&requests, handles, ended_count, indices, statuses);
        looked(look, |()| ended_count.read_unaligned() != 0)
    }
}

super::calls! {
    "Waitall" waitall<>(count: c_int, requests: *mut A::Handle, statuses: usize) => {
        wait_for_all::<A>(count, requests, statuses)
    };
    "Testall" testall<>(count: c_int, requests: *mut A::Handle, flag: *mut c_int, statuses: usize) => {
        test_for_all::<A>(count, requests, flag, statuses)
    };
    "Waitany" waitany<>(count: c_int, requests: *mut A::Handle, index: *mut c_int, status: usize) => {
        wait_for_any::<A>(count, requests, index, status)
    };
    "Testany" testany<>(
        count: c_int, requests: *mut A::Handle, index: *mut c_int, flag: *mut c_int, status: usize,
    ) => test_for_any::<A>(count, requests, index, flag, status);
    "Waitsome" waitsome<>(
        count: c_int, requests: *mut A::Handle, ended: *mut c_int, indices: *mut c_int, statuses: usize,
    ) => wait_for_some::<A>(count, requests, ended, indices, statuses);
    "Testsome" testsome<>(
        count: c_int, requests: *mut A::Handle, ended: *mut c_int, indices: *mut c_int, statuses: usize,
    ) => test_for_some::<A>(count, requests, ended, indices, statuses);
}
