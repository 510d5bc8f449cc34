//! Sending and receiving (MPI-3.1, 3.2 to 3.7 and 3.10).

use std::ffi::c_int;

use talisman_ampi::engine::{Action, Actions, Buffer, Mode, Owner, Pattern, Status, Token};
use talisman_ampi::objects::{Kept, Kind};
use talisman_ampi::process::Process;
use talisman_ampi::raw;

use super::call::{Outcome, engine, known, put, receive, send as begin_send};
use super::message::{
    Ended, buffer, ended, envelope, error_of, from_nobody, is_ignored, pattern, put_status, record, told,
    wait_for,
};
use crate::abi::{Abi, NULL};
use crate::class::Class;

/// What a message is, in words of the interface.
#[derive(Clone, Copy)]
pub struct Message<H> {
    /// The address of the first value.
    pub at: usize,
    /// How many values.
    pub count: i64,
    /// Of which datatype.
    pub datatype: H,
    /// To whom, or from whom.
    pub peer: c_int,
    /// Its tag.
    pub tag: c_int,
    /// In which communicator.
    pub communicator: H,
}

/// Sends, and waits until the buffer may be used again.
///
/// # Safety
/// The buffer is the program's, and handles are its.
pub unsafe fn send_now<A: Abi>(name: &'static str, mode: Mode, message: Message<A::Handle>) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe { send_at_once::<A>(name, mode, message) }
}

/// The same as a part of the caller.
///
/// # Safety
/// As for [`send_now`].
#[inline(always)]
unsafe fn send_at_once<A: Abi>(name: &'static str, mode: Mode, message: Message<A::Handle>) -> Outcome {
    let Message { at, count, peer, tag, .. } = message;
    // SAFETY: the caller's promise.
    let (datatype, communicator) = unsafe { names::<A>(&message) }?;
    let pending = begin_send(mode, |process| {
        let Some(to) = envelope::<A>(process, communicator, peer, tag)? else { return Ok(None) };
        Ok(Some((to, buffer(process, at, count, datatype)?)))
    })?;
    match pending {
        Some(token) => wait_for::<A>(name, communicator, token).map(|_| ()),
        None => Ok(()),
    }
}

/// Receives, and waits until the message is there.
///
/// # Safety
/// As for [`send_now`]; the status is one, or to be ignored.
#[inline(always)]
unsafe fn receive_now<A: Abi>(name: &'static str, message: Message<A::Handle>, status: usize) -> Outcome {
    let Message { at, count, peer, tag, .. } = message;
    // SAFETY: the caller's promise.
    let (datatype, communicator) = unsafe { names::<A>(&message) }?;
    let what = |process: &mut Process| {
        let Some(from) = pattern::<A>(process, communicator, peer, tag)? else { return Ok(None) };
        Ok(Some((from, buffer(process, at, count, datatype)?)))
    };
    // Written at once: what a status is told is not small, and would be copied several times.
    let tell = |process: &Process, ended: &Status| {
        if !is_ignored::<A>(status) {
            // SAFETY: the caller's promise.
            unsafe { A::write_status(status, told::<A>(process, communicator, Kept::Receive, ended)) };
        }
        error_of(ended).map_or(Ok(()), Err)
    };
    if receive(name, what, tell)?.is_none() {
        // SAFETY: the caller's promise.
        unsafe { put_status::<A>(status, from_nobody::<A>()) };
    }
    Ok(())
}

