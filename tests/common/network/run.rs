//! Programs under test, which never outlive it.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Far more than anything here takes; what is not over by then hangs.
const LIMIT: Duration = Duration::from_secs(60);

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
    output: Option<JoinHandle<String>>,
    errors: Option<JoinHandle<String>>,
}

/// A program that has run.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub output: String,
    pub errors: String,
}

impl Running {
    /// Starts it; standard input is empty.
    pub fn start(command: &mut Command) -> Running {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program is there");
        let output = child.stdout.take().map(read_on_a_thread);
        let errors = child.stderr.take().map(read_on_a_thread);
        Running { child, output, errors }
    }

    /// Waits for its end, and for that of all others that hold its output open.
    pub fn end(mut self) -> Ended {
        let ended = eventually(|| matches!(self.child.try_wait(), Ok(Some(_))));
        assert!(ended, "the program hangs");
        let status = self.child.wait().expect("it is our child");
        let text = |thread: &mut Option<JoinHandle<String>>| {
            thread.take().map(|thread| thread.join().expect("reading does not fail")).unwrap_or_default()
        };
        Ended { status, output: text(&mut self.output), errors: text(&mut self.errors) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_on_a_thread(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
