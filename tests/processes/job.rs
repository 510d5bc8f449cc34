//! Jobs under way: started, watched from outside, and ended whatever happens.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::system;

/// Whatever takes longer hangs.
pub const PATIENCE: Duration = Duration::from_secs(300);
/// A job that has lost a node has ended by then. The promise is two seconds; the rest is for crowded machines.
pub const AT_ONCE: Duration = Duration::from_secs(30);
/// Between two looks at something.
pub const LOOK: Duration = Duration::from_millis(5);
/// Its value tells the processes of one job from all others.
const MARK: &str = "PROCESSES_TEST_JOB";

/// Nodes, PEs of each, and how they are linked.
pub type Shape = (u32, u32, &'static str);

/// The program of these tests: runtime options, what to run, and its options.
pub fn program(words: &str, shape: Shape) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test knows where it is"));
    command.arg("program").args(shaped(shape)).args(words.split_whitespace());
    clean(command)
}

/// An example of the same build.
pub fn example(name: &str, words: &str, shape: Shape) -> Command {
    let test = std::env::current_exe().expect("a test knows where it is");
    let profile = test.parent().and_then(Path::parent).expect("tests stand in target/PROFILE/deps");
    let mut command = Command::new(profile.join("examples").join(name));
    command.args(shaped(shape)).args(words.split_whitespace());
    clean(command)
}

fn shaped((nodes, pes, transport): Shape) -> [String; 3] {
    [format!("--nodes={nodes}"), format!("--pes={pes}"), format!("--transport={transport}")]
}

/// What is set for the tests is not meant for the programs.
pub fn clean(mut command: Command) -> Command {
    let ours = |name: &OsStr| name.to_string_lossy().starts_with("TALISMAN_") || name == "RUST_LOG";
    std::env::vars_os().filter(|(name, _)| ours(name)).for_each(|(name, _)| {
        command.env_remove(name);
    });
    // A job gets advice if it takes long, as it may on a crowded machine.
    command.env("TALISMAN_NO_ADVICE", "1");
    command
}

/// A job under way.
pub struct Job {
    pub launcher: Child,
    mark: String,
    out: Lines,
    err: Lines,
    started: Instant,
}

/// What a job left behind.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: Vec<String>,
    pub stderr: Vec<String>,
    pub took: Duration,
}

impl Job {
    pub fn start(command: Command) -> Job {
        let mut job = Job::printing_to(command, Stdio::piped());
        job.out = Lines::read(job.launcher.stdout.take().expect("it was asked for"));
        job
    }

    /// One whose output is not read here.
    pub fn printing_to(mut command: Command, out: Stdio) -> Job {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        // A group of its own: a signal to the group of the tests, as Ctrl-C is one, ends it through the tests' end.
        command.env(MARK, &mark).process_group(0).stdout(out).stderr(Stdio::piped());
        let mut launcher = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let err = Lines::read(launcher.stderr.take().expect("it was asked for"));
        Job { launcher, mark, out: Lines::none(), err, started: Instant::now() }
    }

    pub fn launcher_pid(&self) -> i32 {
        self.launcher.id() as i32
    }

