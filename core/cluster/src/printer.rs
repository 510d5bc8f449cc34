//! A thread that writes what the nodes print, so that nobody else waits for a slow terminal or pipe.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::spool::Spool;
use crate::spool::again::Again;
use talisman_control::lines::Merger;
use talisman_control::protocol::ToNode;
use talisman_job::Progress;
use talisman_job::diagnostics::{say, subjects::CONTROL};
use talisman_job::lines::Piece;
use talisman_job::progress::Steps;
use talisman_job::streams;

/// Pieces of output that wait at most; then the nodes wait, as they would for the terminal.
const WAITING_MAX: usize = 64;

/// Where output goes; a sender may have to wait there.
pub type Lines = mpsc::Sender<Print>;

/// What may be said to nodes now that what was before it is written.
pub type Written = mpsc::UnboundedReceiver<(u32, ToNode)>;

/// Something to write.
#[derive(Clone, Debug, PartialEq)]
pub enum Print {
    Chunk(Chunk),
    /// Lines of the program: a piece of them, or the last ones of the job.
    Lines {
        node: u32,
        piece: Option<Piece>,
        lines: Vec<String>,
    },
    /// The rest of what was being printed when a launcher was lost, before anything else on standard output.
    GoOn,
    /// A line of the launcher's own, on standard error.
    Say(String),
    /// The same of a loss, or of what does not go as it should.
    Warn(String),
    /// All before it is written, so that this may be said to a node.
    Written(u32, ToNode),
    /// How far the program is, so long after its start.
    Show(Duration, Steps),
}

impl Print {
    /// What goes elsewhere does not wait for whoever reads standard output.
    fn comes_after_the_rest(&self) -> bool {
        match self {
            Print::Chunk(chunk) => chunk.stream == Stream::Out,
            Print::Lines { .. } | Print::Written(..) => true,
            Print::GoOn | Print::Say(_) | Print::Warn(_) | Print::Show(..) => false,
        }
    }
}

/// Output of a node: whole lines, except where one is too long or the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub node: u32,
    pub stream: Stream,
    pub bytes: Vec<u8>,
}

/// Standard output or standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

/// The thread.
pub struct Printer(JoinHandle<io::Result<()>>);

impl Printer {
    /// Starts it; it ends once all senders are gone. What it was given as [`Print::Written`] comes back when its turn is.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(label: bool, progress: Progress) -> io::Result<(Printer, Lines, Written)> {
        let (lines, queue) = mpsc::channel(WAITING_MAX);
        let (written, due) = mpsc::unbounded_channel();
        let work = move || write_all(queue, &written, label, progress);
        Ok((Printer(thread::Builder::new().name("printer".into()).spawn(work)?), lines, due))
    }

    /// Waits until all is written.
    ///
    /// # Errors
    /// Some of it could not be. A reader who has gone away (`| head`) is no error.
    pub fn finish(self) -> io::Result<()> {
        self.0.join().unwrap_or_else(|_| Err(io::Error::other("the thread that prints has panicked")))
    }
}

fn write_all(
    mut queue: mpsc::Receiver<Print>,
    written: &mpsc::UnboundedSender<(u32, ToNode)>,
    label: bool,
    mut progress: Progress,
) -> io::Result<()> {
    let mut out = Sink::new(io::stdout(), label);
    let mut err = Sink::new(io::stderr(), label);
    let (mut again, mut last, mut is_amid) = (Again::default(), None, false);
    while let Some(print) = queue.blocking_recv() {
        if is_amid && print.comes_after_the_rest() {
            (again, is_amid) = (go_on(&mut out, label), false);
        }
        match print {
            Print::Chunk(chunk) => progress.aside(|| match chunk.stream {
                Stream::Out => out.write(chunk.node, &chunk.bytes),
                Stream::Err => err.write(chunk.node, &chunk.bytes),
            }),
            Print::Lines { node, piece, lines } => {
                let (text, errors) = streams::divided(&lines);
                let text = again.without(text);
                progress.aside(|| match Spool::existing() {
                    Some(spool) => {
                        // It is not taken for a line of the program's that was printed.
                        out.end_line_of_others(node);
                        out.put(node, &text, |out, text| spool.print(piece, text, out.as_fd()));
                    }
                    None => out.write(node, &text),
                });
                if !errors.is_empty() {
                    progress.aside(|| err.write(node, &errors));
                }
            }
            Print::GoOn => is_amid = true,
            Print::Say(line) => progress.aside(|| say(|| tracing::info!(target: CONTROL, "{line}"))),
            Print::Warn(line) => progress.aside(|| say(|| tracing::warn!(target: CONTROL, "{line}"))),
            Print::Written(node, message) => drop(written.send((node, message))),
            Print::Show(now, steps) => {
                progress.update(now, steps);
                last = Some((now, steps));
            }
        }
    }
    if is_amid {
        go_on(&mut out, label);
    }
    if let Some((now, steps)) = last {
        progress.finish(now, steps);
    }
    // A standard error that cannot be written leaves no place to say so.
    out.finish()
}

/// Prints the rest of what a lost launcher was printing. What it had printed last.
fn go_on(out: &mut Sink<io::Stdout>, label: bool) -> Again {
    let spool = Spool::existing();
    spool.into_iter().for_each(|spool| out.put(0, &[], |out, _| spool.go_on(out.as_fd())));
    Again::printed(&spool.map(Spool::printed_last).unwrap_or_default(), label)
}

/// One of the launcher's own streams.
struct Sink<W> {
    writer: W,
    merger: Merger,
    /// The first failure; nothing is written after it.
    failed: Option<io::Error>,
}

impl<W: Write> Sink<W> {
    fn new(writer: W, label: bool) -> Self {
        Sink { writer, merger: Merger::new(label), failed: None }
    }

    fn write(&mut self, node: u32, bytes: &[u8]) {
        self.put(node, bytes, |writer, text| writer.write_all(&text).and_then(|()| writer.flush()));
    }

    fn end_line_of_others(&mut self, node: u32) {
        let end = self.merger.end_line_of_others(node);
        if self.failed.is_none() {
            self.failed = self.writer.write_all(end).and_then(|()| self.writer.flush()).err();
        }
    }

    fn put(&mut self, node: u32, bytes: &[u8], how: impl FnOnce(&mut W, Vec<u8>) -> io::Result<()>) {
        if self.failed.is_none() {
            let text = self.merger.merge(node, bytes);
            self.failed = how(&mut self.writer, text).err();
        }
    }

    fn finish(self) -> io::Result<()> {
        match self.failed {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Breaks(io::ErrorKind);

    impl Write for Breaks {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn end_of(kind: io::ErrorKind) -> io::Result<()> {
        let mut sink = Sink::new(Breaks(kind), false);
        sink.write(0, b"lost\n");
        sink.write(1, b"lost too\n");
        sink.finish()
    }

    #[test]
    fn a_reader_that_goes_away_is_no_error_but_a_full_disk_is() {
        assert!(end_of(io::ErrorKind::BrokenPipe).is_ok());
        assert_eq!(end_of(io::ErrorKind::StorageFull).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
