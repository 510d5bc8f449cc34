//! Jobs that are asked for something while they run: the program waits in the midst for as long as a file is there.

use std::process::{Command, Output};
use std::sync::Arc;

use crate::job::{Ended, Job, Scratch, Shape, program, run};
use crate::once::Once;

/// It waits before the 60th.
pub const ROUNDS: &str = "--rounds 70";

/// A job that waits in its midst.
pub struct Held {
    pub job: Job,
    pub nodes: Vec<i32>,
    file: Scratch,
    report: Scratch,
}

/// What a job has come to.
pub struct Left {
    pub ended: Ended,
    pub lines: Vec<String>,
    report: serde_json::Value,
}

impl Held {
    pub fn start(shape: Shape, options: &str) -> Held {
        let (file, report) = (Scratch::new("hold"), Scratch::new("report"));
        file.touch();
        let ft = if options.contains("--ft") { "" } else { "--ft logging" };
        let words = format!("{ft} {ROUNDS} --hold {} --report {} {options}", file.name(), report.name());
        let job = Job::start(program(&words, shape));
        let nodes = job.nodes(shape.0 as usize);
        job.wait_for("50 rounds");
        Held { job, nodes, file, report }
    }

    pub fn let_go(&self) {
        std::fs::remove_file(&self.file.0).expect("it is there");
    }

    #[track_caller]
    pub fn end(self, texts: &[&str]) -> Left {
        self.let_go();
        Left::of(self.job.end().expect(0, texts), &self.report)
    }

    #[track_caller]
    pub fn end_without_launcher(self) -> Left {
        self.let_go();
        Left::of(self.job.end_without_launcher(), &self.report)
    }

    #[track_caller]
    pub fn asks(&self, what: &str, nodes: &str, (status, text): (i32, &str)) {
        let asked = ask(self.job.launcher_pid(), what, nodes);
        let all = [&asked.stdout[..], &asked.stderr].map(String::from_utf8_lossy).concat();
        let is_right = asked.status.code() == Some(status) && all.contains(text);
        assert!(is_right, "{what} {nodes}: {:?} {all:?}, no {text:?}: {}", asked.status, self.job.said());
    }
}

pub fn ask(launcher: i32, what: &str, nodes: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
    let asked = command.arg(what).arg(launcher.to_string()).args(nodes.split_whitespace()).output();
    asked.expect("the command is built with the tests")
}

impl Left {
    pub fn of(ended: Ended, report: &Scratch) -> Left {
        let mut lines: Vec<String> =
            ended.stdout.iter().filter(|line| !line.starts_with("at ")).cloned().collect();
        // Those of different nodes have no order.
        lines.sort();
        let text = std::fs::read_to_string(&report.0).unwrap_or_default();
        Left { ended, lines, report: serde_json::from_str(&text).unwrap_or_default() }
    }

    /// The same lines and results as a run has in which nothing happens.
    #[track_caller]
    pub fn is_like_undisturbed(&self, shape: Shape) {
        let expected = self.reports_what_is_right(shape);
        assert_eq!(self.lines, expected.lines, "{}", self.ended.said());
        assert!(expected.lines.len() > 60, "{:?}", expected.lines);
    }

    /// The same results alone; and what an undisturbed run has left.
    #[track_caller]
    pub fn reports_what_is_right(&self, shape: Shape) -> Arc<Left> {
        static KNOWN: Once<Shape, Left> = Once::new();
        let expected = KNOWN.get(shape, || {
            let report = Scratch::new("report");
            let ended = run(program(&format!("{ROUNDS} --report {}", report.name()), shape)).expect(0, &[]);
            Left::of(ended, &report)
        });
        assert_eq!(self.report["results"], expected.report["results"], "{}", self.ended.said());
        expected
    }

    /// Nodes that the report has lost, but launchers.
    pub fn lost(&self) -> Vec<u64> {
        let failures = self.report["failures"].as_array().cloned().unwrap_or_default();
        failures.iter().filter_map(|failure| failure["node"].as_u64()).collect()
    }
}
