//! Values between memory and file: what all functions that read and write are made of.

use talisman_ampi::datatype::Datatype;
use talisman_ampi::file::File;
use talisman_ampi::objects::Kind;
use talisman_ampi::process::Process;

use super::descriptor::{Bytes, has_offsets, in_sequence, read_at, write_at};
use super::{file, known_file, replayed};
use crate::abi::{Abi, Told};
use crate::class::Class;
use crate::common::call::{known, local};
use crate::common::message::nothing;

/// Whether values come from a file or go to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the file.
    Read,
    /// To the file.
    Write,
}

/// Where in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// At this position in elementary values of the view.
    At(i64),
    /// At this position, which the pointer of all has had.
    Shared(i64),
    /// Where the rank's own pointer is, which goes on.
    Pointer,
}

/// Values in the program's memory.
#[derive(Clone, Copy, Debug)]
pub struct Values<H> {
    /// The address of the first.
    pub at: usize,
    /// How many.
    pub count: i64,
    /// Of which datatype.
    pub datatype: H,
}

/// Reads or writes. Gives how many bytes of memory that were.
///
/// # Safety
/// Handles and memory are the program's.
pub unsafe fn transfer<A: Abi>(
    handle: A::File,
    way: Way,
    from: From,
    values: Values<A::Handle>,
) -> Result<u64, Class> {
    // SAFETY: the caller's promise.
    let (number, datatype) =
        unsafe { (known_file::<A>(handle)?, known::<A>(Kind::Datatype, values.datatype)?) };
    local(|process| {
        let memory = Memory::of(process, values.at, values.count, datatype)?;
        let own = file(process, number)?;
        let from = start(own, way, from, own.view.bytes_of(&memory.datatype).saturating_mul(memory.count))?;
        let done = match way {
            // SAFETY: the caller's promise.
            Way::Read => unsafe { memory.read(own, from) }?,
            // SAFETY: the caller's promise.
            Way::Write => unsafe { memory.write(own, from) }?,
        };
        let bytes = if own.view.is_external32() { memory.native_of(done) } else { done };
        Ok((done, bytes, from))
    })
    .and_then(|(done, bytes, start)| {
        if from == From::Pointer {
            local(|process| {
                let own = file(process, number)?;
                own.position = (start + done).div_ceil(own.view.unit());
                Ok(())
            })?;
        }
        Ok(bytes)
    })
}

/// What a status tells of so many bytes.
pub fn told<A: Abi>(bytes: u64) -> Told {
    Told { bytes, ..nothing::<A>() }
}

/// At which byte of the view it begins, if it may be done.
fn start(file: &File, way: Way, from: From, bytes: u64) -> Result<u64, Class> {
    let allowed = if way == Way::Read { file.access.reads } else { file.access.writes };
    if !allowed {
        return Err(if way == Way::Read { Class::Access } else { Class::ReadOnly });
    }
    if !bytes.is_multiple_of(file.view.unit()) {
        return Err(Class::Io);
    }
    let position = match from {
        From::At(_) if file.access.is_sequential => return Err(Class::UnsupportedOperation),
        From::At(position) | From::Shared(position) => u64::try_from(position).map_err(|_| Class::Arg)?,
        From::Pointer => file.position,
    };
    position.checked_mul(file.view.unit()).ok_or(Class::Arg)
}

/// Where values lie in the program's memory.
struct Memory {
    datatype: Datatype,
    at: usize,
    count: u64,
    bytes: u64,
}

impl Memory {
    fn of(process: &Process, at: usize, count: i64, datatype: u32) -> Result<Memory, Class> {
        let count = u64::try_from(count).map_err(|_| Class::Count)?;
        let datatype = process.datatypes.get(datatype)?.clone();
        let bytes = count.checked_mul(datatype.size()).ok_or(Class::Count)?;
        if at == 0 && bytes > 0 && datatype.is_contiguous() {
            return Err(Class::Buffer);
        }
        Ok(Memory { datatype, at, count, bytes })
    }

    /// How many bytes of memory the values are that have so many in external32.
    fn native_of(&self, external: u64) -> u64 {
        let (mut left, mut bytes) = (external, 0);
        let each = self.datatype.external_size().max(1);
        (bytes, left) = (left / each * self.datatype.size() + bytes, left % each);
        self.datatype.map().each_run(0, &mut |_, basic, n| {
            let here = n.min(left / basic.external_size());
            (left, bytes) = (left - here * basic.external_size(), bytes + here * basic.size());
        });
        bytes
    }

