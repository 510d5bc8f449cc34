//! What the program says is printed once, also if the launcher is lost while it prints.
//!
//! Whoever prints may be killed between what it has printed and a note of that. So nothing is in between: a piece of text goes through a
//! pipe that outlives the launcher, and the system moves it from there to standard output; what has left the pipe is printed, and what has
//! not is still there.
//!
//! ```text
//! text ─► record (what is printed) ─► pipe ─(splice)─► standard output
//!            └─ chunk k is in the pipe: yes or no, in one word
//! ```
//!
//! Whoever takes the launcher's place on its host has both, prints the rest of what was begun, and knows from the `Record` what was
//! printed of which the nodes have not heard.
//!
//! A file is written to as ever: what the system moves there may come to the place of what others write meanwhile. There the file says how much of a
//! chunk has come, and before anybody else writes there, the rest of it does ([`Spool::mend`]). What is neither a file nor takes anything from a pipe (a few devices) may have the chunk twice that was just being written.
//!
//! | file | is |
//! |---|---|
//! | `record` | the words and the text, in a file in memory |
//! | [`file`] | how much of a text has come to a file |
//! | [`again`] | lines that a lost launcher had printed last, and that are said again |

pub mod again;
mod file;
mod record;
#[cfg(test)]
mod tests;

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec, ioctl_fionread};
use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, splice};

use crate::printer::{Lines, Print};
use record::{Begun, Record};
use talisman_control::heritage::Numbers;
use talisman_job::lines::Piece;

/// So much goes through the pipe at a time at most: any pipe has room for it, and has it as a whole or not at all.
const CHUNK: usize = 4096;

/// Where a text is cut: behind the end of a line, unless that is longer. What others print meanwhile does not come amid one.
fn chunks(text: &[u8]) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut from = 0;
    while from < text.len() {
        let most = &text[from..text.len().min(from + CHUNK)];
        let line = most.iter().rposition(|byte| *byte == b'\n');
        let to = from + line.map_or(most.len(), |end| end + 1);
        chunks.push(from..to);
        from = to;
    }
    chunks
}

/// The pipe and the record. One process prints at a time.
#[derive(Debug)]
pub struct Spool {
    record: Record,
    from: OwnedFd,
    to: OwnedFd,
    /// Standard output is a device that takes nothing from a pipe.
    is_direct: AtomicBool,
}

static OWN: OnceLock<Spool> = OnceLock::new();

