//! Matched probes: who has found a message receives it (MPI-3.1, 3.8.2).

use std::ffi::c_int;

use talisman_ampi::engine::{Buffer, Owner, Pattern, Token};
use talisman_ampi::objects::{Kept, Kind};
use talisman_ampi::process::Process;
use talisman_ampi::raw;

use super::call::{engine, known, probed, put};
use super::message::{NO_PROC, buffer, from_nobody, pattern, put_status, record, told, wait_for};
use crate::abi::{Abi, NULL, Told};
use crate::class::Class;

/// Takes a message out that is there.
fn take<A: Abi>(process: &mut Process, communicator: u32, pattern: &Pattern) -> Option<(u32, Told)> {
    let (held, status) = process.engine.matched_probe(pattern)?;
    let told = told::<A>(process, communicator, Kept::Receive, &status);
    Some((process.objects.messages.insert((held, communicator)), told))
}

/// Takes a message out: if there is none, waits or not.
unsafe fn find<A: Abi>(
    (source, tag, communicator): (c_int, c_int, A::Handle),
    waits: bool,
    message: *mut A::Handle,
    status: usize,
) -> Result<bool, Class> {
    // SAFETY: the caller's promise.
    let communicator = unsafe { known::<A>(Kind::Comm, communicator) }?;
    let pattern = engine(|process, _| pattern::<A>(process, communicator, source, tag))?;
    let found = match pattern {
        None => Some((NO_PROC, from_nobody::<A>())),
        // What was there may have been taken back by its sender before the rank had its turn.
        Some(pattern) if waits => loop {
            raw::wait_message("MPI_Mprobe", pattern)?;
            let found = engine(|process, _| Ok(take::<A>(process, communicator, &pattern)))?;
            if found.is_some() {
                break found;
            }
        },
        Some(pattern) => probed(|| {
            engine(|process, _| {
                let finds = !process.finds_nothing();
                Ok(finds.then(|| take::<A>(process, communicator, &pattern)).flatten())
            })
        })?,
    };
    let Some((number, told)) = found else { return Ok(false) };
    // SAFETY: the caller's promise.
    unsafe {
        put(message, A::handle(Kind::Message, number))?;
        put_status::<A>(status, told);
    }
    Ok(true)
}

/// Begins to receive a message; none if it is of no process. The program's handle becomes null.
unsafe fn receive<A: Abi>(
    (at, count, datatype): (usize, i64, A::Handle),
    message: *mut A::Handle,
) -> Result<Option<(Token, u32)>, Class> {
    // SAFETY: the caller's promise.
    let (number, datatype) = unsafe {
        (known::<A>(Kind::Message, message.read_unaligned())?, known::<A>(Kind::Datatype, datatype)?)
    };
    let begun = engine(|process, out| {
        let into: Buffer = buffer(process, at, count, datatype)?;
        if number == NO_PROC {
            return Ok(None);
        }
        let (held, communicator) = process.objects.messages.remove(number).ok_or(Class::Request)?;
        let token = process.engine.receive_held(held, into, Owner::User, out).ok_or(Class::Request)?;
        Ok(Some((token, communicator)))
    })?;
    // SAFETY: the caller's promise; the old handle is used by nobody.
    unsafe {
        A::forget(Kind::Message, number, message.read_unaligned());
        put(message, A::handle(Kind::Message, NULL))?;
    }
    Ok(begun)
}

super::calls! {
    "Mprobe" mprobe<>(
        source: c_int, tag: c_int, communicator: A::Handle, message: *mut A::Handle, status: usize,
    ) on communicator => find::<A>((source, tag, communicator), true, message, status).map(|_| ());
    "Improbe" improbe<>(
        source: c_int, tag: c_int, communicator: A::Handle, flag: *mut c_int, message: *mut A::Handle,
        status: usize,
    ) on communicator => {
        let found = find::<A>((source, tag, communicator), false, message, status)?;
        put(flag, c_int::from(found))
    };
    "Mrecv" mrecv<N>(at: usize, count: N, datatype: A::Handle, message: *mut A::Handle, status: usize) => {
        match receive::<A>((at, count.get(), datatype), message)? {
            None => {
                put_status::<A>(status, from_nobody::<A>());
                Ok(())
            }
            Some((token, communicator)) => {
                let ended = wait_for::<A>("MPI_Mrecv", communicator, token)?;
                put_status::<A>(status, ended.told);
                ended.error.map_or(Ok(()), Err)
            }
        }
    };
    "Imrecv" imrecv<N>(
        at: usize, count: N, datatype: A::Handle, message: *mut A::Handle, request: *mut A::Handle,
    ) => {
        let begun = receive::<A>((at, count.get(), datatype), message)?;
        let number = engine(|process, _| {
            let record = match begun {
                None => record(process.engine.null(), 0, Kept::Nobody),
                Some((token, communicator)) => record(token, communicator, Kept::Receive),
            };
            Ok(process.objects.requests.insert(record))
        })?;
        put(request, A::handle(Kind::Request, number))
    };
}
