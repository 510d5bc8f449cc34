//! `--report FILE.json`: what happened, for scripts.
//!
//! The names in the file are fixed; later versions add to them and take none away. All times are in seconds.
//!
//! ```json
//! {
//!   "program": "jacobi3d", "status": 0, "nodes": 1, "pes": 2, "ft": "off", "wall_s": 1.5, "steps": 100,
//!   "results": {"sum": 3.25, "iterations": 100},
//!   "messages": {"local": 10, "between_pes": 5, "between_nodes": 0, "bytes_between_nodes": 0},
//!   "pe": [{"busy_s": 1.2, "idle_s": 0.3}, {"busy_s": 1.1, "idle_s": 0.4}],
//!   "failures": [], "not_injected": [], "checkpoints": [], "logging": [], "balancing": [], "undelivered": [],
//!   "advice": []
//! }
//! ```
//!
//! Floating-point values have enough digits to read back the same bits. JSON has no others than finite ones, so
//! these are the texts `"NaN"`, `"inf"` and `"-inf"`.

pub mod advice;
mod balancing;
mod checkpoint;
mod failure;
mod file;
mod kept;
mod not_injected;
mod undelivered;
mod value;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use balancing::BalancingStep;
pub use checkpoint::CheckpointTaken;
pub use failure::Failure;
pub use file::ReportError;
pub use file::try_out;
pub use kept::LogKept;
pub use not_injected::NotInjected;
pub use undelivered::Undelivered;
pub use value::{ResultValue, Results};

/// What happened in a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The program's name.
    pub program: String,
    /// The exit status of the job: 0 for success.
    #[serde(default)]
    pub status: u8,
    /// Nodes (processes) of the job.
    pub nodes: u32,
    /// PEs (scheduler threads) per node.
    pub pes: u32,
    /// How the job survives losses, as `--ft` says it.
    #[serde(default)]
    pub ft: String,
    /// Time from the job's start to its end, on the wall's clock (the simulated one in simulation).
    pub wall_s: f64,
    /// Steps the program has reported as done.
    pub steps: u64,
    /// The program's own results.
    pub results: Results,
    /// Messages by how far they went.
    pub messages: MessageCounts,
    /// What each PE did, the PEs of node 0 first.
    pub pe: Vec<PeTimes>,
    /// Nodes that were lost while the program ran, in order (`--ft`).
    pub failures: Vec<Failure>,
    /// Faults that were asked for (`--kill`, `--chaos`), and did not happen.
    #[serde(default)]
    pub not_injected: Vec<NotInjected>,
    /// Checkpoints that were committed, in order; the last of very many.
    pub checkpoints: Vec<CheckpointTaken>,
    /// What each node has kept for others, in a job that logs (`--ft logging`).
    #[serde(default)]
    pub logging: Vec<LogKept>,
    /// Steps of load balancing, in order; the last of very many.
    pub balancing: Vec<BalancingStep>,
    /// Messages for elements that did not exist when the job ended well; some of very many kinds.
    #[serde(default)]
    pub undelivered: Vec<Undelivered>,
    /// What cost much, and which option would help ([`advice::advice`]).
    #[serde(default)]
    pub advice: Vec<String>,
}

/// Messages to entry methods, by how far they went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCounts {
    /// To an object on the same PE.
    pub local: u64,
    /// To another PE of the same node.
    pub between_pes: u64,
    /// To another node.
    pub between_nodes: u64,
    /// Bytes of those to other nodes, headers included.
    pub bytes_between_nodes: u64,
}

/// How one PE spent the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PeTimes {
    /// Seconds in entry methods and in the runtime on their behalf.
    pub busy_s: f64,
    /// Seconds without work.
    pub idle_s: f64,
}

impl Report {
    /// Writes the report, all of it or nothing: a reader never sees half a file.
    ///
    /// # Errors
    /// The file cannot be written; the error names it and the reason.
    pub fn write(&self, path: &Path) -> Result<(), ReportError> {
        file::write(path, &self.to_json())
    }

    /// The report as JSON text, one line per entry.
    pub fn to_json(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("a report has text keys only and plain values");
        text.push('\n');
        text
    }

    /// Reads a report back.
    ///
    /// # Errors
    /// The file cannot be read or is no report; the error names it and the reason.
    pub fn read(path: &Path) -> Result<Report, ReportError> {
        serde_json::from_str(&file::read(path)?).map_err(|source| ReportError::no_report(path, source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut results = Results::default();
        results.set("sum", 0.1 + 0.2);
        results.set("atoms", 23_558_u64);
        Report {
            program: "leanmd".into(),
            nodes: 1,
            pes: 2,
            ft: "off".into(),
            wall_s: 1.5,
            steps: 100,
            results,
            messages: MessageCounts { local: 1, between_pes: 2, ..MessageCounts::default() },
            pe: vec![PeTimes { busy_s: 1.25, idle_s: 0.25 }; 2],
            ..Report::default()
        }
    }

    #[test]
    fn the_names_in_the_file_are_fixed() {
        let expected = r#"{"program":"leanmd","status":0,"nodes":1,"pes":2,"ft":"off","wall_s":1.5,"steps":100,
            "results":{"sum":0.30000000000000004,"atoms":23558},
            "messages":{"local":1,"between_pes":2,"between_nodes":0,"bytes_between_nodes":0},
            "pe":[{"busy_s":1.25,"idle_s":0.25},{"busy_s":1.25,"idle_s":0.25}],
            "failures":[],"not_injected":[],"checkpoints":[],"logging":[],"balancing":[],"undelivered":[],"advice":[]}"#;
        let without_space = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(without_space(&report().to_json()), without_space(expected));
    }

    #[test]
    fn a_report_is_read_back_as_it_was_written() {
        let path = std::env::temp_dir().join(format!("talisman-report-{}.json", std::process::id()));
        report().write(&path).unwrap();
        assert_eq!(Report::read(&path).unwrap(), report());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_is_no_report_is_refused_with_its_name() {
        let path = std::env::temp_dir().join(format!("talisman-no-report-{}.json", std::process::id()));
        for text in ["", "{", "[1]", r#"{"program": 3}"#] {
            std::fs::write(&path, text).unwrap();
            let error = Report::read(&path).unwrap_err().to_string();
            assert!(error.contains("talisman-no-report"), "{error}");
        }
        std::fs::remove_file(path).unwrap();
    }
}
