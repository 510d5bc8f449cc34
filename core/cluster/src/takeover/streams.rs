//! Where a node prints that has no launcher any more.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::thread;

use rustix::io::fcntl_dupfd_cloexec;

use crate::spool::Spool;
use crate::standby::keep_from_children;
use talisman_control::heritage::{Heritage, Numbers};

/// The launcher's standard output and standard error, and what its output goes through, for its nodes to inherit.
#[derive(Debug)]
pub struct Streams([OwnedFd; 2], Numbers);

impl Streams {
    /// Those of this process.
    ///
    /// # Errors
    /// They are closed, or the system gives no descriptors.
    pub fn of_this_process() -> io::Result<Self> {
        let copy = |stream: BorrowedFd<'_>| fcntl_dupfd_cloexec(stream, FIRST_OF_OURS);
        let spool = Spool::of_this_process()?.numbers();
        Ok(Streams([copy(io::stdout().as_fd())?, copy(io::stderr().as_fd())?], spool))
    }

    /// All that is to be inherited.
    pub fn all(&self) -> impl Iterator<Item = RawFd> {
        self.numbers().into_iter().chain(self.1.all())
    }

    pub fn spool(&self) -> Numbers {
        self.1
    }

    /// Their numbers, which are the same in the nodes.
    pub fn numbers(&self) -> [RawFd; 2] {
        self.0.each_ref().map(AsRawFd::as_raw_fd)
    }
}

/// Programs that this process starts have nothing of it.
///
/// # Errors
/// There are no such descriptors.
pub fn keep_all_from_children(heritage: &Heritage) -> io::Result<()> {
    heritage.streams.iter().chain(&heritage.pipes).copied().try_for_each(keep_from_children)?;
    heritage.spool.map_or(Ok(()), |spool| spool.all().into_iter().try_for_each(keep_from_children))
}

/// From now on this process prints to where the launcher did. What the launcher has not read comes there too.
///
/// # Errors
/// What the system says; some output may be lost then.
pub fn take_over(heritage: Heritage) -> io::Result<()> {
    heritage.spool.into_iter().for_each(Spool::inherit);
    // SAFETY: the launcher left it open for this process, and it is closed below at the earliest.
    mend(unsafe { BorrowedFd::borrow_raw(heritage.streams[0]) });
    let own = [libc::STDOUT_FILENO, libc::STDERR_FILENO];
    for ((stream, pipe), own) in heritage.streams.into_iter().zip(heritage.pipes).zip(own) {
        // SAFETY: the launcher left both open for this process alone, under these numbers, and this is done once.
        let (stream, pipe) = unsafe { (OwnedFd::from_raw_fd(stream), OwnedFd::from_raw_fd(pipe)) };
        // SAFETY: the number stays open all the time, and means a stream to print to, before and after.
        if unsafe { libc::dup2(stream.as_raw_fd(), own) } < 0 {
            return Err(io::Error::last_os_error());
        }
        let hand_on = move || hand_on(File::from(pipe), File::from(stream));
        // A thread that is in the midst of printing goes on when there is room; the end comes once nobody can print there.
        thread::Builder::new().name("rest".into()).spawn(hand_on)?;
    }
    Ok(())
}

/// Ends the line that a launcher which is lost was printing there, before this process prints there itself.
pub fn mend(out: BorrowedFd<'_>) {
    // If it cannot be, the line stays as it is, and what others print may come amid it.
    let _ = Spool::existing().map(|spool| spool.mend(out));
}

/// Writes to one what comes by the other. By the process itself: moved by the system, it would come to where a file was when the move began,
/// and to the place of what others write there meanwhile.
fn hand_on(mut from: File, mut to: File) -> io::Result<()> {
    let mut bytes = vec![0; 1 << 16];
    loop {
        match from.read(&mut bytes)? {
            0 => return Ok(()),
            count => to.write_all(&bytes[..count])?,
        }
    }
}

/// Lower numbers are those of standard streams.
const FIRST_OF_OURS: RawFd = 3;
