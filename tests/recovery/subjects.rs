//! What runs, and what it leaves behind.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::job::{Ended, Job, Scratch, Shape, example, program};
use crate::once::Once;
use crate::planned::Kills;
pub use crate::said::Said;

pub const TRANSPORTS: [&str; 4] = ["tcp", "shm", "mixed", "unix"];
/// No checkpoint but those after a recovery.
pub const NEVER: &str = "--ckpt-every 1h";

/// [`LONG`] does not begin this round as long as it is held.
pub const HELD_AT: u64 = 60;
/// A program with its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    name: &'static str,
    options: &'static str,
}

pub const ROUNDS: Subject = Subject { name: "", options: "" };
/// Can be held.
pub const GARDEN: Subject = Subject { name: "", options: "--garden --rounds 20" };
/// Can be held, and is long enough to be cut off.
pub const LONG: Subject = Subject { name: "", options: "--rounds 80" };
/// Elements that are inserted and go.
pub const NURSERY: Subject = Subject { name: "", options: "--nursery --rounds 40" };
/// The same, which can be held.
pub const LONG_NURSERY: Subject = Subject { name: "", options: "--nursery --rounds 70" };
/// Can be held, and has too much from its fifth round on.
pub const HOARD: Subject = Subject { name: "", options: "--hoard" };
/// Four blocks are large enough for memory that a checkpoint keeps, the others are copied.
pub const JACOBI: Subject =
    Subject { name: "jacobi3d", options: "--grid 44,42,21 --block 21,21,21 --steps 60 --check" };
/// Waits for a checkpoint after each eight rounds: what is lost later is lost after it.
pub const SAVED: Subject = Subject { name: "", options: "--rounds 24 --save-every 8" };
pub const LEANMD: Subject = Subject {
    name: "leanmd",
    options: "--cells 3,3,3 --atoms-per-cell 8 --steps 40 --migrate-every 10 --check",
};
/// With as many steps as are asked for, or a hundred.
pub const SMALL_JACOBI: Subject =
    Subject { name: "jacobi3d", options: "--grid 44,42,21 --block 21,21,21 --check" };
/// The same.
pub const SMALL_LEANMD: Subject =
    Subject { name: "leanmd", options: "--open --cells 3,2,2 --atoms-per-cell 8 --check" };

pub const IMBALANCE: Subject =
    Subject { name: "imbalance", options: "--grid 48 --objects-per-pe 8 --steps 40 --check" };
pub const RING: Subject = Subject { name: "ring", options: "--members 10 --laps 300" };
pub const PINGPONG: Subject = Subject { name: "pingpong", options: "--bytes 100 --rounds 1500" };
pub const HELLO: Subject = Subject { name: "hello", options: "" };
pub const GOLOMB: Subject = Subject { name: "golomb", options: "--marks 8 --depth 4" };
pub const NQUEENS: Subject = Subject { name: "nqueens", options: "--queens 12 --grain 8" };
/// Takes an order of magnitude longer.
pub const LARGE_GOLOMB: Subject = Subject { name: "golomb", options: "--marks 9 --depth 4" };
/// The same.
pub const LARGE_NQUEENS: Subject = Subject { name: "nqueens", options: "--queens 13 --grain 9" };

/// Has to be ended.
pub const ENDLESS: Subject = Subject {
    name: "leanmd",
    options: "--cells 3,3,3 --atoms-per-cell 8 --steps 1000000000 --migrate-every 10",
};

/// A run under way.
pub struct Run {
    pub job: Job,
    report: Scratch,
    kills: Kills,
}

/// What was left of it.
pub struct Left {
    pub said: Said,
    pub ended: Ended,
    pub wall: Duration,
    /// Of the job, as its report says.
    pub status: Option<i64>,
    pub failures: Vec<Value>,
    pub report: Value,
    /// Of each loss in the report: the node, and whether another process took its place.
    pub losses: Vec<(u64, bool)>,
    /// When each checkpoint in the report began.
    pub checkpoints: Vec<f64>,
}

impl Subject {
    pub fn start(self, shape: Shape, options: &str) -> Run {
        self.start_by(shape, options, |command| command)
    }

    /// In surroundings that another command makes.
    pub fn start_by(self, shape: Shape, options: &str, by: impl FnOnce(Command) -> Command) -> Run {
        let report = Scratch::new("report");
        let words = format!("{} --report {} {options}", self.options, report.name());
        let command: Command = match self.name {
            "" => program(&words, shape),
            name => example(name, &words, shape),
        };
        Run { job: Job::start(by(command)), report, kills: Kills::of(options) }
    }

    /// Of a run that loses nobody, and knows nothing of fault tolerance.
    pub fn undisturbed(self, shape: Shape) -> Said {
        static KNOWN: Once<(Subject, Shape), Said> = Once::new();
        (*KNOWN.get((self, shape), || self.start(shape, "").end().said)).clone()
    }

