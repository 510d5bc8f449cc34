//! Moving pages to other addresses, without copying them.

use std::ffi::c_void;
use std::io;
use std::ops::Range;

use rustix::mm::{MapFlags, MremapFlags, ProtFlags, mmap_anonymous, mremap_fixed, munmap};

use super::space::map_nothing;

/// A piece of a slot: addresses that belong together, all accessible.
#[derive(Debug)]
pub(super) struct Piece {
    /// Where it has to be for its rank to run.
    pub home: usize,
    /// Where it is.
    pub now: usize,
    /// Its length in bytes; 0 if it is not there at all.
    pub len: usize,
}

impl Piece {
    /// Moves its pages away from home, whose addresses are without access from then on.
    pub fn put_aside(&mut self) -> io::Result<()> {
        if self.len == 0 || self.now != self.home {
            return Ok(());
        }
        let away = reserve(self.len)?;
        self.remap(away)?;
        map_nothing(self.home, self.len, MapFlags::FIXED)
    }

    /// Moves its pages home.
    pub fn put_back(&mut self) -> io::Result<()> {
        if self.len == 0 || self.now == self.home {
            return Ok(());
        }
        self.remap(self.home)
    }

    /// Memory without a value, aside.
    pub fn fresh(home: usize, len: usize) -> io::Result<Piece> {
        let now = if len == 0 { home } else { map(len, ProtFlags::READ | ProtFlags::WRITE)? };
        Ok(Piece { home, now, len })
    }

    /// Addresses without access, aside, that are a multiple of this as home may be.
    pub fn reserved(home: usize, len: usize, align: usize) -> io::Result<Piece> {
        let start = reserve(len + align)?;
        let now = start.next_multiple_of(align);
        for (at, len) in [(start, now - start), (now + len, start + align - now)] {
            if len > 0 {
                // SAFETY: a part of what was reserved just now, which nobody uses.
                unsafe { munmap(at as *mut c_void, len) }?;
            }
        }
        Ok(Piece { home, now, len })
    }

    /// Gives the memory back.
    pub fn discard(&mut self) -> io::Result<()> {
        let (now, len) = (self.now, std::mem::take(&mut self.len));
        if len == 0 {
            return Ok(());
        }
        if now == self.home {
            return map_nothing(now, len, MapFlags::FIXED);
        }
        // SAFETY: memory of this piece, which is gone with this.
        Ok(unsafe { munmap(now as *mut c_void, len) }?)
    }

    /// Page tables are moved, not bytes: microseconds where both addresses are multiples of 2 MiB.
    fn remap(&mut self, to: usize) -> io::Result<()> {
        let all = self.now..self.now + self.len;
        // SAFETY: `all` is this piece's memory; `to` is home, which the slot occupies and where nothing is, or was
        // reserved just now.
        let moved = unsafe { remap(all.clone(), to) };
        match moved {
            // Pages that arrived from elsewhere are mappings of their own, of which Linux before 6.17 moves one at a time.
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => {
                for part in mappings_in(&all)? {
                    let there = to + (part.start - all.start);
                    // SAFETY: as above, for a part of it.
                    unsafe { remap(part, there) }?;
                }
            }
            other => other?,
        }
        self.now = to;
        Ok(())
    }
}

/// # Safety
/// `from` is memory whose owner knows that it moves, and nothing is at `to`.
unsafe fn remap(from: Range<usize>, to: usize) -> io::Result<()> {
    let (old, new) = (from.start as *mut c_void, to as *mut c_void);
    // SAFETY: the caller's promise.
    unsafe { mremap_fixed(old, from.len(), from.len(), MremapFlags::MAYMOVE, new) }?;
    Ok(())
}

/// The system's mappings of this process that are in a range, cut to it (proc(5), `/proc/pid/maps`).
fn mappings_in(range: &Range<usize>) -> io::Result<Vec<Range<usize>>> {
    let text = std::fs::read_to_string("/proc/self/maps")?;
    let addresses = |line: &str| {
        let (start, end) = line.split_whitespace().next()?.split_once('-')?;
        let hex = |text| usize::from_str_radix(text, 16).ok();
        Some(hex(start)?.max(range.start)..hex(end)?.min(range.end))
    };
    Ok(text.lines().filter_map(addresses).filter(|part| !part.is_empty()).collect())
}

/// Addresses that are free.
fn reserve(len: usize) -> io::Result<usize> {
    map(len, ProtFlags::empty())
}

fn map(len: usize, access: ProtFlags) -> io::Result<usize> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: the system chooses addresses where nothing is.
    let mapped = unsafe { mmap_anonymous(std::ptr::null_mut(), len, access, flags) }?;
    Ok(mapped as usize)
}

#[cfg(test)]
mod tests {
    use rustix::mm::{MprotectFlags, mprotect};

    use super::*;
    use crate::slot::PAGE;

    #[test]
    fn pages_of_several_mappings_are_moved() {
        let mut piece = Piece::fresh(0, 4 * PAGE).expect("memory");
        let start = piece.now;
        for page in 0..4 {
            // SAFETY: within the piece, which can be written to.
            unsafe { ((start + page * PAGE) as *mut u8).write(page as u8 + 1) };
        }
        // SAFETY: a page of the piece, which is read only from here on.
        unsafe { mprotect((start + PAGE) as *mut c_void, PAGE, MprotectFlags::READ) }
            .expect("a page of its own");
        let all = start..start + 4 * PAGE;
        let parts = mappings_in(&all).expect("a list of mappings");
        assert_eq!(parts, [start..start + PAGE, start + PAGE..start + 2 * PAGE, start + 2 * PAGE..all.end]);
        let there = reserve(4 * PAGE).expect("addresses");
        piece.remap(there).expect("all of it");
        for page in 0..4 {
            // SAFETY: as above, and moved.
            assert_eq!(unsafe { ((there + page * PAGE) as *const u8).read() }, page as u8 + 1);
        }
        piece.discard().expect("it is this test's");
    }
}
