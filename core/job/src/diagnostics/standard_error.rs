//! Where lines go: each in one write, so that none of another process comes amid it.
//!
//! What people are to see waits for whoever reads standard error. What is there for a closer look does not: it is said by threads that must
//! not wait, as their silence would be taken for death. It is left out where there is no room for it, and counted.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

use super::format::is_ours;

/// So much a pipe takes at once where it takes anything.
const LINE_MAX: usize = 4096;

/// Standard error.
#[derive(Default)]
pub(super) struct StandardError {
    left_out: AtomicU64,
}

/// For one line.
pub(super) struct Line<'a> {
    left_out: &'a AtomicU64,
    waits: bool,
}

impl<'a> MakeWriter<'a> for StandardError {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { left_out: &self.left_out, waits: true }
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Line<'a> {
        Line { waits: *metadata.level() <= Level::INFO || !is_ours(metadata), ..self.make_writer() }
    }
}

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.waits {
            return io::stderr().write(line);
        }
        if !has_room() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return Ok(line.len());
        }
        let text = with_count(self.left_out.swap(0, Ordering::Relaxed), line);
        // Not through the lock of standard error, which somebody may hold who waits.
        rustix::io::write(io::stderr(), &text)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a line can be written at once.
fn has_room() -> bool {
    let stderr = io::stderr();
    let fd = stderr.as_fd();
    let mut polled = [PollFd::new(&fd, PollFlags::OUT)];
    poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

/// A line, no longer than a pipe takes, after the number of those that were left out before it.
fn with_count(left_out: u64, line: &[u8]) -> Vec<u8> {
    let mut text = match left_out {
        0 => Vec::new(),
        count => {
            format!("talisman: {count} lines were left out, as nobody read standard error\n").into_bytes()
        }
    };
    text.extend_from_slice(line);
    if text.len() > LINE_MAX {
        text.truncate(LINE_MAX - 4);
        text.extend_from_slice(b"...\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_not_longer_than_a_pipe_takes_at_once() {
        assert_eq!(with_count(0, b"short\n"), b"short\n");
        let long = with_count(2, &[b'x'; 2 * LINE_MAX]);
        assert_eq!(long.len(), LINE_MAX);
        assert!(long.starts_with(b"talisman: 2 lines were left out") && long.ends_with(b"x...\n"));
    }
}
