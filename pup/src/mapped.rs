//! Memory that the system maps for one segment alone, so that it can go elsewhere as pages: nothing is copied then.

use std::ffi::c_void;
use std::io;
use std::ptr::{self, NonNull};

use rustix::io::Errno;
use rustix::mm::{MapFlags, MremapFlags, ProtFlags, mmap_anonymous, mremap_fixed, munmap};

use crate::Page;

/// Bytes of a page. Where the system's are larger, they are copied in the end.
const PAGE: usize = size_of::<Page>();

/// What can be done with pages that are mapped anew.
const ACCESS: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

/// Whole pages, mapped until this is dropped. They are of zeroes at first.
pub(crate) struct Mapped {
    at: NonNull<u8>,
    len: usize,
}

// SAFETY: addresses of memory of its own.
unsafe impl Send for Mapped {}
// SAFETY: as above; nothing is read or written through a reference to it.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// So many bytes; none if they are no whole pages, or the system has no room.
    pub(crate) fn new(len: usize) -> Option<Self> {
        if len == 0 || !len.is_multiple_of(PAGE) {
            return None;
        }
        // SAFETY: new memory, wherever there is room.
        let at = unsafe { mmap_anonymous(ptr::null_mut(), len, ACCESS, MapFlags::PRIVATE) }.ok()?;
        Some(Mapped { at: NonNull::new(at.cast())?, len })
    }

    /// Where it begins.
    pub(crate) fn at(&self) -> NonNull<u8> {
        self.at
    }

    /// Its pages come to be there, in place of those that are; nothing is where they were. If that cannot be, they are
    /// copied.
    ///
    /// # Safety
    /// As [`Segment::move_to`](crate::Segment::move_to).
    ///
    /// # Errors
    /// The system has neither room for them as they are nor for a copy; what was there may be gone.
    pub(crate) unsafe fn move_to(self, to: NonNull<u8>) -> io::Result<bool> {
        let (from, there) = (self.at.as_ptr().cast(), to.as_ptr().cast::<c_void>());
        // SAFETY: what is at `to` is the caller's to replace, by the contract. What is here is this one's alone.
        match unsafe { mremap_fixed(from, self.len, self.len, MremapFlags::MAYMOVE, there) } {
            Ok(_) => {
                std::mem::forget(self);
                return Ok(true);
            }
            // The addresses are none that pages of this system can have: nothing was touched.
            Err(Errno::INVAL) => {}
            // It may have unmapped what was there before it failed.
            Err(_) => {
                let flags = MapFlags::PRIVATE | MapFlags::FIXED;
                // SAFETY: the addresses are the caller's, and what was there is to be replaced.
                unsafe { mmap_anonymous(there, self.len, ACCESS, flags) }?;
            }
        }
        // SAFETY: both are mapped, and different memory: `to` is the caller's.
        unsafe { ptr::copy_nonoverlapping(self.at.as_ptr(), to.as_ptr(), self.len) };
        Ok(false)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: its own addresses, which nothing refers to any more. A system that refuses keeps them.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), self.len) };
    }
}