/// Begins to send.
///
/// # Safety
/// As for [`send_now`], until the request has ended.
unsafe fn send_later<A: Abi>(mode: Mode, message: Message<A::Handle>, request: *mut A::Handle) -> Outcome {
    let Message { at, count, peer, tag, .. } = message;
    // SAFETY: the caller's promise.
    let (datatype, communicator) = unsafe { names::<A>(&message) }?;
    let number = engine(|process, out| {
        let to = envelope::<A>(process, communicator, peer, tag)?;
        let buffer = buffer(process, at, count, datatype)?;
        let token = match to {
            Some(to) => process.engine.send(mode, to, buffer, Owner::User, out),
            None => process.engine.null(),
        };
        Ok(process.objects.requests.insert(record(token, communicator, Kept::Send)))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(request, A::handle(Kind::Request, number)) }
}

/// Begins to receive.
///
/// # Safety
/// As for [`send_now`], until the request has ended.
unsafe fn receive_later<A: Abi>(message: Message<A::Handle>, request: *mut A::Handle) -> Outcome {
    let Message { at, count, peer, tag, .. } = message;
    // SAFETY: the caller's promise.
    let (datatype, communicator) = unsafe { names::<A>(&message) }?;
    let number = engine(|process, out| {
        let from = pattern::<A>(process, communicator, peer, tag)?;
        let buffer = buffer(process, at, count, datatype)?;
        Ok(receiving(process, communicator, from, buffer, out))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(request, A::handle(Kind::Request, number)) }
}

/// The number of a request that receives, from nobody too.
fn receiving(
    process: &mut Process,
    communicator: u32,
    from: Option<Pattern>,
    buffer: Buffer,
    out: &mut Actions,
) -> u32 {
    let (token, kind) = match from {
        Some(from) => (process.engine.receive(from, buffer, Owner::User, out), Kept::Receive),
        None => (process.engine.null(), Kept::Nobody),
    };
    process.objects.requests.insert(record(token, communicator, kind))
}

/// Begins to send and to receive (MPI-4.0, 3.10). What is sent is copied at once: so the request is that of the receive
/// alone, which may put its values where those were.
///
/// # Safety
/// As for [`send_now`], until the request has ended.
unsafe fn exchange_later<A: Abi>(
    send: Message<A::Handle>,
    receive: Message<A::Handle>,
    request: *mut A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    let (sent, (datatype, communicator)) = unsafe { (names::<A>(&send)?.0, names::<A>(&receive)?) };
    let number = engine(|process, out| {
        let to = envelope::<A>(process, communicator, send.peer, send.tag)?;
        let from = pattern::<A>(process, communicator, receive.peer, receive.tag)?;
        let values = buffer(process, send.at, send.count, sent)?;
        let into = buffer(process, receive.at, receive.count, datatype)?;
        if let Some(to) = to {
            let sent = process.engine.send(Mode::Buffered, to, values, Owner::User, out);
            process.engine.test(sent)?;
        }
        Ok(receiving(process, communicator, from, into, out))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(request, A::handle(Kind::Request, number)) }
}

/// The numbers of a message's datatype and communicator.
///
/// # Safety
/// Handles are the program's.
#[inline]
pub unsafe fn names<A: Abi>(message: &Message<A::Handle>) -> Result<(u32, u32), Class> {
    // SAFETY: the caller's promise.
    unsafe {
        let communicator = known::<A>(Kind::Comm, message.communicator)?;
        let datatype =
            A::datatype_number(message.datatype).filter(|number| *number != NULL).ok_or(Class::Type)?;
        Ok((datatype, communicator))
    }
}

/// The values are copied before others come in their place.
unsafe fn replace<A: Abi>(send: Message<A::Handle>, receive: Message<A::Handle>, status: usize) -> Outcome {
    // SAFETY: the caller's promise.
    let (datatype, _) = unsafe { names::<A>(&send) }?;
    let values = engine(|process, _| buffer(process, send.at, send.count, datatype))?;
    let mut copy = vec![0u8; usize::try_from(values.bytes).map_err(|_| Class::NoMem)?];
    let bytes = Buffer::of_bytes(copy.as_mut_ptr() as u64, values.bytes);
    engine(|_, out| {
        out.push(Action::Copy { from: values, into: bytes });
        Ok(())
    })?;
    // SAFETY: the caller's promise; the copy is there until this has ended.
    unsafe { exchange::<A>("MPI_Sendrecv_replace", send, Some(bytes), receive, status) }
}

/// Sends and receives at once. `bytes` are sent instead of the values, if they are given.
unsafe fn exchange<A: Abi>(
    name: &'static str,
    send: Message<A::Handle>,
    bytes: Option<Buffer>,
    receive: Message<A::Handle>,
    status: usize,
) -> Outcome {
    // SAFETY: the caller's promise.
    let (sent, (datatype, communicator)) = unsafe { (names::<A>(&send)?.0, names::<A>(&receive)?) };
    let (received, sent) = engine(|process, out| {
        let to = envelope::<A>(process, communicator, send.peer, send.tag)?;
        let from = pattern::<A>(process, communicator, receive.peer, receive.tag)?;
        let values = match bytes {
            Some(bytes) => bytes,
            None => buffer(process, send.at, send.count, sent)?,
        };
        let into = buffer(process, receive.at, receive.count, datatype)?;
        let received = from.map(|from| process.engine.receive(from, into, Owner::User, out));
        let sent = to.map(|to| process.engine.send(Mode::Standard, to, values, Owner::User, out));
        Ok((received, sent))
    })?;
    let both: Vec<Token> = received.into_iter().chain(sent).collect();
    raw::wait_all(name, &both)?;
    let result = engine(|process, _| {
        if let Some(sent) = sent {
            process.engine.test(sent)?;
        }
        let Some(received) = received else { return Ok(Ended { told: from_nobody::<A>(), error: None }) };
        let status: Status = process.engine.test(received)?.ok_or(Class::Intern)?;
        Ok(ended::<A>(process, communicator, Kept::Receive, &status))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put_status::<A>(status, result.told) };
    result.error.map_or(Ok(()), Err)
}

super::calls! {
    "Send" send<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        send_at_once::<A>("MPI_Send", Mode::Standard, message)
    };
    "Isend" isend<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
        request: *mut A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        send_later::<A>(Mode::Standard, message, request)
    };
    "Ssend" ssend<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        send_now::<A>("MPI_Ssend", Mode::Synchronous, message)
    };
    "Issend" issend<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
        request: *mut A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        send_later::<A>(Mode::Synchronous, message, request)
    };
    "Rsend" rsend<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        send_now::<A>("MPI_Rsend", Mode::Ready, message)
    };
    "Irsend" irsend<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
        request: *mut A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        send_later::<A>(Mode::Ready, message, request)
    };
    "Bsend" bsend<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        send_now::<A>("MPI_Bsend", Mode::Buffered, message)
    };
    "Ibsend" ibsend<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
        request: *mut A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        send_later::<A>(Mode::Buffered, message, request)
    };
    "Recv" recv<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle, status: usize,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        receive_now::<A>("MPI_Recv", message, status)
    };
    "Irecv" irecv<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
        request: *mut A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        receive_later::<A>(message, request)
    };
    "Sendrecv" sendrecv<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle, to: c_int, send_tag: c_int,
        at: usize, count: N, datatype: A::Handle, from: c_int, tag: c_int, communicator: A::Handle, status: usize,
    ) on communicator => {
        let count_sent = send_count.get();
        let send = Message {
            at: send_at, count: count_sent, datatype: send_datatype, peer: to, tag: send_tag, communicator,
        };
        let receive = Message { at, count: count.get(), datatype, peer: from, tag, communicator };
        exchange::<A>("MPI_Sendrecv", send, None, receive, status)
    };
    "Sendrecv_replace" sendrecv_replace<N>(
        at: usize, count: N, datatype: A::Handle, to: c_int, send_tag: c_int, from: c_int, tag: c_int,
        communicator: A::Handle, status: usize,
    ) on communicator => {
        let send = Message { at, count: count.get(), datatype, peer: to, tag: send_tag, communicator };
        replace::<A>(send, Message { peer: from, tag, ..send }, status)
    };
    "Isendrecv" isendrecv<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle, to: c_int, send_tag: c_int,
        at: usize, count: N, datatype: A::Handle, from: c_int, tag: c_int, communicator: A::Handle,
        request: *mut A::Handle,
    ) on communicator => {
        let count_sent = send_count.get();
        let send = Message {
            at: send_at, count: count_sent, datatype: send_datatype, peer: to, tag: send_tag, communicator,
        };
        let receive = Message { at, count: count.get(), datatype, peer: from, tag, communicator };
        exchange_later::<A>(send, receive, request)
    };
    "Isendrecv_replace" isendrecv_replace<N>(
        at: usize, count: N, datatype: A::Handle, to: c_int, send_tag: c_int, from: c_int, tag: c_int,
        communicator: A::Handle, request: *mut A::Handle,
    ) on communicator => {
        let send = Message { at, count: count.get(), datatype, peer: to, tag: send_tag, communicator };
        exchange_later::<A>(send, Message { peer: from, tag, ..send }, request)
    };
}
