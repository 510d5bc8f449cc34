//! Thread-locals of programs.
//!
//! Code of executables, and of libraries that were compiled so, finds its thread-locals at a fixed distance below the
//! thread pointer (initial-exec and local-exec). All ranks of a thread share that thread pointer, so these bytes, the
//! *pad*, are copied in when a rank goes on and out when it waits. The other thread-locals are in the image, and a
//! rank asks for their addresses (general-dynamic): they are never copied.

use talisman_observe::mutations::mutated;

use crate::elf::{Elf, Segment};
use crate::{LoadError, PAGE};

/// Below the thread pointer at most; who runs ranks says how much there really is ([`crate::pad_room`]).
const PAD_MAX: usize = 1 << 20;
/// The pad begins and ends at a multiple of this.
const PAD_ALIGN: usize = 64;
/// In the pad of a program that loads libraries while it runs, for their thread-locals: those of libgomp take 136 bytes.
/// It is copied whenever ranks are switched.
pub const SPARE: usize = 256;

/// The pad: bytes below the thread pointer that belong to the rank that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadLocals {
    /// Where in the image they are kept while the rank waits.
    pub offset: usize,
    /// How many there are; they end at the thread pointer.
    pub len: usize,
    /// The thread pointer has to be a multiple of this.
    pub align: usize,
}

impl ThreadLocals {
    /// Copies a rank's thread-locals to the thread that is going to run it.
    ///
    /// # Safety
    /// The program is loaded at `base`, and the bytes below the thread pointer are nobody else's
    /// ([`crate::pad_room`]).
    pub unsafe fn enter(&self, base: usize) {
        if mutated("pad-not-copied-in") {
            return;
        }
        let (own, pad) = ((base + self.offset) as *const u8, (thread_pointer() - self.len) as *mut u8);
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(own, pad, self.len) };
    }

    /// Whether a place in the image is kept there.
    pub fn contains(&self, at: usize) -> bool {
        (self.offset..self.offset + self.len).contains(&at)
    }

    /// Copies what has been written where the running rank's are kept, from this offset in the image on, to the thread.
    ///
    /// # Safety
    /// As for [`ThreadLocals::enter`], which was called for this rank on this thread; the bytes are in the pad.
    pub unsafe fn enter_late(&self, base: usize, at: usize, len: usize) {
        let behind = self.offset + self.len - at;
        let (own, pad) = ((base + at) as *const u8, (thread_pointer() - behind) as *mut u8);
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(own, pad, len) };
    }

    /// Copies them back.
    ///
    /// # Safety
    /// As for [`ThreadLocals::enter`], which was called for this rank on this thread.
    pub unsafe fn leave(&self, base: usize) {
        if mutated("pad-not-copied-out") {
            return;
        }
        let (own, pad) = ((base + self.offset) as *mut u8, (thread_pointer() - self.len) as *const u8);
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(pad, own, self.len) };
    }
}

/// This thread's: where its thread-locals end.
pub(crate) fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: on x86-64 the first word there is its own address (ELF Handling For Thread-Local Storage, 3.4.2).
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly)) };
    pointer
}

/// Where an object's thread-locals are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// It has none.
    Nowhere,
    /// So far below the thread pointer.
    Pad(usize),
    /// At this offset in the image.
    Image(usize),
}

/// The places of all thread-locals.
#[derive(Clone, Debug)]
pub struct Blocks {
    pub pad: ThreadLocals,
    /// Of the pad so much is used.
    used: usize,
    pub of_objects: Vec<Block>,
    /// Where in the image what follows may begin.
    pub end: usize,
}

