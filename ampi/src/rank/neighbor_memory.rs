//! Long messages of ranks in other processes of this host, read where their senders have them (`process_vm_readv`): one copy, where a link
//! takes two, and needs a turn of both sides for each part.
//!
//! A rank's memory in a process has a *mark*: a random number at a place of its own, which goes before anything of that memory does, and
//! before the program may write to what was sent. So what was read is believed only if the mark is still there behind it. That also
//! tells another process from the one that was meant. Where the system forbids reading, or the rank has left, the bytes are asked for.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustc_hash::FxHasher;

use crate::engine::Loan;

/// What is longer is asked for: the system reads no more than 2 GiB at once.
const LEN_MAX: usize = 1 << 30;

/// Places of marks that are free. A place is never anything else, so that it can be read after its mark has gone.
static FREE: Mutex<Vec<&'static AtomicU64>> = Mutex::new(Vec::new());

/// The system forbids it.
static IS_FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// As long as it lives, others may read what is lent with it.
#[derive(Debug)]
pub(super) struct Mark {
    place: &'static AtomicU64,
    number: u64,
}

impl Mark {
    pub fn new() -> Mark {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let place = free.unwrap_or_else(|| Box::leak(Box::default()));
        // 0 is none.
        let number = RandomState::new().build_hasher().finish() | 1;
        place.store(number, Ordering::SeqCst);
        Mark { place, number }
    }

    /// So many bytes at this address are lent; none if the host has no name.
    pub fn lend(&self, at: u64, len: u64) -> Option<Loan> {
        let mark_at = std::ptr::from_ref(self.place) as u64;
        Some(Loan { host: host()?, process: std::process::id(), mark: self.number, mark_at, at, len })
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.place.store(0, Ordering::SeqCst);
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self.place);
    }
}

/// Reads the first `len` bytes of what is lent. False if they are not to be had; what is at `to` may have changed then.
///
/// # Safety
/// `len` bytes at `to` may be written to, and nobody else uses them meanwhile.
pub(super) unsafe fn read(loan: &Loan, to: *mut u8, len: usize) -> bool {
    let is_near = host() == Some(loan.host) && !IS_FORBIDDEN.load(Ordering::Relaxed);
    let process = libc::pid_t::try_from(loan.process);
    let (true, true, Ok(process)) = (is_near, len <= LEN_MAX && len as u64 <= loan.len, process) else {
        return false;
    };
    let mut mark = 0_u64;
    let all = len + size_of::<u64>();
    let vector = |at: *mut u8, len| libc::iovec { iov_base: at.cast(), iov_len: len };
    let here = [vector(to, len), vector((&raw mut mark).cast(), size_of::<u64>())];
    // In this order: whoever writes to the bytes has taken the mark away before.
    let there = [vector(loan.at as *mut u8, len), vector(loan.mark_at as *mut u8, size_of::<u64>())];
    // SAFETY: the system writes to the memory of the caller and to `mark`, no more than there is, and finds out itself whether there is
    // anything at those addresses of the other process.
    let read = unsafe { libc::process_vm_readv(process, here.as_ptr(), 2, there.as_ptr(), 2, 0) };
    if read < 0 && matches!(io::Error::last_os_error().raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) {
        IS_FORBIDDEN.store(true, Ordering::Relaxed);
    }
    usize::try_from(read) == Ok(all) && mark == loan.mark
}

/// Names this host, and the table of processes that their numbers are of; none if the system does not tell.
fn host() -> Option<u64> {
    static HOST: OnceLock<Option<u64>> = OnceLock::new();
    *HOST.get_or_init(|| {
        let boot = fs::read("/proc/sys/kernel/random/boot_id").ok()?;
        let processes = fs::read_link("/proc/self/ns/pid").ok()?;
        let mut name = FxHasher::default();
        name.write(&boot);
        name.write(processes.as_os_str().as_encoded_bytes());
        Some(name.finish())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_of(loan: &Loan, len: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; len];
        // SAFETY: the vector's own memory.
        unsafe { read(loan, bytes.as_mut_ptr(), len) }.then_some(bytes)
    }

    #[test]
    fn what_is_lent_is_read_as_long_as_its_mark_is_there() {
        let message: Vec<u8> = (0..100_000_u32).map(|at| (at % 251) as u8).collect();
        let mark = Mark::new();
        let loan = mark.lend(message.as_ptr() as u64, message.len() as u64).expect("the host has a name");
        assert_eq!(read_of(&loan, message.len()).as_ref(), Some(&message));
        assert_eq!(read_of(&loan, 10).as_deref(), Some(&message[..10]));
        drop(mark);
        assert_eq!(read_of(&loan, 10), None);
        // Somebody else's mark in the same place.
        let _next = Mark::new();
        assert_eq!(read_of(&loan, 10), None);
    }

    #[test]
    fn what_is_not_there_is_not_read() {
        let message = [7_u8; 64];
        let mark = Mark::new();
        let loan = mark.lend(message.as_ptr() as u64, 64).expect("the host has a name");
        assert!(read_of(&loan, 64).is_some());
        for wrong in [
            Loan { host: !loan.host, ..loan },
            Loan { mark: !loan.mark, ..loan },
            Loan { mark_at: 8, ..loan },
            Loan { at: 8, ..loan },
            Loan { at: u64::MAX - 7, ..loan },
            Loan { process: u32::MAX, ..loan },
            Loan { len: 63, ..loan },
        ] {
            assert_eq!(read_of(&wrong, 64), None, "{wrong:?}");
        }
    }
}
