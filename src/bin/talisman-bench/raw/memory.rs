//! Raw shared memory: a counter and the payload beside it, both sides polling.

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::polling::wait_until;

/// A cache line: the counter and what fits beside it.
const LINE: usize = 64;
const IN_LINE: usize = LINE - size_of::<u64>();
const SLOTS: u64 = 256;
/// Slots after which the reader says how far it is.
const TOLD_EVERY: u64 = 64;
/// One direction: a line with a counter, the reader's word about the slots, an area, and slots of up to two lines.
const TOLD_AT: usize = 2 * LINE;
const AREA_AT: usize = 4 * LINE;
const SLOTS_AT: usize = AREA_AT + Memory::AREA;
const DIRECTION: usize = SLOTS_AT + SLOTS as usize * 2 * LINE;

/// The two directions, and how far this side is.
pub struct Memory {
    base: NonNull<u8>,
    ours: usize,
    written: u64,
    read: u64,
    poured: u64,
    drunk: u64,
}

// SAFETY: the memory is shared between processes and is only reached through the one owner on this side; what the two
// sides tell each other goes through atomic counters.
unsafe impl Send for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length, and nothing refers to it any more.
        unsafe { munmap(self.base.as_ptr().cast(), 2 * DIRECTION) }.expect("it was mapped");
    }
}

impl Memory {
    /// Most bytes handed over at once; for more the limit is a copy.
    pub const AREA: usize = 64 << 10;

    pub fn create() -> io::Result<(Memory, OwnedFd)> {
        let file = memfd_create("between_nodes", MemfdFlags::CLOEXEC)?;
        ftruncate(&file, 2 * DIRECTION as u64)?;
        Ok((Memory::map(&file, 0)?, file))
    }

    pub fn open(path: &str) -> io::Result<Memory> {
        Memory::map(File::options().read(true).write(true).open(path)?, DIRECTION)
    }

    fn map(file: impl AsFd, ours: usize) -> io::Result<Memory> {
        // SAFETY: a new mapping at an address of the system's choice.
        let base = unsafe {
            let both = ProtFlags::READ | ProtFlags::WRITE;
            mmap(std::ptr::null_mut(), 2 * DIRECTION, both, MapFlags::SHARED, file, 0)?
        };
        let base = NonNull::new(base.cast()).expect("the system maps nothing at 0");
        Ok(Memory { base, ours, written: 0, read: 0, poured: 0, drunk: 0 })
    }

    fn theirs(&self) -> usize {
        DIRECTION - self.ours
    }

    fn at(&self, offset: usize) -> *mut u8 {
        // SAFETY: all offsets are below twice the length of a direction, which is mapped.
        unsafe { self.base.as_ptr().add(offset) }
    }

    fn counter(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: aligned by the layout, mapped as long as `self`, and only ever reached as an atomic.
        unsafe { AtomicU64::from_ptr(self.at(offset).cast()) }
    }

    pub fn has_come(&self) -> bool {
        self.counter(self.theirs()).load(Ordering::Acquire) > self.read
    }

    /// In the counter's line or in the area. The two sides take turns, so that the place is always free.
    pub fn write(&mut self, bytes: &[u8]) {
        let to = self.at(self.ours + place(bytes.len()));
        // SAFETY: `place` fits them, and the other side looks there only after the counter says so.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.written += 1;
        self.counter(self.ours).store(self.written, Ordering::Release);
    }

    pub fn read(&mut self, room: &mut [u8]) {
        self.read += 1;
        wait_for(self.counter(self.theirs()), self.read);
        let from = self.at(self.theirs() + place(room.len()));
        // SAFETY: as many were written there, and will stay until this side has answered.
        unsafe { room.as_mut_ptr().copy_from_nonoverlapping(from, room.len()) };
    }

    /// A ring of slots of one or two lines, each with its lap number.
    pub fn pour(&mut self, messages: u64, bytes: usize) {
        let slot = slot_bytes(bytes);
        for _ in 0..messages {
            if self.poured.is_multiple_of(TOLD_EVERY) && self.poured >= SLOTS {
                wait_for(self.counter(self.ours + TOLD_AT), self.poured + TOLD_EVERY - SLOTS);
            }
            let at = self.ours + SLOTS_AT + (self.poured % SLOTS) as usize * slot;
            // SAFETY: inside the slot, which the reader has said to be free.
            unsafe { write_words(self.at(at).cast(), slot, self.poured) };
            self.poured += 1;
            self.counter(at).store(self.poured, Ordering::Release);
        }
    }

    pub fn drink(&mut self, messages: u64, bytes: usize) {
        let slot = slot_bytes(bytes);
        let mut sum = 0;
        for _ in 0..messages {
            let at = self.theirs() + SLOTS_AT + (self.drunk % SLOTS) as usize * slot;
            let counter = self.counter(at);
            wait_until(|| counter.load(Ordering::Acquire) == self.drunk + 1);
            // SAFETY: inside the slot, which the writer leaves alone until it is told that it was read.
            sum ^= unsafe { read_words(self.at(at).cast(), slot) };
            self.drunk += 1;
            if self.drunk.is_multiple_of(TOLD_EVERY) {
                self.counter(self.theirs() + TOLD_AT).store(self.drunk, Ordering::Release);
            }
        }
        black_box(sum);
    }
}

fn place(bytes: usize) -> usize {
    assert!(bytes <= Memory::AREA, "larger ones are not handed over like this");
    if bytes <= IN_LINE { size_of::<u64>() } else { AREA_AT }
}

/// Fills a slot but for its counter.
///
/// # Safety
/// So many bytes may be written there.
#[inline(always)]
unsafe fn write_words(slot: *mut u64, bytes: usize, word: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        slot.add(1).cast::<[u64; 7]>().write([word; 7]);
        if bytes > LINE {
            slot.add(8).cast::<[u64; 8]>().write([word; 8]);
        }
    }
}

/// Reads a slot but for its counter.
///
/// # Safety
/// So many bytes may be read there.
#[inline(always)]
unsafe fn read_words(slot: *const u64, bytes: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        let first = slot.add(1).cast::<[u64; 7]>().read();
        let second = if bytes > LINE { slot.add(8).cast::<[u64; 8]>().read() } else { [0; 8] };
        first.iter().chain(&second).fold(0, |all, word| all ^ word)
    }
}

fn slot_bytes(bytes: usize) -> usize {
    (bytes + size_of::<u64>()).next_multiple_of(LINE)
}

fn wait_for(counter: &AtomicU64, value: u64) {
    wait_until(|| counter.load(Ordering::Acquire) >= value);
}
