//! Memory of this process that others of its host can map: what [`Slab`](super::slab::Slab)s are pages of, where they can be.
//!
//! A process that maps the slabs of a part has that part for as long as it wants, also when the one that made it is gone: pages stay while
//! anybody has them mapped. So a buddy of the same host has its copy at once, and no byte is copied for it (see
//! [`Mapping`](super::shm_map::Mapping)).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, ftruncate, memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use rustix::process::{Resource, getrlimit};

use super::huge_pages::HugePages;

/// So much is written at a time: who wants new pages waits for no more.
const AT_ONCE: usize = 1 << 20;

/// What a process may do with its own.
const ACCESS: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

/// A file in memory, of which every slab has pages of its own.
pub struct SharedMemory {
    file: File,
    /// Where the next pages begin. No place is used twice: what is given back leaves a hole, which takes no memory.
    end: Mutex<u64>,
    /// Taken by who writes to the file: see [`SharedMemory::write`].
    writing: Mutex<()>,
    pub large_pages: HugePages,
    /// This process is about to end, others may not be: they go on from what they have mapped.
    is_left: AtomicBool,
}

impl SharedMemory {
    /// Such memory, nothing of it used.
    ///
    /// # Errors
    /// The system has none.
    pub fn new() -> rustix::io::Result<Self> {
        let file = memfd_create("talisman-parts", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        // Whoever maps it may be sure that what is there once stays within the file.
        fcntl_add_seals(&file, SealFlags::SHRINK)?;
        Ok(SharedMemory {
            file: file.into(),
            end: Mutex::default(),
            writing: Mutex::default(),
            large_pages: HugePages::default(),
            is_left: AtomicBool::new(false),
        })
    }

    /// New pages, mapped, and where they are in the file; none if there are none, or files may not be as long as that.
    pub fn pages(&self, len: usize) -> Option<(NonNull<u8>, u64)> {
        self.place(len, 1, |from| {
            // SAFETY: new memory, at an address that the system chooses.
            let at = unsafe { mmap(std::ptr::null_mut(), len, ACCESS, MapFlags::SHARED, &self.file, from) };
            NonNull::new(at.ok()?.cast())
        })
    }

    /// The same, where both the address and the place in the file are multiples of `align`, a multiple of a page.
    pub fn aligned_pages(&self, len: usize, align: usize) -> Option<(NonNull<u8>, u64)> {
        let all = len.checked_next_multiple_of(align)?.checked_add(align)?;
        self.place(len, align, |from| {
            // SAFETY: new memory, at an address that the system chooses, which nothing is in.
            let room = unsafe {
                mmap_anonymous(
                    std::ptr::null_mut(),
                    all,
                    ProtFlags::empty(),
                    MapFlags::PRIVATE | MapFlags::NORESERVE,
                )
            };
            let room: *mut u8 = room.ok()?.cast();
            let before = room.align_offset(align);
            let at = room.wrapping_add(before);
            // SAFETY: within the room, of which nobody else has heard, in place of what is mapped there.
            let mapped =
                unsafe { mmap(at.cast(), len, ACCESS, MapFlags::SHARED | MapFlags::FIXED, &self.file, from) };
            let (at, rest) = if mapped.is_ok() { (at, at.wrapping_add(len)) } else { (room, room) };
            for (unused, len) in [(room, at.addr() - room.addr()), (rest, room.addr() + all - rest.addr())] {
                // SAFETY: nothing is there. Each is a whole number of pages, or nothing, which is an error.
                let _ = unsafe { munmap(unused.cast(), len) };
            }
            NonNull::new(at).filter(|_| mapped.is_ok())
        })
    }

    /// Has the next place in the file that is a multiple of `align` mapped, and takes it if it is.
    fn place(
        &self,
        len: usize,
        align: usize,
        map: impl FnOnce(u64) -> Option<NonNull<u8>>,
    ) -> Option<(NonNull<u8>, u64)> {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let from = end.checked_next_multiple_of(align as u64)?;
        let to = from.checked_add(len as u64)?;
        if getrlimit(Resource::Fsize).current.is_some_and(|limit| limit < to) {
            return None;
        }
        ftruncate(&self.file, to).ok()?;
        let at = map(from)?;
        *end = to;
        Some((at, from))
    }

    /// Writes bytes to pages that the caller has alone. Where there is no page yet the system makes one of the bytes. If it were written to
    /// where it is mapped, the system would clear it first: that takes half as long again.
    ///
    /// # Errors
    /// The system does not write them, or another thread is writing: there is one at a time, and who would have to wait for it has copied
    /// them sooner. Some of the bytes may be there.
    pub fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let _alone = self.writing.try_lock().map_err(|_| io::ErrorKind::WouldBlock)?;
        let pieces = (at..).step_by(AT_ONCE).zip(bytes.chunks(AT_ONCE));
        pieces.into_iter().try_for_each(|(at, piece)| self.file.write_all_at(piece, at))
    }

    /// What could be written cannot be any more; what is mapped can.
    #[cfg(test)]
    pub fn forbid_to_write(&self) {
        fcntl_add_seals(&self.file, SealFlags::FUTURE_WRITE).expect("it can be sealed");
    }

    /// From now on everything stays as it is.
    pub fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Pages that this process has not mapped any more, of a version that nobody goes back to. Where others have them, they are zero from now on.
    pub fn give_back(&self, from: u64, len: usize) {
        if self.is_left.load(Ordering::Relaxed) {
            return;
        }
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // What cannot be given back stays until the process ends.
        let _ = fallocate(&self.file, hole, from, len as u64);
    }

    /// What others of the host find it by.
    pub fn descriptor(&self) -> u32 {
        self.file.as_raw_fd().unsigned_abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_writes_at_a_time() {
        let memory = SharedMemory::new().expect("the system has it");
        let bytes: Vec<u8> = (0..3 * AT_ONCE + 5).map(|at| (at % 251) as u8).collect();
        let read = |at| {
            let mut read = vec![0; bytes.len()];
            memory.file.read_exact_at(&mut read, at).map(|()| read)
        };
        memory.write(100, &bytes).expect("nobody else writes");
        assert!(read(100).expect("it was written") == bytes);
        let writing = memory.writing.lock();
        assert_eq!(memory.write(200, &bytes).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(writing);
        assert!(read(100).expect("it was written") == bytes, "nothing has come since");
    }
}
