//! The memory of another process of this host, read where it is, as debuggers do (`process_vm_readv`): one copy, and its
//! owner goes on computing.
//!
//! The number of a process may be given to another one once it has ended, and might mean another one elsewhere. So a process
//! has a *mark*, a random number at a place of its own, and what was read is believed only if that mark is there after it.
//!
//! ```
//! use talisman_base::process_memory::Readable;
//! let this = Readable::this().expect("the system gives random numbers");
//! let (there, mut here) = (*b"some bytes", [0; 10]);
//! // SAFETY: memory of this function.
//! let read = unsafe { this.read(there.as_ptr() as u64, &raw mut here[..]) };
//! if read.is_ok() {
//!     assert_eq!((here, this.check().is_ok()), (there, true));
//! }
//! ```

use std::io;
use std::sync::OnceLock;

use talisman_pup::Pup;

/// The mark of this process; none if the system gives no random numbers.
static MARK: OnceLock<Option<u128>> = OnceLock::new();

/// A process, for who reads its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Readable {
    /// Its number.
    pub process: u32,
    /// Where its mark is.
    pub mark_at: u64,
    /// Its mark.
    pub mark: u128,
}

impl Readable {
    /// This process; none if the system gives no random numbers.
    pub fn this() -> Option<Readable> {
        let mark = MARK.get_or_init(fresh_mark).as_ref()?;
        Some(Readable { process: std::process::id(), mark_at: std::ptr::from_ref(mark) as u64, mark: *mark })
    }

    /// Reads what it has at an address. It may be another process by now: see [`Readable::check`].
    ///
    /// # Safety
    /// `to` is memory that may be written to, and that nobody else reads or writes meanwhile.
    ///
    /// # Errors
    /// The process is gone, cannot be read, or has nothing there.
    pub unsafe fn read(&self, mut at: u64, to: *mut [u8]) -> io::Result<()> {
        let (mut next, mut left) = (to.cast::<u8>(), to.len());
        let process = libc::pid_t::try_from(self.process).map_err(io::Error::other)?;
        while left > 0 {
            let here = libc::iovec { iov_base: next.cast(), iov_len: left };
            let there = libc::iovec { iov_base: at as *mut libc::c_void, iov_len: left };
            // SAFETY: the system writes at most `left` bytes from `next` on, which may be written to, and finds out itself
            // whether there is anything at `at` in the other process.
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

    /// Sees that what was read so far was read from this process.
    ///
    /// # Errors
    /// It was another one, or that cannot be known any more.
    pub fn check(&self) -> io::Result<()> {
        let mut found = [0; size_of::<u128>()];
        // SAFETY: memory of this function.
        unsafe { self.read(self.mark_at, &raw mut found[..]) }?;
        match u128::from_ne_bytes(found) == self.mark {
            true => Ok(()),
            false => Err(io::Error::other("it is another process by now")),
        }
    }
}

/// Lets the other nodes of this host read the memory of this one, where the system asks for that (Yama, a security module):
/// they are started by the same process, and so is whatever else may read it then.
pub fn allow_siblings() {
    // SAFETY: a setting of this process, of plain numbers. Where nobody asks for it, it is not known, and nothing happens.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::getppid() as libc::c_ulong, 0, 0, 0) };
}

fn fresh_mark() -> Option<u128> {
    let mut mark = [0; size_of::<u128>()];
    getrandom::fill(&mut mark).ok()?;
    Some(u128::from_ne_bytes(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(of: Readable, at: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        // SAFETY: the vector's own memory.
        unsafe { of.read(at, &raw mut bytes[..]) }?;
        Ok(bytes)
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let this = Readable::this().expect("the system gives random numbers");
        let bytes = *b"here";
        assert_eq!(read(this, bytes.as_ptr() as u64 + 1, 3).unwrap(), b"ere");
        assert!(read(this, 8, 1).is_err(), "nothing is mapped there");
        assert!(read(this, u64::MAX, 1).is_err(), "nor at the end");
        assert!(read(Readable { process: u32::MAX, ..this }, 8, 1).is_err(), "there is no such process");
    }

    #[test]
    fn another_process_is_not_believed() {
        let this = Readable::this().expect("the system gives random numbers");
        assert!(this.check().is_ok());
        assert!(Readable { mark: this.mark ^ 1, ..this }.check().is_err());
        assert!(Readable { mark_at: 8, ..this }.check().is_err());
    }
}
