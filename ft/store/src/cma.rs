//! A part that stays where it is, for whoever keeps its copy to read it there.
//!
//! Through a ring, both processes copy each byte, and each has to have a turn for every quarter of a megabyte: where more nodes
//! than cores compute, that takes most of the time. A process of the same host reads the memory of the other instead
//! ([`Readable`]). Where the system forbids that, the part is sent in pieces like over a network.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use super::shm_map::{Mapping, Shared, Windows};
use talisman_base::process_memory::Readable;
use talisman_pup::{Packed, Pup};

/// Where the buffers of a part are.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Lent {
    /// Whose memory.
    pub owner: Readable,
    /// Where each begins.
    buffers: Vec<u64>,
    /// The slabs in which most of them are, if they can be mapped.
    shared: Option<Shared>,
}

/// What is mapped of each process, by its mark.
pub type AllWindows = HashMap<u128, Windows>;

impl Lent {
    /// A part of this process, which keeps it as it is for as long as anybody may read it. `None` if it cannot be read by others.
    pub fn of(part: &Packed, shared: Option<Shared>) -> Option<Lent> {
        let owner = Readable::this()?;
        let at = |bytes: &[u8]| bytes.as_ptr() as u64;
        let buffers = part.buffers().iter().map(|buffer| at(buffer.bytes())).collect();
        Some(Lent { owner, buffers, shared })
    }

    /// A part of a simulated process, which finds it by this number ([`super::readable`]).
    pub fn numbered(process: u32, number: u64, buffers: usize) -> Lent {
        let owner = Readable { process, mark_at: number, mark: 0 };
        Lent { owner, buffers: (0..buffers as u64).collect(), shared: None }
    }

    /// The simulated process and the number.
    pub fn number(&self) -> (u32, u64) {
        (self.owner.process, self.owner.mark_at)
    }

    /// The slabs of the part, mapped; none if they cannot be.
    pub fn mapped(&self, windows: &mut AllWindows) -> Vec<Arc<Mapping>> {
        let map = |shared: &Shared| {
            shared.map(self.owner.process, windows.entry(self.owner.mark).or_default()).ok()
        };
        self.shared.as_ref().and_then(map).unwrap_or_default()
    }

    /// Where a buffer begins, in the process that lent it.
    pub fn at(&self, buffer: usize) -> Option<u64> {
        self.buffers.get(buffer).copied()
    }

    /// Reads so many bytes of a buffer, from an offset on, to `to`.
    ///
    /// # Safety
    /// `to` is memory that may be written to, and that nobody else reads or writes meanwhile.
    ///
    /// # Errors
    /// The process cannot be read, or has nothing there.
    pub unsafe fn read(&self, buffer: usize, offset: usize, to: *mut [u8]) -> io::Result<()> {
        let nothing = || io::Error::other("there is no such buffer");
        let at = self.at(buffer).and_then(|at| at.checked_add(offset as u64)).ok_or_else(nothing)?;
        // SAFETY: the caller's promise.
        unsafe { self.owner.read(at, to) }
    }

    /// Sees that what was read so far was read from the process that lent it.
    ///
    /// # Errors
    /// It was another one, or that cannot be known any more.
    pub fn check(&self) -> io::Result<()> {
        self.owner.check()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use talisman_pup::Segment;

    fn part() -> Packed {
        let words: Vec<u64> = (0..5000).collect();
        Packed::new(Bytes::from_static(b"head"), vec![Segment::of_vec(words)], Vec::new())
    }

    fn read(lent: &Lent, buffer: usize, offset: usize, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        // SAFETY: the vector's own memory.
        unsafe { lent.read(buffer, offset, &raw mut bytes[..]) }?;
        Ok(bytes)
    }

    #[test]
    fn a_part_is_read_where_it_is() {
        let part = part();
        let lent = Lent::of(&part, None).expect("the system gives random numbers");
        assert_eq!(read(&lent, 0, 1, 3).unwrap(), b"ead");
        assert_eq!(read(&lent, 1, 8, 16).unwrap(), [1u64.to_ne_bytes(), 2u64.to_ne_bytes()].concat());
        assert!(lent.check().is_ok());
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let part = part();
        let lent = Lent::of(&part, None).expect("the system gives random numbers");
        assert!(read(&lent, 2, 0, 1).is_err(), "there are two buffers");
        assert!(
            read(&Lent { buffers: vec![8], ..lent.clone() }, 0, 0, 1).is_err(),
            "nothing is mapped there"
        );
        assert!(read(&Lent { buffers: vec![u64::MAX], ..lent.clone() }, 0, 8, 1).is_err(), "nor beyond all");
        assert!(
            read(&Lent { owner: Readable { process: u32::MAX, ..lent.owner }, ..lent }, 0, 0, 1).is_err(),
            "there is no such process"
        );
    }
}
