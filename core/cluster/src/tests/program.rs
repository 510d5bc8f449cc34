//! What the processes of the tests do.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::process::{Command, exit};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::children::Executable;
use crate::launcher::{Means, launch_with};
use crate::member::{Joining, NodeCommands, joining};
use crate::probe::NoChares;
use crate::standby::Turn;
use crate::voice::Control;
use talisman_control::protocol::{Host, NodeReport, Stop, Task, ToLauncher};
use talisman_job::command_line::{Program, parse_from};
use talisman_job::progress::Steps;
use talisman_observe::stats::Totals;

/// The case that a process plays.
pub(super) const CASE: &str = "TALISMAN_TEST_CLUSTER_CASE";
/// The launcher's options.
pub(super) const ARGS: &str = "TALISMAN_TEST_CLUSTER_ARGS";

/// Cases in which node 0 ends the job.
const ENDS: [&str; 12] = [
    "hello",
    "steps",
    "siblings",
    "prints",
    "prints without end",
    "reads",
    "has a child",
    "descriptors",
    "shares",
    "no memory",
    "leaves without a word",
    "fails at the end",
];

const PROGRAM: Program = Program { name: "test", package: "test", version: "0" };

pub(super) fn main(case: &str) {
    if case == "descriptors" {
        println!("inherited {:?}", inherited());
    }
    if case == "few descriptors" && std::env::var_os("TALISMAN_CONTROL").is_some() {
        leave_one_descriptor();
    }
    match joining() {
        Some(Ok(joining)) => node(case, joining),
        Some(Err(_)) => exit(1),
        None => launcher(case),
    }
}

fn launcher(case: &str) {
    let args = std::env::var(ARGS).unwrap();
    let words = ["test"].into_iter().chain(args.split_whitespace());
    let (options, ()) = parse_from(&PROGRAM, words).unwrap_or_else(|error| error.exit());
    let mut means = Means { executable: Executable::this(), memory, turn: Turn::LAST };
    match case {
        "no executable" => means.executable.path = "/no/such/program".into(),
        "no memory" => means.memory = |_, _| Err(io::Error::from(io::ErrorKind::StorageFull)),
        _ => {}
    }
    let outcome = launch_with(&means, (&PROGRAM, &NoChares), &options).expect("the launcher itself starts");
    if let Some(message) = &outcome.message {
        eprintln!("test: error: {message}");
    }
    let local: Vec<u64> = outcome.totals.iter().map(|totals| totals.local).collect();
    eprintln!("steps {:?} local {local:?} results {:?}", outcome.steps, outcome.results);
    let status = outcome.interrupted.map_or(outcome.status, |signal| signal.exit_code().into());
    exit(status);
}

/// Memory with the number of nodes and PEs in it.
fn memory(nodes: u32, pes: u32) -> io::Result<OwnedFd> {
    let memory = memfd_create("test", MemfdFlags::CLOEXEC)?;
    rustix::io::pwrite(&memory, &[nodes as u8, pes as u8], 0)?;
    Ok(memory)
}

/// A node's program, as far as the launcher is concerned.
struct Node {
    task: Arc<Task>,
    number: u32,
    nodes: u32,
    control: Control,
    told: Arc<Told>,
    stops: mpsc::Receiver<Stop>,
}

struct Told {
    steps: AtomicU64,
    stop: Mutex<mpsc::Sender<Stop>>,
}

impl NodeCommands for Told {
    fn stop(&self, stop: Stop) {
        println!("told to stop with {}", stop.status);
        let _ = self.stop.lock().unwrap().send(stop);
    }

    fn steps(&self) -> Steps {
        Steps { done: self.steps.load(Ordering::Relaxed), total: Some(1000) }
    }
}

fn node(case: &str, joining: Joining) {
    let task = joining.task().clone();
    match (case, task.number) {
        ("fails to start", 1) => joining.control().failed("there is no port left"),
        ("dies at the start", 1) => exit(7),
        _ => {}
    }
    let (stop, stops) = mpsc::channel();
    let told = Arc::new(Told { steps: AtomicU64::new(0), stop: Mutex::new(stop) });
    let meeting = joining.meet(None);
    assert_eq!(meeting.addresses.len(), task.nodes as usize);
    let control = meeting.begin(told.clone());
    let node = Node { number: task.number, nodes: task.nodes, task: task.clone(), control, told, stops };
    node.play(case);
    node.leave(task.pes as usize);
}

impl Node {
    fn play(&self, case: &str) {
        match (case, self.number) {
            ("wait" | "fails to start" | "dies at the start", _) => self.say_pid(),
            ("deaf", _) => {
                self.say_pid();
                // It is killed: what does not hear has no end of its own.
                thread::sleep(Duration::from_secs(600));
            }
            ("exits", 1) => exit(7),
            ("aborts", 1) => std::process::abort(),
            ("steps", 0) => self.step(100),
            ("siblings", 0) => self.count_siblings(),
            ("prints", _) => self.print(),
            ("prints without end", _) => self.print_without_end(),
            ("reads", _) => self.read(),
            ("shares", _) => self.share(),
            ("has a child", 0) => self.start_child(),
            ("fails", 1) => self.control.ended(5, Some("the program failed".into())),
            _ => {}
        }
        if self.number == 0 && ENDS.contains(&case) {
            self.control.ended(0, None);
        }
        self.stops.recv().expect("the launcher says when to stop");
        self.after(case);
    }

