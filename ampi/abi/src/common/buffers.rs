//! Memory for buffered sends, and memory that MPI gives (MPI-3.1, 3.6 and 8.2).

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_int;

use super::call::{Outcome, local, put};
use crate::abi::Abi;
use crate::class::Class;

/// Before each block its length is kept; blocks begin at lines of the cache.
const HEAD: usize = 64;

fn layout(bytes: usize) -> Result<Layout, Class> {
    let all = bytes.checked_add(HEAD).ok_or(Class::NoMem)?;
    Layout::from_size_align(all, HEAD).map_err(|_| Class::NoMem)
}

unsafe fn give(bytes: i64, at: *mut usize) -> Outcome {
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

unsafe fn take_back(at: usize) -> Outcome {
    let block = at.checked_sub(HEAD).ok_or(Class::Base)? as *mut u8;
    // SAFETY: the program gives back what `give` has given.
    unsafe { dealloc(block, layout(block.cast::<usize>().read())?) };
    Ok(())
}

super::calls! {
    "Buffer_attach" buffer_attach<N>(at: usize, bytes: N) => {
        let bytes = u64::try_from(bytes.get()).map_err(|_| Class::Arg)?;
        local(|process| match process.objects.buffer.replace((at as u64, bytes)) {
            None => Ok(()),
            former => {
                process.objects.buffer = former;
                Err(Class::Buffer)
            }
        })
    };
    "Buffer_detach" buffer_detach<N>(at: *mut usize, bytes: *mut N) => {
        // Messages were copied when they were sent: none is in the buffer.
        let (address, length) = local(|process| process.objects.buffer.take().ok_or(Class::Buffer))?;
        put(at, address as usize)?;
        put(bytes, N::of(length as i64).ok_or(Class::Count)?)
    };
    "Alloc_mem" alloc_mem<>(bytes: i64, _info: A::Handle, at: *mut usize) => give(bytes, at);
    "Free_mem" free_mem<>(at: usize) => take_back(at);
}

/// Room that a buffered send takes besides its values: programs add it for each.
pub fn overhead<A: Abi>() -> c_int {
    A::BSEND_OVERHEAD
}
