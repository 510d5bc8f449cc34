//! A part that stays where it is, for whoever keeps its copy to read it there.
//!
//! Through a ring, both processes copy each byte, and each has to have a turn for every quarter of a megabyte: where more nodes
//! than cores compute, that takes most of the time. A process of the same host reads the memory of the other instead (as
//! debuggers do, `process_vm_readv`): one copy, and the owner goes on computing. Where the system forbids that, the part is sent
//! in pieces like over a network.
//!
//! The number of a process may be given to another one once it has ended, and might mean another one elsewhere. So a process has
//! a *mark*, a random number at a place of its own, and what was read is believed only if that mark is there after it.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, OnceLock};

use rustix::process::{PTracer, getppid, set_ptracer};

use super::shm_map::{Mapping, Shared, Windows};
use talisman_pup::{Packed, Pup};

/// Where the buffers of a part are.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Lent {
    process: u32,
    mark_at: u64,
    pub mark: u128,
    /// Where each begins.
    buffers: Vec<u64>,
    /// The slabs in which most of them are, if they can be mapped.
    shared: Option<Shared>,
}

/// What is mapped of each process, by its mark.
pub type AllWindows = HashMap<u128, Windows>;

/// The mark of this process; none if the system gives no random numbers.
static MARK: OnceLock<Option<u128>> = OnceLock::new();

impl Lent {
    /// A part of this process, which keeps it as it is for as long as anybody may read it. `None` if it cannot be read by others.
    pub fn of(part: &Packed, shared: Option<Shared>) -> Option<Lent> {
        let mark = MARK.get_or_init(fresh_mark).as_ref()?;
        let at = |bytes: &[u8]| bytes.as_ptr() as u64;
        let buffers = part.buffers().iter().map(|buffer| at(buffer.bytes())).collect();
        Some(Lent {
            process: std::process::id(),
            mark_at: std::ptr::from_ref(mark) as u64,
            mark: *mark,
            buffers,
            shared,
        })
    }

    /// A part of a simulated process, which finds it by this number ([`super::readable`]).
    pub fn numbered(process: u32, number: u64, buffers: usize) -> Lent {
        Lent { process, mark_at: number, mark: 0, buffers: (0..buffers as u64).collect(), shared: None }
    }

    /// The simulated process and the number.
    pub fn number(&self) -> (u32, u64) {
        (self.process, self.mark_at)
    }

    /// Lets the other nodes of this host read the memory of this one, where the system asks for that (Yama, a security module):
    /// they are started by the same process, and so is whatever else may read it then.
    pub fn allow() {
        if let Some(launcher) = getppid() {
            // Where nobody asks for it, it is not known.
            let _ = set_ptracer(PTracer::ProcessID(launcher));
        }
    }

    /// The slabs of the part, mapped; none if they cannot be.
    pub fn mapped(&self, windows: &mut AllWindows) -> Vec<Arc<Mapping>> {
        let map = |shared: &Shared| shared.map(self.process, windows.entry(self.mark).or_default()).ok();
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
        unsafe { read_of(self.process, at, to) }
    }

    /// Sees that what was read so far was read from the process that lent it.
    ///
    /// # Errors
    /// It was another one, or that cannot be known any more.
    pub fn check(&self) -> io::Result<()> {
        let mut found = [0; size_of::<u128>()];
        // SAFETY: memory of this function.
        unsafe { read_of(self.process, self.mark_at, &raw mut found[..]) }?;
        match u128::from_ne_bytes(found) == self.mark {
            true => Ok(()),
            false => Err(io::Error::other("it is another process by now")),
        }
    }
}

fn fresh_mark() -> Option<u128> {
    let mut mark = [0; size_of::<u128>()];
    getrandom::fill(&mut mark).ok()?;
    Some(u128::from_ne_bytes(mark))
}

/// # Safety
/// As of [`Lent::read`].
unsafe fn read_of(process: u32, mut at: u64, to: *mut [u8]) -> io::Result<()> {
    let (mut next, mut left) = (to.cast::<u8>(), to.len());
    let process = libc::pid_t::try_from(process).map_err(io::Error::other)?;
    while left > 0 {
        let here = libc::iovec { iov_base: next.cast(), iov_len: left };
        let there = libc::iovec { iov_base: at as *mut libc::c_void, iov_len: left };
        // SAFETY: the system writes at most `left` bytes from `next` on, which may be written to, and finds out itself whether there
        // is anything at `at` in the other process.
        let read = unsafe { libc::process_vm_readv(process, &raw const here, 1, &raw const there, 1, 0) };
        match usize::try_from(read) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                // SAFETY: within the memory that the caller gave.
                next = unsafe { next.add(read) };
                (at, left) = (at + read as u64, left - read);
            }
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
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
        assert!(read(&Lent { process: u32::MAX, ..lent }, 0, 0, 1).is_err(), "there is no such process");
    }

    #[test]
    fn another_process_is_not_believed() {
        let lent = Lent::of(&part(), None).expect("the system gives random numbers");
        assert!(Lent { mark: lent.mark ^ 1, ..lent.clone() }.check().is_err());
        assert!(Lent { mark_at: 8, ..lent }.check().is_err());
    }
}