    /// A run with fault tolerance, to its end, which has to be the same.
    #[track_caller]
    pub fn survives(self, shape: Shape, options: &str, expected: &Said) -> Left {
        self.start(shape, &format!("--ft double {options}")).survives(expected)
    }
}

impl Run {
    #[track_caller]
    pub fn survives(self, expected: &Said) -> Left {
        let left = self.end();
        assert_eq!(&left.said, expected, "{}", left.ended.said());
        left
    }

    /// To its end, which has to be in order. Whoever its options had killed is lost, and nobody else.
    #[track_caller]
    pub fn end(self) -> Left {
        let Run { job, report, kills } = self;
        let left = Left::of(job.end().expect(0, &[]), &report);
        left.check_kills(&kills);
        left
    }

    /// To the end of a run whose launchers were killed: no output is missing or wrong, and none comes twice.
    #[track_caller]
    pub fn survives_its_launchers(self, expected: &Said) -> Left {
        let kills = self.kills.clone();
        let left = self.ends_without_its_launcher();
        left.check_kills(&kills);
        assert_eq!(&left.said, expected, "{}", left.ended.said());
        assert_eq!(left.status, Some(0), "{}", left.ended.said());
        left
    }

    /// To the end of a run whose launcher was killed.
    #[track_caller]
    pub fn ends_without_its_launcher(self) -> Left {
        let Run { job, report, .. } = self;
        let ended = job.end_without_launcher();
        assert_eq!(ended.status.code(), None, "{}", ended.said());
        Left::of(ended, &report)
    }
}

impl Left {
    /// Whom the job has lost, in their order; the launcher has no number.
    pub fn lost(&self) -> Vec<Option<u64>> {
        self.failures.iter().map(|failure| failure["node"].as_u64()).collect()
    }

    /// What the job went back to after its only loss; none if it began anew. It has said so.
    #[track_caller]
    pub fn gone_back_to(&self) -> Option<u64> {
        let [failure] = &self.failures[..] else { panic!("it has not one loss: {:?}", self.failures) };
        let version = failure["version"].as_u64();
        let words = match version {
            Some(version) => format!(" went back to checkpoint {version} in "),
            None => " began the program anew, as there was no checkpoint yet, in ".into(),
        };
        assert!(self.ended.stderr.iter().any(|line| line.contains(&words)), "{words}: {}", self.ended.said());
        version
    }

    /// The checkpoints in the report: their versions, and why there were any.
    pub fn taken(&self) -> Vec<(u64, &str)> {
        let checkpoints = self.report["checkpoints"].as_array().into_iter().flatten();
        checkpoints
            .filter_map(|taken| Some((taken["version"].as_u64()?, taken["trigger"].as_str()?)))
            .collect()
    }

    #[track_caller]
    fn check_kills(&self, kills: &Kills) {
        let lost: Vec<u64> = self.losses.iter().map(|(node, _)| *node).collect();
        kills.check(&lost, &self.ended.said());
    }

    /// What is left when the job has ended and written its report.
    #[track_caller]
    fn of(ended: Ended, report: &Scratch) -> Left {
        let text =
            std::fs::read_to_string(&report.0).unwrap_or_else(|_| panic!("no report: {}", ended.said()));
        let report: Value = serde_json::from_str(&text).expect("a report is JSON");
        let said = Said::reported(&ended.stdout, &report);
        let wall = Duration::from_secs_f64(report["wall_s"].as_f64().expect("a report has a wall time"));
        let (status, failures) = (report["status"].as_i64(), report["failures"].as_array());
        let failures = failures.expect("a report has failures").clone();
        let losses = losses(&report);
        let is_told = |failure: &Value| failure["detect_s"].as_f64() >= Some(0.0);
        assert!(failures.iter().all(is_told), "how long it took to know of a loss is told: {failures:?}");
        let checkpoints = report["checkpoints"].as_array().into_iter().flatten();
        let checkpoints = checkpoints.filter_map(|taken| taken["at_s"].as_f64()).collect();
        Left { said, ended, wall, status, failures, report, losses, checkpoints }
    }
}

/// How many processes have taken the launcher's place, as errors tell.
pub fn led(errors: &[String]) -> usize {
    errors.iter().filter(|line| line.contains("leads now")).count()
}

fn losses(report: &Value) -> Vec<(u64, bool)> {
    let of_one = |failure: &Value| {
        // The launcher has none.
        let node = failure["node"].as_u64()?;
        Some((node, failure["replaced"].as_bool().expect("a failure tells whether it was replaced")))
    };
    report["failures"].as_array().into_iter().flatten().filter_map(of_one).collect()
}
