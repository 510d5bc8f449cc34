//! Standard streams of a rank: its lines go to the output of the job, each once and whole.
//!
//! The C library has its streams once in a process. While a rank runs its `stdin`, `stdout` and `stderr` are the rank's
//! own, which lie in its heap: what is written to them comes to functions here.

use std::ffi::{c_char, c_int, c_void};
use std::io;
use std::ptr::{from_mut, null_mut};

use talisman_ampi::api::Universe;
use talisman_loader::libc::{is_child, is_own_thread};

use crate::cookie::{Functions, Kind};
use crate::replayed_values;

/// Numbers of descriptors of the streams.
pub const INPUT: c_int = 0;
pub const OUTPUT: c_int = 1;
pub const ERRORS: c_int = 2;

/// What a line may have before memory is asked for.
const LINE: usize = 1 << 10;

unsafe extern "C" {
    static mut stdin: *mut libc::FILE;
    static mut stdout: *mut libc::FILE;
    static mut stderr: *mut libc::FILE;
}

/// Streams that are read, and such as are written to.
static READ: Kind =
    Kind::new(Functions { read: Some(read), write: None, seek: None, close: Some(close_input) }, c"r");
static WRITTEN: Kind =
    Kind::new(Functions { read: None, write: Some(write), seek: None, close: Some(close) }, c"w");

/// Looks whether this process can have streams of ranks.
///
/// # Errors
/// If not, with the reason.
pub fn prepare() -> Result<(), String> {
    READ.prepare().and_then(|()| WRITTEN.prepare())
}

/// `fileno`: a rank's standard streams have the numbers that all programs have them by, though no file is behind them.
///
/// # Safety
/// As in C.
pub unsafe extern "C" fn number(file: *mut libc::FILE) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { libc::fileno(file) } {
        number @ 0.. => number,
        none => standard(file).unwrap_or(none),
    }
}

/// The number of a stream, if that is one of the running rank's standard ones.
pub fn standard(file: *mut libc::FILE) -> Option<c_int> {
    // SAFETY: variables of the C library that are the running rank's.
    let own = unsafe { [stdin, stdout, stderr] };
    own.iter().position(|own| *own == file).map(|place| [INPUT, OUTPUT, ERRORS][place])
}

/// The standard streams of a rank. They lie in its slot, and do not change their place.
#[derive(Debug)]
pub struct Streams {
    files: [*mut libc::FILE; 3],
    input: Input,
    lines: [Lines; 2],
}

/// What a rank reads.
#[derive(Debug)]
struct Input {
    /// It reads the job's input; others have none.
    is_first: bool,
    is_closed: bool,
    /// The rank's descriptor that it reads instead.
    file: Option<c_int>,
}

/// Where what a rank writes goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The job's output, or its errors.
    Job(c_int),
    /// A descriptor of the rank.
    File(c_int),
}

/// What a rank has written of a line that has not ended.
#[derive(Debug)]
struct Lines {
    /// The number of the stream, by which the job knows it.
    number: c_int,
    target: Target,
    /// Before each line.
    label: String,
    begun: Vec<u8>,
    /// The program has closed the stream.
    is_closed: bool,
}

impl Streams {
    /// Those of a rank, before they are opened. What they need is allocated by the rank.
    pub fn new(rank: u32, is_labelled: bool) -> Streams {
        let lines = |number| Lines {
            number,
            target: Target::Job(number),
            label: if is_labelled { format!("[{rank}] ") } else { String::new() },
            begun: Vec::with_capacity(LINE),
            is_closed: false,
        };
        let input = Input { is_first: rank == 0, is_closed: false, file: None };
        Streams { files: [null_mut(); 3], input, lines: [lines(OUTPUT), lines(ERRORS)] }
    }

