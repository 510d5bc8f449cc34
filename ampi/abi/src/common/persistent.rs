//! Requests that are started again and again (MPI-3.1, 3.9).

use std::ffi::c_int;

use talisman_ampi::collective::{Call, Schedule};
use talisman_ampi::engine::{Mode, Token};
use talisman_ampi::objects::{Kept, Kind, Record};
use talisman_ampi::process::Process;

use super::call::{Outcome, engine, known, length, put};
use super::message::{buffer, envelope, pattern};
use super::point_to_point::{Message, names};
use super::request::token_of;
use crate::abi::Abi;

/// Something that is started and has nothing to do: messages to and from no process.
fn idle(process: &mut Process) -> Token {
    let request = Token { index: 0, generation: 0 };
    let call = Call { context: 0, tag: 0, send: 0, receive: 0, op: 0, request };
    process.keep(Schedule::new(), call, &[])
}

unsafe fn send<A: Abi>(mode: Mode, message: Message<A::Handle>, request: *mut A::Handle) -> Outcome {
    let Message { at, count, peer, tag, .. } = message;
    // SAFETY: the caller's promise.
    let (datatype, communicator) = unsafe { names::<A>(&message) }?;
    let number = engine(|process, _| {
        let to = envelope::<A>(process, communicator, peer, tag)?;
        let buffer = buffer(process, at, count, datatype)?;
        let token = match to {
            Some(to) => process.engine.send_init(mode, to, buffer),
            None => idle(process),
        };
        let record = Record { token, communicator, is_persistent: true, kind: Kept::Send };
        Ok(process.objects.requests.insert(record))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(request, A::handle(Kind::Request, number)) }
}

unsafe fn receive<A: Abi>(message: Message<A::Handle>, request: *mut A::Handle) -> Outcome {
    let Message { at, count, peer, tag, .. } = message;
    // SAFETY: the caller's promise.
    let (datatype, communicator) = unsafe { names::<A>(&message) }?;
    let number = engine(|process, _| {
        let from = pattern::<A>(process, communicator, peer, tag)?;
        let buffer = buffer(process, at, count, datatype)?;
        let (token, kind) = match from {
            Some(from) => (process.engine.receive_init(from, buffer), Kept::Receive),
            None => (idle(process), Kept::Nobody),
        };
        Ok(process.objects.requests.insert(Record { token, communicator, is_persistent: true, kind }))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(request, A::handle(Kind::Request, number)) }
}

unsafe fn begin<A: Abi>(request: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Request, request.read_unaligned()) }?;
    engine(|process, out| {
        let token = token_of(process, number)?;
        Ok(process.start(token, out)?)
    })
}

super::calls! {
    "Send_init" send_init<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
        request: *mut A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        send::<A>(Mode::Standard, message, request)
    };
    "Ssend_init" ssend_init<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
        request: *mut A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        send::<A>(Mode::Synchronous, message, request)
    };
    "Rsend_init" rsend_init<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
        request: *mut A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        send::<A>(Mode::Ready, message, request)
    };
    "Bsend_init" bsend_init<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
        request: *mut A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        send::<A>(Mode::Buffered, message, request)
    };
    "Recv_init" recv_init<N>(
        at: usize, count: N, datatype: A::Handle, peer: c_int, tag: c_int, communicator: A::Handle,
        request: *mut A::Handle,
    ) on communicator => {
        let message = Message { at, count: count.get(), datatype, peer, tag, communicator };
        receive::<A>(message, request)
    };
    "Start" start<>(request: *mut A::Handle) => begin::<A>(request);
    "Startall" startall<>(count: c_int, requests: *mut A::Handle) => {
        (0..length(count)?).try_for_each(|at| begin::<A>(requests.add(at)))
    };
}
