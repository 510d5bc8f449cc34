//! Where the lines a program prints go.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::streams::Line;

/// A sink for whole lines, shared by all PEs: what one call prints is never interleaved with another's.
///
/// A reader that goes away (`| head`) is no error: the rest is thrown away. Any other failure, such as a full
/// disk, is kept for [`Output::finish`]; computing goes on.
///
/// ```
/// use talisman_job::Output;
///
/// let output = Output::capture();
/// output.print("two\nlines");
/// assert_eq!(output.captured(), ["two", "lines"]);
/// ```
#[derive(Clone)]
pub struct Output {
    sink: Arc<Mutex<Sink>>,
}

impl Output {
    /// Prints to standard output.
    pub fn stdout() -> Output {
        Output::to(io::stdout())
    }

    /// Prints to any writer; each call ends with a flush.
    pub fn to(writer: impl Write + Send + 'static) -> Output {
        Output::with(Sink::Writer(Box::new(writer)))
    }

    /// Keeps the lines, for tests: see [`Output::captured`].
    pub fn capture() -> Output {
        Output::with(Sink::Captured(Vec::new()))
    }

    /// Prints text of one or more lines; a missing end of line is added to the last.
    pub fn print(&self, text: &str) {
        let mut sink = self.lock();
        if let Err(error) = sink.print(text) {
            let end =
                if error.kind() == io::ErrorKind::BrokenPipe { End::Closed } else { End::Failed(error) };
            *sink = Sink::Ended(end);
        }
    }

    /// Prints text of one or more lines to standard error, at once. Where lines are kept, for a test, this is not.
    pub fn print_errors(&self, text: &str) {
        if !self.is_kept() {
            // A standard error that cannot be written leaves no place to say so.
            let _lost = write_lines(&mut io::stderr(), text);
        }
    }

    /// Prints a line that was held for one of the two.
    pub fn print_held(&self, line: &str) {
        match Line::read(line) {
            Line::Output(line) => self.print(line),
            Line::Errors(line) => self.print_errors(line),
        }
    }

    /// Whether lines are kept, for a test.
    pub fn is_kept(&self) -> bool {
        matches!(*self.lock(), Sink::Captured(_))
    }

    /// Whether the reader of the output has gone away: nothing printed from now on is seen.
    pub fn is_closed(&self) -> bool {
        matches!(*self.lock(), Sink::Ended(End::Closed))
    }

    /// The lines so far, without their ends; empty unless this is [`Output::capture`].
    pub fn captured(&self) -> Vec<String> {
        match &*self.lock() {
            Sink::Captured(lines) => lines.clone(),
            _ => Vec::new(),
        }
    }

    /// Says, when the job is over, whether all lines were written.
    ///
    /// # Errors
    /// The first failure to write, once; a reader that went away is none.
    pub fn finish(&self) -> Result<(), OutputError> {
        let mut sink = self.lock();
        match std::mem::replace(&mut *sink, Sink::Ended(End::Closed)) {
            Sink::Ended(End::Failed(source)) => Err(OutputError { source }),
            other => {
                *sink = other;
                Ok(())
            }
        }
    }

    fn with(sink: Sink) -> Output {
        Output { sink: Arc::new(Mutex::new(sink)) }
    }

    fn lock(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Some of the program's output is lost.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the program's output: {source}; some of it is lost")]
pub struct OutputError {
    /// What the operating system said.
    source: io::Error,
}

enum Sink {
    Writer(Box<dyn Write + Send>),
    Captured(Vec<String>),
    Ended(End),
}

enum End {
    Closed,
    Failed(io::Error),
}

impl Sink {
    fn print(&mut self, text: &str) -> io::Result<()> {
        match self {
            Sink::Writer(writer) => write_lines(writer, text),
            Sink::Captured(lines) => {
                let whole = text.strip_suffix('\n').unwrap_or(text);
                lines.extend(whole.split('\n').map(str::to_owned));
                Ok(())
            }
            Sink::Ended(_) => Ok(()),
        }
    }
}

/// One write for text and end of line together, so that other processes do not get in between either.
fn write_lines(writer: &mut dyn Write, text: &str) -> io::Result<()> {
    if text.ends_with('\n') {
        writer.write_all(text.as_bytes())?;
    } else {
        writer.write_all(format!("{text}\n").as_bytes())?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Fails with the given kind once `room` bytes are written.
    struct Breaks {
        room: usize,
        kind: io::ErrorKind,
    }

    impl Write for Breaks {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.room = self.room.checked_sub(bytes.len()).ok_or(self.kind)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Takes a few bytes at a time, as a pipe may.
    #[derive(Clone, Default)]
    struct Trickle(Arc<Mutex<Vec<u8>>>);

    impl Write for Trickle {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(3);
            self.0.lock().unwrap().extend_from_slice(&bytes[..taken]);
            thread::yield_now();
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn captured_lines_come_in_order_without_their_ends() {
        let output = Output::capture();
        output.print("one\n");
        output.clone().print("two\nthree");
        assert_eq!(output.captured(), ["one", "two", "three"]);
        assert!(output.finish().is_ok());
        assert_eq!(output.captured().len(), 3, "finishing keeps them");
    }

    #[test]
    fn an_empty_line_is_a_line_wherever_it_goes() {
        let (captured, written) = (Output::capture(), Trickle::default());
        for output in [&captured, &Output::to(written.clone())] {
            for text in ["", "\n", "a\n\n"] {
                output.print(text);
            }
        }
        assert_eq!(captured.captured(), ["", "", "a", ""]);
        assert_eq!(*written.0.lock().unwrap(), b"\n\na\n\n");
    }

    #[test]
    fn lines_of_many_threads_are_whole() {
        let written = Trickle::default();
        let output = Output::to(written.clone());
        thread::scope(|scope| {
            for name in ["aaaaaaaa", "bbbbbbbb", "cccccccc"] {
                let output = &output;
                scope.spawn(move || (0..50).for_each(|_| output.print(name)));
            }
        });
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!((text.lines().count(), lines), (150, vec!["aaaaaaaa", "bbbbbbbb", "cccccccc"]));
    }

    #[test]
    fn a_reader_that_goes_away_is_no_error() {
        let output = Output::to(Breaks { room: 6, kind: io::ErrorKind::BrokenPipe });
        output.print("first");
        assert!(!output.is_closed());
        output.print("second");
        output.print("third");
        assert!(output.is_closed());
        assert!(output.finish().is_ok());
    }

    #[test]
    fn any_other_failure_is_said_at_the_end() {
        let output = Output::to(Breaks { room: 0, kind: io::ErrorKind::StorageFull });
        output.print("first");
        output.print("second");
        assert!(!output.is_closed());
        let error = output.finish().unwrap_err().to_string();
        assert!(error.starts_with("cannot write the program's output"), "{error}");
    }
}
