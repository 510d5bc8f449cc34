//! Moving pages to other addresses, without copying them.

use std::ffi::c_void;
use std::io;

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
        let (old, new) = (self.now as *mut c_void, to as *mut c_void);
        // SAFETY: `old` is this piece's memory; `new` is home, which the slot occupies and where nothing is, or was
        // reserved just now.
        unsafe { mremap_fixed(old, self.len, self.len, MremapFlags::MAYMOVE, new) }?;
        self.now = to;
        Ok(())
    }
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
