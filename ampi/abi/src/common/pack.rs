//! Packing values into bytes, and back (MPI-3.1, 4.2 and 4.3).

use talisman_ampi::engine::{Action, Buffer};
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
    let (into, end) = unsafe { to.next(packed_bytes(form, from)?) }?;
    match form {
        Form::Native => copy(from, into)?,
        Form::External32 => {
            let mut packed = room(from.bytes)?;
            copy(from, Buffer::of_bytes(packed.as_mut_ptr() as u64, from.bytes))?;
            // SAFETY: the room for packed bytes, by the caller's promise.
            let external = unsafe { memory(into) };
            local(|process| {
                process.datatypes.get(datatype)?.write_external32(from.count, &packed, external);
                Ok(())
            })?;
        }
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
    let (bytes, end) = unsafe { from.next(packed_bytes(form, into)?) }?;
    match form {
        Form::Native => copy(bytes, into)?,
        Form::External32 => {
            let mut packed = room(into.bytes)?;
            // SAFETY: what the program has packed, by the caller's promise.
            let external = unsafe { memory(bytes) };
            local(|process| {
                process.datatypes.get(datatype)?.read_external32(into.count, external, &mut packed);
                Ok(())
            })?;
            copy(Buffer::of_bytes(packed.as_mut_ptr() as u64, into.bytes), into)?;
        }
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

/// How many bytes values take in a representation.
fn packed_bytes(form: Form, values: Buffer) -> Result<u64, Class> {
    match form {
        Form::Native => Ok(values.bytes),
        Form::External32 => local(|process| {
            let each = process.datatypes.get(values.datatype)?.external_size();
            each.checked_mul(values.count).ok_or(Class::Count)
        }),
    }
}

/// So many zeroes in the rank's memory.
fn room(bytes: u64) -> Result<Vec<u8>, Class> {
    Ok(vec![0; usize::try_from(bytes).map_err(|_| Class::NoMem)?])
}

/// Bytes of the program.
///
/// # Safety
/// They are there, and the program does not use them meanwhile.
unsafe fn memory<'a>(bytes: Buffer) -> &'a mut [u8] {
    match bytes.bytes {
        0 => &mut [],
        // SAFETY: the caller's promise.
        len => unsafe { std::slice::from_raw_parts_mut(bytes.at as *mut u8, len as usize) },
    }
}

unsafe fn put_size<A: Abi, P: Count>(form: Form, count: i64, datatype: A::Handle, size: *mut P) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let datatype = known::<A>(Kind::Datatype, datatype)?;
        let values = local(|process| buffer(process, 0, count, datatype))?;
        put(size, P::of(packed_bytes(form, values)? as i64).ok_or(Class::Count)?)
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
    ) on communicator => put_size::<A, N>(Form::Native, count.get(), datatype, size);
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
        put_size::<A, i64>(form_of(form)?, count.get(), datatype, size)
    };
}
