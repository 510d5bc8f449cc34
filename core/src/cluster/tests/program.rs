//! What the processes of the tests do.

use std::io::Write;
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use super::super::children::Executable;
use super::super::control::{NodeReport, Stop};
use super::super::launcher::launch_as;
use super::super::member::{Joining, Orders, joining};
use super::super::voice::Control;
use crate::launch::command_line::{Program, parse_from};
use crate::launch::progress::Steps;
use crate::stats::Totals;

/// The case that a process plays.
pub(super) const CASE: &str = "TALISMAN_TEST_CLUSTER_CASE";
/// The launcher's options.
pub(super) const ARGS: &str = "TALISMAN_TEST_CLUSTER_ARGS";

const PROGRAM: Program = Program { name: "test", package: "test", version: "0" };

pub(super) fn main(case: &str) {
    let _ = std::io::stdout().flush();
    match joining() {
        Some(joining) => node(case, joining.expect("the launcher says what to do")),
        None => launcher(case),
    }
}

fn launcher(case: &str) {
    let args = std::env::var(ARGS).unwrap();
    let words = ["test"].into_iter().chain(args.split_whitespace());
    let (options, ()) = parse_from(&PROGRAM, words).unwrap_or_else(|error| error.exit());
    let mut executable = Executable::this();
    if case == "no executable" {
        executable.path = "/no/such/program".into();
    }
    let outcome = launch_as(&executable, &PROGRAM, &options).expect("the launcher itself starts");
    if let Some(message) = &outcome.message {
        eprintln!("test: error: {message}");
    }
    let local: Vec<u64> = outcome.totals.iter().map(|totals| totals.local).collect();
    eprintln!("steps {:?} local {local:?} results {:?}", outcome.steps, outcome.results);
    let status = outcome.interrupted.map_or(outcome.status, |signal| signal.exit_code().into());
    exit(status);
}

/// A node's program, as far as the launcher is concerned.
struct Node {
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

impl Orders for Told {
    fn stop(&self, stop: Stop) {
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
    let node = Node { number: task.number, nodes: task.nodes, control, told, stops };
    node.play(case);
    node.leave(task.pes as usize);
}

impl Node {
    fn play(&self, case: &str) {
        match case {
            "hello" => {}
            "wait" => self.say_pid(),
            "deaf" => {
                self.say_pid();
                std::thread::sleep(Duration::from_secs(600));
            }
            other => panic!("no case {other}"),
        }
        if case == "hello" && self.number == 0 {
            self.control.ended(0, None);
        }
        self.stops.recv().expect("the launcher says when to stop");
    }

    fn say_pid(&self) {
        println!("here is node {} {}", self.number, std::process::id());
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