    /// Waits for a line of output with this text, and gives it.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> String {
        self.out.wait_for(text).unwrap_or_else(|| self.give_up(&format!("no {text:?} in its output")))
    }

    /// The same among its errors.
    #[track_caller]
    pub fn wait_for_error(&self, text: &str) -> String {
        self.err.wait_for(text).unwrap_or_else(|| self.give_up(&format!("no {text:?} among its errors")))
    }

    /// Waits until its errors have this text, and later another.
    #[allow(dead_code, reason = "the tests of recovery lose launchers")]
    #[track_caller]
    pub fn wait_for_error_after(&self, first: &str, text: &str) {
        let found = until(|| {
            let lines = self.err.so_far();
            let mut rest = lines.iter().skip_while(|line| !line.contains(first));
            rest.any(|line| line.contains(text)).then_some(())
        });
        found.unwrap_or_else(|| self.give_up(&format!("no {text:?} after {first:?} among its errors")));
    }

    /// Waits until its errors tell of a recovery in these words, and of the checkpoint after it, from which on all is held twice again (`--ft-log`).
    /// Nodes tell of the checkpoint, and may have before the launcher, which has to be told by all of them, tells of the recovery.
    #[allow(dead_code, reason = "the tests of recovery lose nodes")]
    #[track_caller]
    pub fn wait_until_held_twice(&self, recovery: &str) {
        let found = until(|| is_held_twice(&self.err.so_far(), recovery).then_some(()));
        found.unwrap_or_else(|| self.give_up(&format!("nothing is held twice after {recovery:?}")));
    }

    /// The processes of its nodes, in their order, which is the one in which they are started.
    #[track_caller]
    pub fn nodes(&self, count: usize) -> Vec<i32> {
        let found = until(|| {
            let nodes = system::children(self.launcher_pid());
            (nodes.len() == count).then_some(nodes)
        });
        found.unwrap_or_else(|| self.give_up(&format!("it never had {count} nodes")))
    }

    /// All its processes that run or are stopped.
    pub fn processes(&self) -> Vec<i32> {
        system::marked(&self.variable())
    }

    fn variable(&self) -> String {
        format!("{MARK}={}", self.mark)
    }

    /// Waits until it has no processes; whether that has come. All processes of the machine are looked at when those that it had are gone,
    /// and not at each look, which kept a core busy.
    pub fn is_over(&self) -> bool {
        let variable = self.variable();
        let mut left = system::marked(&variable);
        let over = until(|| {
            left.retain(|pid| system::is_marked(*pid, &variable));
            if left.is_empty() {
                left = system::marked(&variable);
            }
            left.is_empty().then_some(())
        });
        over.is_some()
    }

    /// Waits for its end, and for that of all its processes.
    #[track_caller]
    pub fn end(mut self) -> Ended {
        let ending = Instant::now();
        let status = until(|| self.launcher.try_wait().expect("it is our child"));
        let Some(status) = status else { self.give_up("it does not end") };
        let took = ending.elapsed();
        assert!(self.is_over(), "left behind: {:?}", self.processes());
        let (stdout, stderr) = (self.out.all(), self.err.all());
        Ended { status, stdout, stderr, took }
    }

    /// The same of one that goes on without its launcher, which is killed or will be.
    #[allow(dead_code, reason = "the tests of recovery lose launchers")]
    #[track_caller]
    pub fn end_without_launcher(self) -> Ended {
        if !self.is_over() {
            self.give_up("it does not end without its launcher");
        }
        self.end()
    }

    /// Its errors so far.
    #[allow(dead_code, reason = "the nemesis strikes when a job tells of something")]
    pub fn errors(&self) -> Vec<String> {
        self.err.so_far()
    }

    /// What it said so far.
    pub fn said(&self) -> String {
        let (out, err) = (self.out.so_far().join("\n"), self.err.so_far().join("\n"));
        format!("after {:?}\nout: {}\nerr: {err}", self.started.elapsed(), cut(&out))
    }

    #[track_caller]
    fn give_up(&self, why: &str) -> ! {
        panic!("{why}: {}", self.said())
    }
}

impl Drop for Job {
    /// Of a failed test too nothing is left.
    fn drop(&mut self) {
        for pid in self.processes() {
            system::signal(pid, Signal::KILL);
        }
        let _ = self.launcher.kill();
        let _ = self.launcher.wait();
    }
}

impl Ended {
    /// It ended with this status, and all these texts among its errors.
    #[track_caller]
    pub fn expect(self, status: i32, texts: &[&str]) -> Ended {
        let stderr = self.stderr.join("\n");
        assert_eq!(self.status.code(), Some(status), "{}", self.said());
        for text in texts {
            assert!(stderr.contains(text), "no {text:?} {}", self.said());
        }
        self
    }

    /// One of the lines of its output is this one. Which is the last is open: nodes print at the same time, and
    /// what one of them said before another's may arrive after it.
    #[allow(dead_code, reason = "the tests of recovery look into results")]
    #[track_caller]
    pub fn prints(&self, line: &str) {
        assert!(self.stdout.iter().any(|known| known == line), "no {line:?} {}", self.said());
    }

