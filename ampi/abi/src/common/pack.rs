//! Packing values into bytes, and back (MPI-3.1, 4.2 and 4.3).

use talisman_ampi::engine::{Action, Area, Buffer};
use talisman_ampi::objects::Kind;

use super::call::{Outcome, engine, known, local, put};
use super::communicator::text_of;
use super::message::buffer;
use crate::abi::{Abi, Count};
use crate::class::Class;

/// Packed bytes of the program: where they begin, how many there is room for, and how far they are used.
#[derive(Clone, Copy)]
struct Packed<P> {
    at: usize,
    room: i64,
    position: *mut P,
}

impl<P: Count> Packed<P> {
    /// The next so many bytes.
    unsafe fn next(&self, bytes: u64) -> Result<(Buffer, i64), Class> {
        // SAFETY: the caller's promise.
        let position = unsafe { self.position.read_unaligned() }.get();
        let end =
            i64::try_from(bytes).ok().and_then(|bytes| position.checked_add(bytes)).ok_or(Class::Count)?;
        if position < 0 || end > self.room {
            return Err(Class::Truncate);
        }
        Ok((Buffer::of_bytes((self.at as u64).wrapping_add_signed(position), bytes), end))
    }
}

/// The representation of packed bytes.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Native,
    External32,
}

unsafe fn form_of(name: *const u8) -> Result<Form, Class> {
    // SAFETY: the caller's promise.
    match unsafe { text_of(name) }? {
        b"external32" => Ok(Form::External32),
        b"native" | b"internal" => Ok(Form::Native),
        _ => Err(Class::Arg),
    }
}

unsafe fn pack<A: Abi, P: Count>(
    (at, count, datatype): (usize, i64, A::Handle),
    form: Form,
    to: Packed<P>,
) -> Outcome {
    // SAFETY: the caller's promise.
    let datatype = unsafe { known::<A>(Kind::Datatype, datatype) }?;
    let from = local(|process| buffer(process, at, count, datatype))?;
    // SAFETY: the caller's promise.
    let (into, end) = unsafe { to.next(from.bytes) }?;
    engine(|_, out| {
        if from.bytes > 0 {
            out.push(Action::Copy { from, into });
        }
        Ok(())
    })?;
    if form == Form::External32 {
        // SAFETY: within the room for packed bytes.
        unsafe { turn_around(into, from) }?;
    }
    // SAFETY: the caller's promise.
    unsafe { put(to.position, P::of(end).ok_or(Class::Count)?) }
}

unsafe fn unpack<A: Abi, P: Count>(
    from: Packed<P>,
    form: Form,
    (at, count, datatype): (usize, i64, A::Handle),
) -> Outcome {
    // SAFETY: the caller's promise.
    let datatype = unsafe { known::<A>(Kind::Datatype, datatype) }?;
    let into = local(|process| buffer(process, at, count, datatype))?;
    // SAFETY: the caller's promise.
    let (bytes, end) = unsafe { from.next(into.bytes) }?;
    if form == Form::Native {
        copy(bytes, into)?;
    } else {
        // What the program has packed stays as it is.
        let len = usize::try_from(bytes.bytes).map_err(|_| Class::NoMem)?;
        let mut native = vec![0u8; len];
        let turned = Buffer { at: native.as_mut_ptr() as u64, ..bytes };
        copy(bytes, turned)?;
        // SAFETY: the copy's own bytes.
        unsafe { turn_around(turned, into) }?;
        copy(turned, into)?;
    }
    // SAFETY: the caller's promise.
    unsafe { put(from.position, P::of(end).ok_or(Class::Count)?) }
}

fn copy(from: Buffer, into: Buffer) -> Outcome {
    engine(|_, out| {
        if from.bytes > 0 {
            out.push(Action::Copy { from, into });
        }
        Ok(())
    })
}

/// Changes packed bytes of these values from native to external32, or back.
unsafe fn turn_around(bytes: Buffer, values: Buffer) -> Outcome {
    if bytes.bytes == 0 || bytes.area != Area::Memory {
        return Ok(());
    }
    local(|process| {
        // SAFETY: the caller's promise.
        let packed = unsafe { std::slice::from_raw_parts_mut(bytes.at as *mut u8, bytes.bytes as usize) };
        let datatype = process.datatypes.get(values.datatype)?;
        datatype.swap(values.count, packed).map_err(|_| Class::Intern)
    })
}

unsafe fn put_size<A: Abi, P: Count>(count: i64, datatype: A::Handle, size: *mut P) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let datatype = known::<A>(Kind::Datatype, datatype)?;
        let bytes = local(|process| Ok(buffer(process, 0, count, datatype)?.bytes))?;
        put(size, P::of(bytes as i64).ok_or(Class::Count)?)
    }
}

super::calls! {
    "Pack" pack_native<N>(
        at: usize, count: N, datatype: A::Handle, to: usize, room: N, position: *mut N, communicator: A::Handle,
    ) on communicator => {
        pack::<A, N>((at, count.get(), datatype), Form::Native, Packed { at: to, room: room.get(), position })
    };
    "Unpack" unpack_native<N>(
        from: usize, room: N, position: *mut N, at: usize, count: N, datatype: A::Handle, communicator: A::Handle,
    ) on communicator => {
        unpack::<A, N>(Packed { at: from, room: room.get(), position }, Form::Native, (at, count.get(), datatype))
    };
    "Pack_size" pack_size<N>(
        count: N, datatype: A::Handle, communicator: A::Handle, size: *mut N,
    ) on communicator => put_size::<A, N>(count.get(), datatype, size);
    "Pack_external" pack_external<N>(
        form: *const u8, at: usize, count: N, datatype: A::Handle, to: usize, room: i64, position: *mut i64,
    ) => {
        pack::<A, i64>((at, count.get(), datatype), form_of(form)?, Packed { at: to, room, position })
    };
    "Unpack_external" unpack_external<N>(
        form: *const u8, from: usize, room: i64, position: *mut i64, at: usize, count: N, datatype: A::Handle,
    ) => {
        unpack::<A, i64>(Packed { at: from, room, position }, form_of(form)?, (at, count.get(), datatype))
    };
    "Pack_external_size" pack_external_size<N>(
        form: *const u8, count: N, datatype: A::Handle, size: *mut i64,
    ) => {
        form_of(form)?;
        put_size::<A, i64>(count.get(), datatype, size)
    };
}
