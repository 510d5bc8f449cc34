//! Jobs of real processes: this test binary runs itself as a launcher, and that runs itself as nodes.

mod death;
mod output;
mod program;
mod start;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use program::{ARGS, CASE};

/// Within this everything has ended, whatever happened. The promise is two seconds; the rest is for slow machines.
const AT_ONCE: Duration = Duration::from_secs(10);

/// Not a test by itself: the launchers and the nodes of the other tests.
#[test]
fn child() {
    if let Ok(case) = std::env::var(CASE) {
        program::main(&case);
    }
}

/// A job under way.
struct Job {
    launcher: Child,
    stdout: BufReader<ChildStdout>,
    /// What was read of its output.
    read: String,
}

/// What a job left behind.
struct Ended {
    /// Exit status of the launcher.
    status: Option<i32>,
    stdout: String,
    stderr: String,
    took: Duration,
}

impl Job {
    fn start(case: &str, args: &str) -> Job {
        Job::start_with(case, args, |command| command)
    }

    fn start_with(case: &str, args: &str, more: impl FnOnce(&mut Command) -> &mut Command) -> Job {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["tests::child", "--exact", "--nocapture"]);
        command.env(CASE, case).env(ARGS, args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut launcher = more(&mut command).spawn().unwrap();
        let stdout = BufReader::new(launcher.stdout.take().unwrap());
        Job { launcher, stdout, read: String::new() }
    }

    /// Waits for a line of output that has this text, and gives the line.
    fn line_with(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            let count = self.stdout.read_line(&mut line).unwrap();
            assert!(count > 0, "no {text:?} in {:?}", self.read);
            self.read += &line;
            if line.contains(text) {
                return line;
            }
        }
    }

    /// The process ids of so many nodes, which say them.
    fn pids(&mut self, nodes: usize) -> Vec<i32> {
        let mut pids = vec![0; nodes];
        for _ in 0..nodes {
            let line = self.line_with("here is node ");
            let mut words = line.split_whitespace().rev();
            let pid = words.next().unwrap().parse().unwrap();
            pids[words.next().unwrap().parse::<usize>().unwrap()] = pid;
        }
        pids
    }

    fn signal_launcher(&self, signal: rustix::process::Signal) {
        signal_to(self.launcher.id() as i32, signal);
    }

    /// Waits for its end.
    fn end(mut self) -> Ended {
        let start = Instant::now();
        let mut stderr = String::new();
        let mut errors = self.launcher.stderr.take().unwrap();
        let reader = std::thread::spawn(move || {
            errors.read_to_string(&mut stderr).unwrap();
            stderr
        });
        let mut rest = Vec::new();
        self.stdout.read_to_end(&mut rest).unwrap();
        self.read += &String::from_utf8_lossy(&rest);
        let status = self.launcher.wait().unwrap().code();
        Ended { status, stdout: self.read, stderr: reader.join().unwrap(), took: start.elapsed() }
    }
}

impl Ended {
    /// It ended soon, with this status, and all these texts among its errors.
    #[track_caller]
    fn expect(&self, status: i32, texts: &[&str]) -> &Self {
        let Ended { stdout, stderr, took, .. } = self;
        let context = format!("after {took:?}\nout: {stdout}\nerr: {stderr}");
        assert_eq!(self.status, Some(status), "{context}");
        assert!(*took < AT_ONCE, "{context}");
        for text in texts {
            assert!(stderr.contains(text), "no {text:?} {context}");
        }
        self
    }
}

fn run(case: &str, args: &str) -> Ended {
    Job::start(case, args).end()
}

fn signal_to(pid: i32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Whether a process has gone, waiting for it for a while.
fn is_gone(pid: i32) -> bool {
    let start = Instant::now();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    while rustix::process::test_kill_process(pid).is_ok() && !is_zombie(pid.as_raw_nonzero().get()) {
        if start.elapsed() > AT_ONCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// One whose parent has died is waited for by whoever takes in orphans, in its own time.
fn is_zombie(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}