    /// It did so soon.
    #[track_caller]
    pub fn at_once(self) -> Ended {
        assert!(self.took < AT_ONCE, "{}", self.said());
        self
    }

    /// It said nothing else among its errors.
    #[track_caller]
    pub fn quietly(self) -> Ended {
        assert!(self.stderr.is_empty(), "{}", self.said());
        self
    }

    pub fn said(&self) -> String {
        let Ended { status, stdout, stderr, took } = self;
        format!("{status} after {took:?}\nout: {}\nerr: {}", cut(&stdout.join("\n")), stderr.join("\n"))
    }
}

fn is_held_twice(errors: &[String], recovery: &str) -> bool {
    let Some(told) = errors.iter().position(|line| line.contains(recovery)) else { return false };
    let is_loss = |line: &String| line.contains("the others go back") || line.contains("leads now");
    let known = errors[..=told].iter().rposition(is_loss).unwrap_or(told);
    let is_committed = |line: &&String| line.contains("committed after");
    let since_known = errors[known..].iter().filter(is_committed).any(|line| line.contains("(failure)"));
    since_known || errors[told..].iter().any(|line| is_committed(&line))
}

/// The end of a long text.
fn cut(text: &str) -> String {
    let start = text.char_indices().rev().nth(2000).map_or(0, |(at, _)| at);
    text[start..].into()
}

/// Ends all jobs that this process has started.
#[allow(dead_code, reason = "whoever looks after the nemesis does so")]
pub fn end_all_of(starter: u32) {
    for pid in system::marked_by(|variable| variable.starts_with(&format!("{MARK}={starter}-"))) {
        system::signal(pid, Signal::KILL);
    }
}

/// Runs a job that needs nobody.
#[track_caller]
pub fn run(command: Command) -> Ended {
    Job::start(command).end()
}

/// Asks until there is an answer, but not for ever.
pub fn until<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        match ask() {
            None if start.elapsed() < PATIENCE => sleep(LOOK),
            answer => return answer,
        }
    }
}

/// A file for one test, which is not there, nor will be later.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("processes-{}-{number}-{name}", std::process::id());
        Scratch(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    pub fn name(&self) -> &str {
        self.0.to_str().expect("a path of letters")
    }

    /// Creates it, empty.
    pub fn touch(&self) {
        std::fs::write(&self.0, "").expect("the scratch folder can be written");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Lines of a pipe, as they come.
#[derive(Clone, Default)]
struct Lines(Arc<(Mutex<Collected>, Condvar)>);

#[derive(Default)]
struct Collected {
    lines: Vec<String>,
    ended: bool,
}

impl Lines {
    fn none() -> Lines {
        let lines = Lines::default();
        lines.lock().ended = true;
        lines
    }

    fn read(pipe: impl Read + Send + 'static) -> Lines {
        let lines = Lines::default();
        let here = lines.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
                here.lock().lines.push(String::from_utf8_lossy(&line).into_owned());
                here.0.1.notify_all();
            }
            here.lock().ended = true;
            here.0.1.notify_all();
        });
        lines
    }

    fn wait_for(&self, text: &str) -> Option<String> {
        let mut next = 0;
        let start = Instant::now();
        let mut read = self.lock();
        loop {
            if let Some(line) = read.lines[next..].iter().find(|line| line.contains(text)) {
                return Some(line.clone());
            }
            next = read.lines.len();
            if read.ended || start.elapsed() > PATIENCE {
                return None;
            }
            read = self.0.1.wait_timeout(read, PATIENCE).expect("readers do not panic").0;
        }
    }

    fn so_far(&self) -> Vec<String> {
        self.lock().lines.clone()
    }

    /// All to the end, which is there when nobody holds the pipe any more.
    fn all(&self) -> Vec<String> {
        let (read, _) = self
            .0
            .1
            .wait_timeout_while(self.lock(), PATIENCE, |read| !read.ended)
            .expect("readers do not panic");
        read.lines.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.0.0.lock().expect("readers do not panic")
    }
}
