//! Messages in parts (MPI-4.0, chapter 4).

use std::ffi::c_int;

use talisman_ampi::engine::Envelope;
use talisman_ampi::objects::{Kept, Kind, Record};
use talisman_ampi::partitioned::{Parts, PartsError, Source};
use talisman_ampi::process::Process;

use super::call::{Outcome, engine, known, known_or_null, length, list, looked, put};
use super::message::envelope;
use super::request::token_of;
use crate::abi::Abi;
use crate::class::Class;

impl From<PartsError> for Class {
    fn from(error: PartsError) -> Class {
        match error {
            PartsError::OtherRequest | PartsError::Inactive => Class::Request,
            PartsError::NoPart(_) | PartsError::Ready(_) => Class::Arg,
        }
    }
}

/// What a program gives to make one.
struct Given<H> {
    at: usize,
    parts: c_int,
    count: i64,
    datatype: H,
    peer: c_int,
    tag: c_int,
    communicator: H,
    info: H,
}

fn parts(process: &Process, (at, parts, count): (usize, c_int, i64), datatype: u32) -> Result<Parts, Class> {
    let found = process.datatypes.get(datatype)?;
    let parts = Parts {
        at: at as u64,
        parts: u32::try_from(parts).map_err(|_| Class::Arg)?,
        count: u64::try_from(count).map_err(|_| Class::Count)?,
        datatype,
        size: found.size(),
        extent: found.extent().1,
    };
    parts.bytes().map(|_| parts).ok_or(Class::Count)
}

/// Makes one. No process is anybody, and no tag any tag: it is matched when it is made.
unsafe fn make<A: Abi>(given: Given<A::Handle>, is_send: bool, request: *mut A::Handle) -> Outcome {
    let Given { at, parts: n, count, peer, tag, .. } = given;
    // SAFETY: the caller's promise.
    let (datatype, communicator) = unsafe {
        known_or_null::<A>(Kind::Info, given.info)?;
        (A::datatype_number(given.datatype), known::<A>(Kind::Comm, given.communicator)?)
    };
    let datatype = datatype.ok_or(Class::Type)?;
    let number = engine(|process, out| {
        let parts = parts(process, (at, n, count), datatype)?;
        let context = process.comms.get(communicator)?.contexts().of_parts();
        let peer = envelope::<A>(process, communicator, peer, tag)?.map(|to| Envelope { context, ..to });
        let (token, kind) = match (is_send, peer) {
            (true, _) => (process.send_parts(peer, parts, out), Kept::Send),
            (false, None) => (process.receive_parts(None, parts, out), Kept::Nobody),
            (false, Some(Envelope { to: rank, tag, .. })) => {
                (process.receive_parts(Some(Source { context, rank, tag }), parts, out), Kept::Receive)
            }
        };
        Ok(process.objects.requests.insert(Record { token, communicator, is_persistent: true, kind }))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(request, A::handle(Kind::Request, number)) }
}

unsafe fn ready<A: Abi>(request: A::Handle, parts: impl Iterator<Item = c_int> + Clone) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Request, request) }?;
    if parts.clone().any(|part| part < 0) {
        return Err(Class::Arg);
    }
    engine(|process, out| {
        let token = token_of(process, number)?;
        Ok(process.parts_are_ready(token, parts.map(|part| part as u32), out)?)
    })
}

super::calls! {
    "Psend_init" psend_init<>(
        at: usize, parts: c_int, count: i64, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
        info: A::Handle, request: *mut A::Handle,
    ) on communicator => {
        make::<A>(Given { at, parts, count, datatype, peer, tag, communicator, info }, true, request)
    };
    "Precv_init" precv_init<>(
        at: usize, parts: c_int, count: i64, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
        info: A::Handle, request: *mut A::Handle,
    ) on communicator => {
        make::<A>(Given { at, parts, count, datatype, peer, tag, communicator, info }, false, request)
    };
    "Pready" pready<>(part: c_int, request: A::Handle) => ready::<A>(request, std::iter::once(part));
    "Pready_range" pready_range<>(low: c_int, high: c_int, request: A::Handle) => {
        ready::<A>(request, low..=high)
    };
    "Pready_list" pready_list<>(n: c_int, parts: *const c_int, request: A::Handle) => {
        ready::<A>(request, list(parts, length(n)?)?.iter().copied())
    };
    "Parrived" parrived<>(request: A::Handle, part: c_int, flag: *mut c_int) => {
        let Some(number) = known_or_null::<A>(Kind::Request, request)? else { return put(flag, 1) };
        let part = u32::try_from(part).map_err(|_| Class::Arg)?;
        let is_here = || engine(|process, _| {
            let token = token_of(process, number)?;
            Ok(process.partitioned.has_arrived(token, part)?)
        });
        put(flag, c_int::from(looked(is_here, |is_here| *is_here)?))
    };
}
