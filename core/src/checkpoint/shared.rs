//! Memory of this process that others of its host can map: what [`Slab`](super::slabs::Slab)s are pages of, where they can be.
//!
//! A process that maps the slabs of a part has that part for as long as it wants, also when the one that made it is gone: pages stay while
//! anybody has them mapped. So a buddy of the same host has its copy at once, and no byte is copied for it (see
//! [`Mapping`](super::mapped::Mapping)).

use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, ftruncate, memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::process::{Resource, getrlimit};

/// A file in memory, of which every slab has pages of its own.
pub(super) struct SharedMemory {
    file: OwnedFd,
    /// Where the next pages begin. No place is used twice: what is given back leaves a hole, which takes no memory.
    end: Mutex<u64>,
    /// This process is about to end, others may not be: they go on from what they have mapped.
    is_left: AtomicBool,
}

impl SharedMemory {
    /// Such memory, nothing of it used.
    ///
    /// # Errors
    /// The system has none.
    pub(super) fn new() -> rustix::io::Result<Self> {
        let file = memfd_create("talisman-parts", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        // Whoever maps it may be sure that what is there once stays within the file.
        fcntl_add_seals(&file, SealFlags::SHRINK)?;
        Ok(SharedMemory { file, end: Mutex::new(0), is_left: AtomicBool::new(false) })
    }

    /// New pages, mapped, and where they are in the file; none if there are none, or files may not be as long as that.
    pub(super) fn pages(&self, len: usize) -> Option<(NonNull<u8>, u64)> {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let (from, to) = (*end, end.checked_add(len as u64)?);
        if getrlimit(Resource::Fsize).current.is_some_and(|limit| limit < to) {
            return None;
        }
        ftruncate(&self.file, to).ok()?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: new memory, at an address that the system chooses.
        let at = unsafe { mmap(std::ptr::null_mut(), len, access, MapFlags::SHARED, &self.file, from) };
        let at = NonNull::new(at.ok()?.cast())?;
        *end = to;
        Some((at, from))
    }

    /// From now on everything stays as it is.
    pub(super) fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Pages that this process has not mapped any more, of a version that nobody goes back to. Where others have them, they are zero from now on.
    pub(super) fn give_back(&self, from: u64, len: usize) {
        if self.is_left.load(Ordering::Relaxed) {
            return;
        }
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // What cannot be given back stays until the process ends.
        let _ = fallocate(&self.file, hole, from, len as u64);
    }

    /// What others of the host find it by.
    pub(super) fn descriptor(&self) -> u32 {
        self.file.as_raw_fd().unsigned_abs()
    }
}