    /// The memory that the values lie in, and where in it displacement 0 is.
    fn extent(&self) -> (usize, usize, usize) {
        let (low, high) = self.datatype.span(self.count).unwrap_or_default();
        (self.at.wrapping_add_signed(low as isize), (high - low) as usize, low.wrapping_neg() as usize)
    }

    /// # Safety
    /// The memory is the program's, and it does not use it now.
    unsafe fn write(&self, file: &File, from: u64) -> Result<u64, Class> {
        let (at, len, origin) = self.extent();
        if len == 0 {
            return Ok(0);
        }
        // SAFETY: the caller's promise.
        let memory = unsafe { std::slice::from_raw_parts(at as *const u8, len) };
        let is_external32 = file.view.is_external32();
        if self.datatype.is_contiguous() && !is_external32 {
            return put_into(file, from, memory);
        }
        let mut packed = room(0, self.bytes)?;
        self.datatype.pack(self.count, memory, origin, &mut packed).map_err(|_| Class::Buffer)?;
        if !is_external32 {
            return put_into(file, from, &packed);
        }
        let bytes = self.datatype.external_size() * self.count;
        let mut external = room(bytes, bytes)?;
        self.datatype.write_external32(self.count, &packed, &mut external);
        put_into(file, from, &external)
    }

    /// # Safety
    /// As for [`Memory::write`].
    unsafe fn read(&self, file: &File, from: u64) -> Result<u64, Class> {
        let (at, len, origin) = self.extent();
        if len == 0 {
            return Ok(0);
        }
        // SAFETY: the caller's promise.
        let memory = unsafe { std::slice::from_raw_parts_mut(at as *mut u8, len) };
        let is_external32 = file.view.is_external32();
        if self.datatype.is_contiguous() && !is_external32 {
            return take_from(file, from, memory);
        }
        let in_file = file.view.bytes_of(&self.datatype) * self.count;
        let mut written = room(in_file, in_file)?;
        let done = take_from(file, from, &mut written)?;
        written.truncate(done as usize);
        if is_external32 {
            let mut packed = room(self.bytes, self.bytes)?;
            let bytes = self.datatype.read_external32(self.count, &written, &mut packed);
            packed.truncate(bytes);
            written = packed;
        }
        self.datatype.unpack(self.count, &written, memory, origin).map_err(|_| Class::Buffer)?;
        Ok(done)
    }
}

/// So many zeroes, and room for so many bytes.
fn room(zeroes: u64, bytes: u64) -> Result<Vec<u8>, Class> {
    let mut made = Vec::new();
    made.try_reserve_exact(bytes as usize).map_err(|_| Class::NoMem)?;
    made.resize(zeroes as usize, 0);
    Ok(made)
}

/// Writes bytes of the view from this one on.
fn put_into(file: &File, from: u64, bytes: &[u8]) -> Result<u64, Class> {
    match file.is_shared {
        true => replayed::changed(|| put_now(file, from, bytes)),
        false => put_now(file, from, bytes),
    }
}

fn put_now(file: &File, from: u64, bytes: &[u8]) -> Result<u64, Class> {
    if file.access.is_sequential && !has_offsets(file.descriptor) {
        return in_sequence(file.descriptor, Bytes::From(bytes)).map(|done| done as u64);
    }
    let (mut done, mut outcome) = (0, Ok(()));
    file.view.each_piece(from, bytes.len() as u64, |at, len| {
        let piece = &bytes[done..done + len as usize];
        outcome = write_at(file.descriptor, piece, at).map(|written| done += written);
        outcome.is_ok()
    });
    outcome.map(|()| done as u64)
}

/// Reads bytes of the view from this one on, as many as there are.
fn take_from(file: &File, from: u64, bytes: &mut [u8]) -> Result<u64, Class> {
    match file.gives_again {
        true => replayed::read(bytes, |bytes| take_now(file, from, bytes)),
        false => take_now(file, from, bytes),
    }
}

fn take_now(file: &File, from: u64, bytes: &mut [u8]) -> Result<u64, Class> {
    if file.access.is_sequential && !has_offsets(file.descriptor) {
        return in_sequence(file.descriptor, Bytes::Into(bytes)).map(|done| done as u64);
    }
    let (mut done, mut outcome) = (0, Ok(()));
    let wanted = bytes.len() as u64;
    file.view.each_piece(from, wanted, |at, len| {
        let piece = &mut bytes[done..done + len as usize];
        let read = read_at(file.descriptor, piece, at);
        outcome = read.map(|read| done += read);
        read == Ok(len as usize)
    });
    outcome.map(|()| done as u64)
}