    /// Makes the C library's streams of them.
    ///
    /// # Safety
    /// This is where the streams stay, and the rank's memory is the one that is allocated from.
    ///
    /// # Errors
    /// If the C library refuses.
    pub unsafe fn open(&mut self) -> io::Result<()> {
        let [output, errors] = &mut self.lines;
        // SAFETY: the functions take such cookies, which stay where they are.
        unsafe {
            self.files = [
                READ.open(from_mut(&mut self.input).cast(), libc::_IOFBF)?,
                WRITTEN.open(from_mut(output).cast(), libc::_IOLBF)?,
                WRITTEN.open(from_mut(errors).cast(), libc::_IONBF)?,
            ];
        }
        Ok(())
    }

    /// The rank has arrived in this process. It does not run.
    pub fn renew(&mut self) {
        let [input, output, errors] = self.files;
        let [of_output, of_errors] = [0, 1].map(|at| self.lines[at].is_closed);
        let streams = [
            (&READ, input, self.input.is_closed),
            (&WRITTEN, output, of_output),
            (&WRITTEN, errors, of_errors),
        ];
        for (kind, file, _) in streams.into_iter().filter(|(_, _, is_closed)| !is_closed) {
            // SAFETY: opened as such, and not closed.
            unsafe { kind.renew(file) };
        }
    }

    /// Puts the rank's streams in the place of those that are the C library's now: and the other way round.
    pub fn exchange(&mut self) {
        let [input, output, errors] = &mut self.files;
        // SAFETY: variables of the C library that only the thread of the PE looks at while ranks run.
        unsafe {
            (&raw mut stdin).swap(input);
            (&raw mut stdout).swap(output);
            (&raw mut stderr).swap(errors);
        }
    }

    fn lines(&mut self, descriptor: c_int) -> &mut Lines {
        if descriptor == OUTPUT { &mut self.lines[0] } else { &mut self.lines[1] }
    }

    /// Takes bytes for the output or the errors. How many, or -1 and an error.
    pub fn write(&mut self, descriptor: c_int, bytes: &[u8]) -> isize {
        self.lines(descriptor).write(bytes)
    }

    /// The same for the job's, wherever the rank's own go to.
    pub fn write_to_job(&mut self, descriptor: c_int, bytes: &[u8]) -> isize {
        self.lines(descriptor).write_lines(descriptor, bytes);
        bytes.len() as isize
    }

    /// Where what is written to the output or the errors goes to.
    pub fn target(&self, descriptor: c_int) -> Target {
        self.lines[if descriptor == OUTPUT { 0 } else { 1 }].target
    }

    /// From now on it goes there. Where it went to before.
    pub fn set_target(&mut self, descriptor: c_int, target: Target) -> Target {
        std::mem::replace(&mut self.lines(descriptor).target, target)
    }

    /// The descriptors that its standard streams are.
    pub fn descriptors(&self) -> [c_int; 3] {
        let [output, errors] = [OUTPUT, ERRORS].map(|of| {
            let (Target::Job(descriptor) | Target::File(descriptor)) = self.target(of);
            descriptor
        });
        [self.input.file.unwrap_or(INPUT), output, errors]
    }

    /// From now on this is read. What was read before.
    pub fn set_input(&mut self, file: c_int) -> Option<c_int> {
        self.input.file.replace(file)
    }

    /// Those that are written to, and that the program has not closed: to be flushed.
    pub fn open_ones(&self) -> [Option<*mut libc::FILE>; 2] {
        // SAFETY: variables of the C library, which are the rank's streams while it runs.
        let files = unsafe { [stdout, stderr] };
        [0, 1].map(|at| (!self.lines[at].is_closed).then_some(files[at]))
    }

    /// The rank has ended: what it has begun is a line.
    pub fn finish(&mut self) {
        for lines in &mut self.lines {
            if !lines.begun.is_empty() {
                // What was begun had gone to the job, wherever it goes now.
                lines.write_lines(lines.number, b"\n");
            }
        }
    }
}

impl Lines {
    fn write(&mut self, bytes: &[u8]) -> isize {
        match self.target {
            Target::File(descriptor) => write_at_once(descriptor, bytes),
            Target::Job(descriptor) => {
                self.write_lines(descriptor, bytes);
                bytes.len() as isize
            }
        }
    }

