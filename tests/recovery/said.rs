//! What runs of the same program have in common, whatever happened to them.

use serde_json::{Map, Value};

/// What does this binary's own program print for the tests, by `println!`: such lines may come twice.
const MARK: &str = "at ";

/// What lines have that tell of times as the examples measured them: they are others in every run.
const TIMES: [&str; 4] = [" ms a step, ", " ns each", " µs one way", " s, fingerprint "];

/// What a run has to have in common with every other of its subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// Sorted: those of different nodes have no order.
    lines: Vec<String>,
    results: Map<String, Value>,
}

impl Said {
    /// What was printed, and what the report has, but for times.
    pub fn reported(printed: &[String], report: &Value) -> Said {
        let mut results = report["results"].as_object().cloned().unwrap_or_default();
        results.retain(|name, _| !name.ends_with("_s") && !name.ends_with("_ratio"));
        let is_open = |line: &&String| TIMES.iter().any(|time| line.contains(time));
        let lines: Vec<_> = printed.iter().filter(|line| !is_open(line)).cloned().collect();
        Said { results, ..Said::of(&lines) }
    }

    /// Lines, as they were printed.
    pub fn of(lines: &[String]) -> Said {
        let nothing = Said { lines: Vec::new(), results: Map::new() };
        nothing.and_elsewhere(lines)
    }

    pub fn has_the_results_of(&self, other: &Said) -> bool {
        self.results == other.results
    }

    /// Lines that the other has not.
    pub fn without(&self, other: &Said) -> Vec<&str> {
        self.lines.iter().filter(|line| !other.lines.contains(line)).map(String::as_str).collect()
    }

    /// No line was said more often than once on each of so many hosts; from this round of [`LONG`](crate::subjects::LONG) on, there was but one.
    #[track_caller]
    pub fn check_repeats(&self, hosts: usize, one_from: u64) {
        for same in self.lines.chunk_by(|one, other| one == other) {
            let most = if round_of(&same[0]) >= Some(one_from) { 1 } else { hosts };
            assert!(same.len() <= most, "{} times, though {most} would do: {}", same.len(), same[0]);
        }
    }

    /// The first round of [`LONG`](crate::subjects::LONG) of which anything was said.
    pub fn first_round(&self) -> Option<u64> {
        self.lines.iter().filter_map(|line| round_of(line)).min()
    }

    #[allow(dead_code, reason = "the nemesis goes on from what was said before")]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Together with lines that a job had said from which this one went on. Where it had got to, lines may come twice.
    pub fn and_before(&self, before: &[String]) -> Said {
        let mut said = self.and_elsewhere(before);
        said.lines.dedup();
        said
    }

    /// Together with lines that were printed where this did not come.
    pub fn and_elsewhere(&self, others: &[String]) -> Said {
        let others = others.iter().filter(|line| !line.starts_with(MARK));
        let mut lines: Vec<_> = self.lines.iter().chain(others).cloned().collect();
        lines.sort();
        Said { lines, results: self.results.clone() }
    }
}

/// The round in which [`LONG`](crate::subjects::LONG) has said this line.
fn round_of(line: &str) -> Option<u64> {
    let (before, _) = line.split_once(" rounds: ")?;
    before.rsplit(' ').next()?.parse().ok()
}
