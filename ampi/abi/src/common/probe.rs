//! Looking for messages (MPI-3.1, 3.8.1).

use std::ffi::c_int;

use talisman_ampi::objects::{Kept, Kind};
use talisman_ampi::raw;

use super::call::{Outcome, engine, known, probed, put};
use super::message::{from_nobody, pattern, put_status, told};
use crate::abi::Abi;

unsafe fn wait_for<A: Abi>(source: c_int, tag: c_int, communicator: A::Handle, status: usize) -> Outcome {
    // SAFETY: the caller's promise.
    let communicator = unsafe { known::<A>(Kind::Comm, communicator) }?;
    let Some(pattern) = engine(|process, _| pattern::<A>(process, communicator, source, tag))? else {
        // SAFETY: the caller's promise.
        unsafe { put_status::<A>(status, from_nobody::<A>()) };
        return Ok(());
    };
    // What was there may have been taken back by its sender before the rank had its turn.
    let found = loop {
        raw::wait_message("MPI_Probe", pattern)?;
        let found = engine(|process, _| {
            let found = process.engine.probe(&pattern);
            Ok(found.map(|found| told::<A>(process, communicator, Kept::Receive, &found)))
        })?;
        if let Some(found) = found {
            break found;
        }
    };
    // SAFETY: the caller's promise.
    unsafe { put_status::<A>(status, found) };
    Ok(())
}

unsafe fn look_for<A: Abi>(
    source: c_int,
    tag: c_int,
    communicator: A::Handle,
    flag: *mut c_int,
    status: usize,
) -> Outcome {
    // SAFETY: the caller's promise.
    let communicator = unsafe { known::<A>(Kind::Comm, communicator) }?;
    let look = || {
        engine(|process, _| {
            let Some(pattern) = pattern::<A>(process, communicator, source, tag)? else {
                return Ok(Some(from_nobody::<A>()));
            };
            if process.finds_nothing() {
                return Ok(None);
            }
            let found = process.engine.probe(&pattern);
            Ok(found.map(|found| told::<A>(process, communicator, Kept::Receive, &found)))
        })
    };
    let found = probed(look)?;
    // SAFETY: the caller's promise.
    unsafe {
        put(flag, c_int::from(found.is_some()))?;
        if let Some(told) = found {
            put_status::<A>(status, told);
        }
    }
    Ok(())
}

super::calls! {
    "Probe" probe<>(source: c_int, tag: c_int, communicator: A::Handle, status: usize) on communicator => {
        wait_for::<A>(source, tag, communicator, status)
    };
    "Iprobe" iprobe<>(
        source: c_int, tag: c_int, communicator: A::Handle, flag: *mut c_int, status: usize,
    ) on communicator => look_for::<A>(source, tag, communicator, flag, status);
}
