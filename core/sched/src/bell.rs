//! A bell that is heard in `epoll_wait`, across processes: an eventfd.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{self, Errno};

/// What ends the sleep of a thread that waits for descriptors, this one among them. It stays readable from the first
/// [`ring`](Bell::ring) until [`silence`](Bell::silence), so a call just before the sleep ends it too.
#[derive(Debug)]
pub struct Bell {
    descriptor: OwnedFd,
}

impl Bell {
    /// A new one. Its descriptor closes on exec unless told otherwise.
    ///
    /// # Errors
    /// The process has too many descriptors.
    pub fn new() -> Result<Bell, Errno> {
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Bell { descriptor })
    }

    /// One that another process made and handed over.
    pub fn of(descriptor: OwnedFd) -> Bell {
        Bell { descriptor }
    }

    /// Rings. A system call.
    pub fn ring(&self) {
        // The one way to fail, a full counter, means that it rings already. A descriptor that is no eventfd fails
        // otherwise, and its owner, who handed it over, is not woken.
        let _ = io::write(&self.descriptor, &1u64.to_ne_bytes());
    }

    /// Takes all rings back; whether there were any. The owner calls it when it wakes, before it looks for work.
    pub fn silence(&self) -> bool {
        io::read(&self.descriptor, &mut [0; 8]).is_ok()
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn is_heard(bell: &Bell) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(bell, PollFlags::IN)], Some(&at_once)) == Ok(1)
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls in assembly")]
    fn it_rings_until_silenced() {
        let bell = Bell::new().unwrap();
        let other = Bell::of(bell.descriptor.try_clone().unwrap());
        assert!(!is_heard(&bell) && !bell.silence());
        other.ring();
        other.ring();
        assert!(is_heard(&bell) && is_heard(&bell) && bell.silence());
        assert!(!is_heard(&bell) && !other.silence());
    }
}
