//! Another process in a test: this test binary again, with descriptors handed over.

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};

use rustix::io::{FdFlags, fcntl_setfd};

const DESCRIPTORS: &str = "TALISMAN_TEST_DESCRIPTORS";

/// A process that does not outlive this.
pub(super) struct Started(pub(super) Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Started {
    /// Whether it has not ended.
    pub(super) fn runs(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

/// Runs the test of this name, which is a `child` that asks for [`handed_over`], in a process of its own.
pub(super) fn start(test: &str, descriptors: &[BorrowedFd<'_>]) -> Started {
    let inherited = descriptors.iter().map(|descriptor| {
        let copy = descriptor.try_clone_to_owned().unwrap();
        fcntl_setfd(&copy, FdFlags::empty()).unwrap();
        copy
    });
    let inherited: Vec<OwnedFd> = inherited.collect();
    let numbers: Vec<String> = inherited.iter().map(|copy| copy.as_raw_fd().to_string()).collect();
    let name = format!("shm::tests::{test}");
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args([&name, "--exact", "--nocapture", "--test-threads=1"]);
    Started(child.env(DESCRIPTORS, numbers.join(",")).stdout(Stdio::null()).spawn().unwrap())
}

/// What [`start`] was given; `None` in a process that it did not start.
pub(super) fn handed_over() -> Option<Vec<OwnedFd>> {
    let numbers = std::env::var(DESCRIPTORS).ok()?;
    // SAFETY: open, handed over by the parent, and nobody else's in this process.
    let descriptor = |number: &str| unsafe { OwnedFd::from_raw_fd(number.parse().unwrap()) };
    Some(numbers.split(',').map(descriptor).collect())
}