impl Spool {
    /// The one of this process, which has one standard output: inherited, or new.
    ///
    /// # Errors
    /// The system gives no descriptors.
    pub fn of_this_process() -> io::Result<&'static Spool> {
        if OWN.get().is_none() {
            // If another thread was sooner, that one's is used.
            let _ = OWN.set(Spool::new()?);
        }
        Ok(OWN.get().expect("it was set"))
    }

    /// The same, if it has one.
    pub fn existing() -> Option<&'static Spool> {
        OWN.get()
    }

    /// This process has inherited one under these numbers. Has to be called once, before it prints.
    pub fn inherit(numbers: Numbers) {
        // SAFETY: whoever started this process left them open for it alone, by this function's contract.
        let [record, from, to] = numbers.all().map(|number| unsafe { OwnedFd::from_raw_fd(number) });
        let _ = OWN.set(Spool::of(Record::of(record.into()), [from, to]));
    }

    fn new() -> io::Result<Spool> {
        let (from, to) = pipe_with(PipeFlags::CLOEXEC)?;
        // Lower numbers are those of standard streams.
        let ends = [fcntl_dupfd_cloexec(from, 3)?, fcntl_dupfd_cloexec(to, 3)?];
        Ok(Spool::of(Record::new()?, ends))
    }

    fn of(record: Record, [from, to]: [OwnedFd; 2]) -> Spool {
        Spool { record, from, to, is_direct: AtomicBool::new(false) }
    }

    pub fn numbers(&self) -> Numbers {
        Numbers { record: self.record.number(), ends: [self.from.as_raw_fd(), self.to.as_raw_fd()] }
    }

    /// Has this process print the rest of what was begun before anything else. What has been printed last by then, if it has inherited a spool.
    pub fn go_on_with(lines: &Lines) -> Vec<Piece> {
        let Some(spool) = OWN.get() else { return Vec::new() };
        // Nothing waits there yet.
        let _ = lines.try_send(Print::GoOn);
        spool.record.pieces()
    }

    /// The lines that were printed at the end of a job by a launcher that was lost then.
    pub fn printed_last(&self) -> Vec<u8> {
        self.record.last_text()
    }

    /// Whoever printed is lost, and has not ended the line that it was writing to a file, perhaps: this ends it. Others may write there from now on,
    /// and not amid the line; whoever takes its place goes on behind it. Each that had it do the printing has to call this before it prints itself.
    ///
    /// # Errors
    /// It cannot be written, or known.
    pub fn mend(&self, out: BorrowedFd<'_>) -> io::Result<()> {
        self.record.alone(|| {
            let Some(begun) = self.record.begun()?.filter(|begun| !begun.is_in_pipe) else { return Ok(()) };
            let (text, place) = (begun.chunk(begun.chunk).unwrap_or_default(), begun.place);
            match place.map_or(0, |place| file::come(out, place, text)) {
                0 => Ok(()),
                there => self.write_all(out, &text[there..]),
            }
        })
    }

    /// Prints the rest of what somebody had begun who is lost.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn go_on(&self, out: BorrowedFd<'_>) -> io::Result<()> {
        let Some(begun) = self.record.begun()? else { return self.drain(out, self.waiting()?) };
        let mut next = begun.chunk;
        if begun.is_in_pipe {
            self.drain(out, self.waiting()?)?;
            next += 1;
        } else {
            // It may be there, or some of it, and nothing of that was printed.
            self.take(self.waiting()?)?;
            if let Some(text) = begun.chunk(next) {
                let there = begun.place.map_or(0, |place| file::come(out, place, text));
                self.write_all(out, &text[there..])?;
                next += 1;
            }
        }
        self.print_from(&begun, next, out)
    }

    /// Prints a text, of a piece, or without one the last that the job says.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn print(&self, piece: Option<Piece>, text: Vec<u8>, out: BorrowedFd<'_>) -> io::Result<()> {
        if !self.record.has_room(text.len())? {
            return self.write_all(out, &text);
        }
        let begun = self.record.begin(piece, text)?;
        self.print_from(&begun, 0, out)
    }

    fn print_from(&self, begun: &Begun, from: usize, out: BorrowedFd<'_>) -> io::Result<()> {
        let all = (from..).map_while(|chunk| Some((chunk, begun.chunk(chunk)?)));
        let printed = all.into_iter().try_for_each(|(chunk, text)| self.print_chunk(chunk, text, out));
        self.record.end(begun)?;
        printed
    }

    fn print_chunk(&self, chunk: usize, text: &[u8], out: BorrowedFd<'_>) -> io::Result<()> {
        let place = file::place(out);
        if place.is_some() || self.is_direct.load(Ordering::Relaxed) {
            self.record.writes(chunk, place)?;
            return self.write_all(out, text);
        }
        self.record.fills(chunk)?;
        self.write_all(self.to.as_fd(), text)?;
        self.record.filled(chunk)?;
        self.drain(out, text.len())
    }

    /// How many bytes are in the pipe.
    fn waiting(&self) -> io::Result<usize> {
        Ok(usize::try_from(ioctl_fionread(&self.from)?).unwrap_or(usize::MAX))
    }

    /// So much of what is in the pipe, which is as much at least.
    fn take(&self, len: usize) -> io::Result<Vec<u8>> {
        let mut text = vec![0; len];
        let mut taken = 0;
        while taken < len {
            match rustix::io::read(&self.from, &mut text[taken..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => taken += count,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(text)
    }

    /// Has the system move what is in the pipe to where it belongs.
    fn drain(&self, out: BorrowedFd<'_>, mut left: usize) -> io::Result<()> {
        while left > 0 {
            match splice(&self.from, None, out, None, left, SpliceFlags::MOVE) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(moved) => left -= moved.min(left),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => wait_for(out)?,
                Err(Errno::INVAL) => {
                    self.is_direct.store(true, Ordering::Relaxed);
                    return self.write_all(out, &self.take(left)?);
                }
                Err(error) => {
                    // Nobody else finds it there.
                    let _ = self.take(left);
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }

    fn write_all(&self, out: BorrowedFd<'_>, mut text: &[u8]) -> io::Result<()> {
        while !text.is_empty() {
            match rustix::io::write(out, text) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => text = &text[written..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => wait_for(out)?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Until there is room.
fn wait_for(out: BorrowedFd<'_>) -> io::Result<()> {
    let fd = out.as_fd();
    match poll(&mut [PollFd::new(&fd, PollFlags::OUT)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