impl Blocks {
    /// Places thread-locals from `start` on. `near`: whether an object's are reached from the thread pointer; those of
    /// the program always are, and it comes first. `spare`: how many bytes the pad has besides, for libraries that are
    /// loaded later.
    pub fn place(objects: &[Elf], near: &[bool], start: usize, spare: usize) -> Result<Blocks, LoadError> {
        let mut of_objects = vec![Block::Nowhere; objects.len()];
        let (mut len, mut align) = (0, PAD_ALIGN);
        for (i, elf) in objects.iter().enumerate() {
            let Some(tls) = elf.segments.thread_locals.filter(|_| near[i] || i == 0) else { continue };
            check(elf, &tls)?;
            len = distance(len, &tls);
            align = align.max(tls.align);
            of_objects[i] = Block::Pad(len);
        }
        let used = len;
        let len = (used + spare).next_multiple_of(PAD_ALIGN);
        if len > PAD_MAX {
            let (path, room) = (objects[0].path.clone(), "thread-locals");
            return Err(LoadError::TooLarge { path, room, bytes: len, limit: PAD_MAX });
        }
        let pad = ThreadLocals { offset: start.next_multiple_of(align), len, align };
        let mut end = pad.offset + len;
        for (i, elf) in objects.iter().enumerate() {
            let Some(tls) = elf.segments.thread_locals.filter(|_| of_objects[i] == Block::Nowhere) else {
                continue;
            };
            check(elf, &tls)?;
            let at = place_in_image(&mut end, &tls);
            of_objects[i] = Block::Image(at);
        }
        Ok(Blocks { pad, used, of_objects, end })
    }

    /// Those of a library that was loaded later begin here in the image, if it has any.
    pub fn add_known(&mut self, at: Option<usize>) {
        let behind = self.pad.offset + self.pad.len;
        let block = match at {
            None => Block::Nowhere,
            Some(at) if (self.pad.offset..behind).contains(&at) => Block::Pad(behind - at),
            Some(at) => Block::Image(at),
        };
        if let Block::Pad(distance) = block {
            self.used = self.used.max(distance);
        }
        self.of_objects.push(block);
    }

    /// Places those of objects that are loaded later: such as are reached from the thread pointer (`near`) in what is left
    /// of the pad, if they fit, all others in the image, behind what is there.
    pub fn add(&mut self, objects: &[Elf], near: &[bool], start: usize) -> Result<(), LoadError> {
        self.end = start;
        for (elf, near) in objects.iter().zip(near) {
            let mut block = Block::Nowhere;
            if let Some(tls) = elf.segments.thread_locals {
                check(elf, &tls)?;
                let distance = distance(self.used, &tls);
                block = match *near && distance <= self.pad.len && tls.align <= self.pad.align {
                    true => Block::Pad(distance),
                    false => Block::Image(place_in_image(&mut self.end, &tls)),
                };
            }
            if let Block::Pad(distance) = block {
                self.used = distance;
            }
            self.of_objects.push(block);
        }
        Ok(())
    }

    /// Where in the image the first values of an object's thread-locals are put.
    pub fn image(&self, object: usize) -> Option<usize> {
        match self.of_objects[object] {
            Block::Nowhere => None,
            Block::Pad(distance) => Some(self.pad.offset + self.pad.len - distance),
            Block::Image(at) => Some(at),
        }
    }
}

fn place_in_image(end: &mut usize, tls: &Segment) -> usize {
    let at = end.next_multiple_of(tls.align) + tls.at % tls.align;
    *end = at + tls.len;
    at
}

/// The distance below the thread pointer of a block that follows `len` bytes of others: what the linker has computed
/// for the program's own, and the dynamic linker computes for libraries (`_dl_determine_tlsoffset`).
fn distance(len: usize, tls: &Segment) -> usize {
    let first = tls.at.wrapping_neg() % tls.align;
    (len + tls.len).saturating_sub(first).next_multiple_of(tls.align) + first
}

fn check(elf: &Elf, tls: &Segment) -> Result<(), LoadError> {
    if tls.align > PAGE {
        return Err(elf.unsupported("thread-locals that are aligned to more than a page", "align them less"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tls(at: usize, len: usize, align: usize) -> Segment {
        Segment { at, len, offset: 0, file_len: 0, align, writable: true, executable: false }
    }

    #[test]
    fn distances_are_those_of_the_linker() {
        assert_eq!(distance(0, &tls(0x3000, 12, 4)), 12);
        assert_eq!(distance(0, &tls(0x3000, 12, 16)), 16);
        assert_eq!(distance(16, &tls(0x3000, 8, 64)), 64);
        // A segment that does not begin at a multiple of its alignment begins as far after one in the pad.
        let odd = distance(0, &tls(0x3008, 8, 16));
        assert_eq!((odd, odd.wrapping_neg() % 16), (8, 8));
    }
}