    fn write_lines(&mut self, descriptor: c_int, bytes: &[u8]) {
        self.begun.extend_from_slice(bytes);
        let Some(last) = self.begun.iter().rposition(|byte| *byte == b'\n') else { return };
        let mut whole: Vec<u8> = self.begun.drain(..=last).collect();
        if !self.label.is_empty() {
            whole = labelled(&self.label, &whole);
        }
        emit(descriptor, &whole);
    }
}

fn labelled(label: &str, lines: &[u8]) -> Vec<u8> {
    lines.split_inclusive(|byte| *byte == b'\n').flat_map(|line| [label.as_bytes(), line].concat()).collect()
}

/// Whole lines go to the job, which prints each once whatever is done again.
fn emit(descriptor: c_int, lines: &[u8]) {
    match Universe::of_caller() {
        Some(universe) if descriptor == OUTPUT => {
            write!(universe.output(), "{}", String::from_utf8_lossy(lines));
        }
        Some(universe) => write!(universe.errors(), "{}", String::from_utf8_lossy(lines)),
        // SAFETY: a descriptor of the process, and bytes that live. If nobody reads it there is nobody to tell.
        None => drop(unsafe { libc::write(descriptor, lines.as_ptr().cast(), lines.len()) }),
    }
}

/// The C library gives what was written to a rank's stream.
unsafe extern "C" fn write(cookie: *mut c_void, bytes: *const c_char, count: usize) -> isize {
    // SAFETY: the cookie that the stream was opened with, and bytes that the C library has.
    let (lines, bytes) =
        unsafe { (&mut *cookie.cast::<Lines>(), std::slice::from_raw_parts(bytes.cast::<u8>(), count)) };
    if is_own_thread() || is_child() {
        let (Target::Job(descriptor) | Target::File(descriptor)) = lines.target;
        return write_at_once(descriptor, bytes);
    }
    lines.write(bytes)
}

/// What a thread writes that a rank has started: it comes at once, whatever becomes of the rank.
pub fn write_at_once(descriptor: c_int, bytes: &[u8]) -> isize {
    // SAFETY: a descriptor of the process, and bytes that live.
    unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) }
}

/// The program has closed a stream that it wrote to.
unsafe extern "C" fn close(cookie: *mut c_void) -> c_int {
    // SAFETY: the cookie that the stream was opened with.
    unsafe { (*cookie.cast::<Lines>()).is_closed = true };
    0
}

/// The C library wants what the rank reads: rank 0 the job's input, the others nothing.
unsafe extern "C" fn read(cookie: *mut c_void, bytes: *mut c_char, count: usize) -> isize {
    // SAFETY: the cookie that the stream was opened with.
    let input = unsafe { &*cookie.cast::<Input>() };
    if let Some(file) = input.file {
        // SAFETY: room for so many bytes, by the C library.
        return unsafe { libc::read(file, bytes.cast(), count) };
    }
    if !input.is_first {
        return 0;
    }
    // SAFETY: room for so many bytes, by the C library.
    let place = unsafe { std::slice::from_raw_parts_mut(bytes.cast::<u8>(), count) };
    // SAFETY: the same room.
    replayed_values::bytes(place, &mut |place| unsafe {
        libc::read(INPUT, place.as_mut_ptr().cast(), place.len())
    })
}

/// The program has closed the stream that it read.
unsafe extern "C" fn close_input(cookie: *mut c_void) -> c_int {
    // SAFETY: the cookie that the stream was opened with.
    unsafe { (*cookie.cast::<Input>()).is_closed = true };
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_its_label() {
        assert_eq!(labelled("[3] ", b"one\n\ntwo\n"), b"[3] one\n[3] \n[3] two\n");
    }

    #[test]
    fn only_whole_lines_leave() {
        let mut streams = Streams::new(0, false);
        (streams.lines[0].number, streams.lines[0].target) = (-1, Target::Job(-1));
        streams.write(OUTPUT, b"a\nb");
        assert_eq!(streams.lines[0].begun, b"b");
        streams.write(OUTPUT, b"c");
        assert_eq!(streams.lines[0].begun, b"bc");
        streams.finish();
        assert!(streams.lines[0].begun.is_empty());
    }
}
