//! Memory for buffered sends, and memory that MPI gives (MPI-4.1, 3.6 and 9.2).

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_int;

use talisman_ampi::comm::Communicators;
use talisman_ampi::objects::{Kept, Kind};

use super::call::{Outcome, engine, known, local, put};
use super::message::record;
use crate::abi::{Abi, Count};
use crate::class::Class;

/// Before each block its length is kept; blocks begin at lines of the cache.
const HEAD: usize = 64;

/// `MPI_BUFFER_AUTOMATIC`, under all interfaces that have it: MPI finds the room itself.
const AUTOMATIC: usize = 2;

fn layout(bytes: usize) -> Result<Layout, Class> {
    let all = bytes.checked_add(HEAD).ok_or(Class::NoMem)?;
    Layout::from_size_align(all, HEAD).map_err(|_| Class::NoMem)
}

/// Memory of so many bytes.
///
/// # Safety
/// `at` is the program's.
pub unsafe fn give(bytes: i64, at: *mut usize) -> Outcome {
    let bytes = usize::try_from(bytes).map_err(|_| Class::Arg)?;
    // SAFETY: the layout is not of zero bytes; the block has room for its length.
    unsafe {
        let block = alloc(layout(bytes)?);
        if block.is_null() {
            return Err(Class::NoMem);
        }
        block.cast::<usize>().write(bytes);
        put(at, block as usize + HEAD)
    }
}

/// Takes it back.
///
/// # Safety
/// [`give`] has given it, and nobody uses it any more.
pub unsafe fn take_back(at: usize) -> Outcome {
    let block = at.checked_sub(HEAD).ok_or(Class::Base)? as *mut u8;
    // SAFETY: the program gives back what `give` has given.
    unsafe { dealloc(block, layout(block.cast::<usize>().read())?) };
    Ok(())
}

/// Whose buffer: the one of all communicators, or one's own.
type Whose = Option<u32>;

fn attach(whose: Whose, at: usize, bytes: i64) -> Outcome {
    // Where MPI is to find the room itself, the length says nothing.
    let bytes = if at == AUTOMATIC { 0 } else { u64::try_from(bytes).map_err(|_| Class::Arg)? };
    local(|process| {
        if let Some(communicator) = whose {
            process.comms.get(communicator)?;
        }
        if process.objects.buffers.contains_key(&whose) {
            return Err(Class::Buffer);
        }
        process.objects.buffers.insert(whose, (at as u64, bytes));
        Ok(())
    })
}

/// Messages were copied when they were sent: none is in the buffer.
unsafe fn detach<N: Count>(whose: Whose, at: *mut usize, bytes: *mut N) -> Outcome {
    let (address, length) = local(|process| process.objects.buffers.remove(&whose).ok_or(Class::Buffer))?;
    // SAFETY: the caller's promise.
    unsafe {
        put(at, address as usize)?;
        put(bytes, N::of(length as i64).ok_or(Class::Count)?)
    }
}

/// A request of nothing: no message is in a buffer.
unsafe fn flushed<A: Abi>(communicator: u32, request: *mut A::Handle) -> Outcome {
    let number = engine(|process, _| {
        let nothing = process.engine.null();
        Ok(process.objects.requests.insert(record(nothing, communicator, Kept::Send)))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(request, A::handle(Kind::Request, number)) }
}

super::calls! {
    "Buffer_attach" buffer_attach<N>(at: usize, bytes: N) => attach(None, at, bytes.get());
    "Buffer_detach" buffer_detach<N>(at: *mut usize, bytes: *mut N) => detach(None, at, bytes);
    "Buffer_flush" buffer_flush<>() => Ok(());
    "Buffer_iflush" buffer_iflush<>(request: *mut A::Handle) => flushed::<A>(Communicators::WORLD, request);
    "Comm_attach_buffer" comm_attach_buffer<N>(communicator: A::Handle, at: usize, bytes: N) on communicator => {
        attach(Some(known::<A>(Kind::Comm, communicator)?), at, bytes.get())
    };
    "Comm_detach_buffer" comm_detach_buffer<N>(
        communicator: A::Handle, at: *mut usize, bytes: *mut N,
    ) on communicator => detach(Some(known::<A>(Kind::Comm, communicator)?), at, bytes);
    "Comm_flush_buffer" comm_flush_buffer<>(communicator: A::Handle) on communicator => {
        known::<A>(Kind::Comm, communicator).map(|_| ())
    };
    "Comm_iflush_buffer" comm_iflush_buffer<>(
        communicator: A::Handle, request: *mut A::Handle,
    ) on communicator => flushed::<A>(known::<A>(Kind::Comm, communicator)?, request);
    "Alloc_mem" alloc_mem<>(bytes: i64, _info: A::Handle, at: *mut usize) => give(bytes, at);
    "Free_mem" free_mem<>(at: usize) => take_back(at);
}

/// Room that a buffered send takes besides its values: programs add it for each.
pub fn overhead<A: Abi>() -> c_int {
    A::BSEND_OVERHEAD
}