    /// What it does when it has been told to stop.
    fn after(&self, case: &str) {
        match (case, self.number) {
            ("leaves without a word", 1) => exit(0),
            ("fails at the end", 1) => self.control.ended(1, Some("a value panicked".into())),
            _ => {}
        }
    }

    fn say_pid(&self) {
        println!("here is node {} {}", self.number, std::process::id());
    }

    /// Reports steps.
    fn step(&self, last: u64) {
        for done in 1..=last {
            self.told.steps.store(done, Ordering::Relaxed);
            self.control.step(self.told.steps());
        }
    }

    /// Reports steps up to 40, with the number of nodes there are before and after it.
    fn count_siblings(&self) {
        self.step(39);
        println!("before {}", siblings());
        self.told.steps.store(40, Ordering::Relaxed);
        self.control.step(self.told.steps());
        println!("after {}", siblings());
    }

    fn print(&self) {
        for line in 0..200 {
            println!("from {} line {line} end", self.number);
        }
        if self.number == 1 {
            let long = [b"\xff\0".as_slice(), &[b'~'; 300_000]].concat();
            std::io::stdout().write_all(&long).unwrap();
        }
        eprint!("last words of {}", self.number);
    }

    /// Prints until it is told to stop; node 0 ends the job after much.
    fn print_without_end(&self) {
        for line in 0..20_000 {
            println!("from {} line {line} end", self.number);
        }
    }

    fn read(&self) {
        let text = std::io::read_to_string(std::io::stdin()).unwrap();
        println!("node {} read {text:?}", self.number);
    }

    /// Reads the memory, rings the bells of the next node, and waits for its own.
    fn share(&self) {
        let Host { nodes, memory, bells } = &self.task.host;
        let Some(memory) = memory else { return println!("node {} shares nothing", self.number) };
        let mut shape = [0; 2];
        rustix::io::pread(open(*memory), &mut shape, 0).unwrap();
        let pes = self.task.pes as usize;
        let of_node = |node: u32| &bells[node as usize * pes..][..pes];
        for bell in of_node((self.number + 1) % self.nodes) {
            rustix::io::write(open(*bell), &7u64.to_ne_bytes()).unwrap();
        }
        let heard: u64 = of_node(self.number).iter().map(|bell| wait_for(*bell)).sum();
        println!("node {} of {nodes:?} has {shape:?} and heard {heard}", self.number);
        self.control.send(ToLauncher::Note("has heard".into()));
    }

    /// Starts a process that outlives the node and holds its output.
    #[expect(clippy::zombie_processes, reason = "the test itself ends it")]
    fn start_child(&self) {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        println!("the child is {}", child.id());
    }

    fn leave(self, pes: usize) {
        let mut report = NodeReport { steps: self.told.steps(), ..NodeReport::default() };
        report.results.set(format!("from {} of {}", self.number, self.nodes), 0.1 + 0.2);
        report.totals = vec![Totals { local: u64::from(self.number) + 1, ..Totals::default() }; pes];
        report.wall = Duration::from_millis(1);
        self.control.done(report);
        exit(0);
    }
}

/// From now on this process can open one more file.
fn leave_one_descriptor() {
    let lowest = std::fs::File::open("/dev/null").unwrap().as_raw_fd() as u64;
    let limit = Rlimit { current: Some(lowest + 1), maximum: Some(lowest + 1) };
    setrlimit(Resource::Nofile, limit).unwrap();
}

fn open(number: RawFd) -> BorrowedFd<'static> {
    // SAFETY: the launcher left it open for the whole life of this process.
    unsafe { BorrowedFd::borrow_raw(number) }
}

fn wait_for(bell: RawFd) -> u64 {
    let mut value = [0; 8];
    while rustix::io::read(open(bell), &mut value).is_err() {
        thread::yield_now();
    }
    u64::from_ne_bytes(value)
}

/// Processes that this one's launcher has started and not waited for.
fn siblings() -> usize {
    let launcher = rustix::process::getppid().expect("the launcher lives").as_raw_nonzero();
    let threads = std::fs::read_dir(format!("/proc/{launcher}/task")).unwrap();
    let children =
        threads.map(|thread| std::fs::read_to_string(thread.unwrap().path().join("children")).unwrap());
    children.map(|children| children.split_whitespace().count()).sum()
}

/// What this process inherited beside its standard streams.
fn inherited() -> Vec<String> {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets = entries.filter_map(|entry| {
        let entry = entry.unwrap();
        let number: i32 = entry.file_name().to_str().unwrap().parse().unwrap();
        let target = std::fs::read_link(entry.path()).ok()?;
        (number > 2).then(|| target.to_string_lossy().into_owned())
    });
    targets.filter(|target| !target.contains("/proc/")).collect()
}
