//! Programs under test, which never outlive it.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Far more than anything here takes; what is not over by then hangs.
const LIMIT: Duration = Duration::from_secs(300);

/// Waits until something is so; whether it became so.
pub fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if is_so() {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}

/// A program that runs, and is ended when this is dropped.
pub struct Running {
    child: Child,
    output: Reading,
    errors: Reading,
}

/// A program that has run.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub output: String,
    pub errors: String,
    /// From when its end began to be awaited.
    pub took: Duration,
}

impl Running {
    /// Starts it. Standard input is empty unless the command has another.
    pub fn start(command: &mut Command) -> Running {
        Running::start_reading(command, Stdio::null())
    }

    /// Starts it with this standard input.
    pub fn start_reading(command: &mut Command, input: impl Into<Stdio>) -> Running {
        let command = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program is there");
        let output = Reading::start(child.stdout.take().expect("it is a pipe"));
        let errors = Reading::start(child.stderr.take().expect("it is a pipe"));
        Running { child, output, errors }
    }

    /// Waits until it has written so many lines to standard output. It must not end before.
    #[track_caller]
    pub fn wait_for_lines(&mut self, lines: usize) {
        self.wait_until(|running| running.output.lines() >= lines);
    }

    /// The same with standard error.
    #[track_caller]
    pub fn wait_for_error_lines(&mut self, lines: usize) {
        self.wait_until(|running| running.errors.lines() >= lines);
    }

    /// Waits until it has written this to standard output. It must not end before.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(|running| running.output.so_far().contains(text));
    }

    /// How many lines it has written to standard error so far.
    pub fn error_lines(&self) -> usize {
        self.errors.lines()
    }

    /// What it has written there so far.
    pub fn errors_so_far(&self) -> String {
        self.errors.so_far()
    }

    #[track_caller]
    fn wait_until(&mut self, is_so: impl Fn(&Running) -> bool) {
        let ended = |child: &mut Child| matches!(child.try_wait(), Ok(Some(_)));
        let waited = eventually(|| is_so(self) || ended(&mut self.child));
        let (output, errors) = (self.output.so_far(), self.errors.so_far());
        assert!(waited && is_so(self), "out: {output}\nerr: {errors}");
    }

    /// Waits for its end; others may hold its output open and go on.
    #[track_caller]
    pub fn wait_for_end(&mut self) {
        let ended = eventually(|| matches!(self.child.try_wait(), Ok(Some(_))));
        assert!(ended, "it hangs; out: {}\nerr: {}", self.output.so_far(), self.errors.so_far());
    }

    /// Waits for its end, and for that of all others that hold its output open.
    #[track_caller]
    pub fn end(mut self) -> Ended {
        let start = Instant::now();
        self.wait_for_end();
        let status = self.child.wait().expect("it is our child");
        let took = start.elapsed();
        Ended { status, output: self.output.all(), errors: self.errors.all(), took }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a thread has read.
struct Reading {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Reading {
    fn start(mut from: impl Read + Send + 'static) -> Reading {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let read = bytes.clone();
        let work = move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut piece) {
                read.lock().expect("nobody panics with it").extend_from_slice(&piece[..count]);
            }
        };
        Reading { bytes, thread: Some(thread::spawn(work)) }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().expect("nobody panics with it")).into_owned()
    }

    fn lines(&self) -> usize {
        self.so_far().matches('\n').count()
    }

    fn all(&mut self) -> String {
        if let Some(thread) = self.thread.take() {
            thread.join().expect("reading does not fail");
        }
        self.so_far()
    }
}
