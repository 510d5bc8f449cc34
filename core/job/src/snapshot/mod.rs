//! How a job stands, as whoever looks at it is told: the dashboard's page, `/metrics`, and `talisman top`.
//!
//! Plain data: the launcher makes it of what it knows and what the nodes say of themselves ([`figures`]). Names in its JSON are fixed;
//! later versions add to them. Times are in seconds, sizes in bytes, loads from 0 to 1. Nothing secret is in it: no address, no key.

pub mod figures;

use serde::{Deserialize, Serialize};

use crate::progress::Steps;
use crate::report::MessageCounts;
use crate::{BalancingStep, CheckpointTaken, Failure};

/// Losses that are told in full, the last ones.
pub const LOSSES_MOST: usize = 50;
/// Points of the past that are kept, one for each look.
pub const PAST_MOST: usize = 300;

/// How a job stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The program's name.
    pub program: String,
    /// The process id that the job is called by.
    pub job: u32,
    /// For how long the program has been running.
    pub at_s: f64,
    pub state: State,
    /// How it survives losses, as `--ft` says it, and what balances it.
    pub ft: String,
    pub balancer: String,
    pub steps: Steps,
    /// Steps in a second lately, and what is left at that rate.
    pub steps_per_s: Option<f64>,
    pub left_s: Option<f64>,
    /// Why another loss may be one too many, or the job has fewer nodes than it began with.
    pub degraded: Option<String>,
    pub nodes: Vec<Node>,
    /// Objects by chare, the most frequent first.
    pub objects: Vec<(String, u64)>,
    /// In a second, lately.
    pub rates: Rates,
    /// Since the program's start, or the last recovery.
    pub messages: MessageCounts,
    /// Bytes of memory of all nodes.
    pub memory: u64,
    /// Bytes that nodes keep for others (`--ft logging`).
    pub kept: u64,
    pub checkpoints: Checkpoints,
    /// Steps of load balancing, and the last of them.
    pub balancing: u64,
    pub balanced: Option<BalancingStep>,
    /// Nodes lost so far, and the stories of the last ones.
    pub lost: u64,
    pub losses: Vec<Failure>,
    /// What it can be asked for: `checkpoint`, `balance`, `shrink`, `grow`.
    pub takes: Vec<String>,
    /// As somebody has looked.
    pub past: Vec<Point>,
}

/// What a job is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    #[default]
    Starting,
    Running,
    Recovering,
    Ending,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub node: u32,
    /// Its host, if that is not the launcher's own.
    pub host: Option<String>,
    /// The process id on its host.
    pub pid: Option<u32>,
    /// `starting`, `running`, `done` or `gone`.
    pub stage: String,
    /// Which of the processes this is that replaced another; 0 from the start.
    pub life: u64,
    pub memory: u64,
    pub pes: Vec<Pe>,
}

/// A PE.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pe {
    pub pe: u32,
    /// The part of the time that it was busy lately; none if it is not known yet.
    pub load: Option<f64>,
    /// Entries run in a second lately, and in all since it began.
    pub entries_per_s: f64,
    pub entries: u64,
    /// Seconds without work since it began.
    pub idle_s: f64,
    pub objects: u64,
    /// Messages that wait in its queue.
    pub waiting: u64,
}

/// What goes on in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Entries run, whether their messages came from the same PE or another.
    pub entries: f64,
    /// Messages between PEs of a node, and between nodes.
    pub between_pes: f64,
    pub between_nodes: f64,
    pub bytes_between_nodes: f64,
}

/// Checkpoints of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoints {
    /// How many have been committed, and the last of them.
    pub count: u64,
    pub last: Option<CheckpointTaken>,
    /// How old that is, and when the next one is due, where that is known.
    pub age_s: Option<f64>,
    pub next_s: Option<f64>,
}

/// A moment of the past.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub at_s: f64,
    /// Of the busiest PE, and on average.
    pub load_max: f64,
    pub load: f64,
    pub entries_per_s: f64,
    pub memory: u64,
}

impl Snapshot {
    /// Nodes that are there.
    pub fn nodes_there(&self) -> usize {
        self.nodes.iter().filter(|node| node.stage != "gone").count()
    }

    /// All PEs of nodes that are there.
    pub fn pes(&self) -> impl Iterator<Item = &Pe> {
        self.nodes.iter().filter(|node| node.stage != "gone").flat_map(|node| &node.pes)
    }

    /// As one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a snapshot has text keys only and plain values")
    }

    /// Reads one back.
    ///
    /// # Errors
    /// The text is no snapshot: the reason.
    pub fn from_json(text: &str) -> Result<Snapshot, String> {
        serde_json::from_str(text).map_err(|error| format!("the job's answer cannot be read: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_one_line_that_is_read_back() {
        let snapshot = Snapshot {
            program: "lean\nmd".into(),
            nodes: vec![Node { pes: vec![Pe { load: Some(0.1 + 0.2), ..Pe::default() }], ..Node::default() }],
            past: vec![Point { at_s: 1.5, ..Point::default() }],
            ..Snapshot::default()
        };
        let text = snapshot.to_json();
        assert!(!text.contains('\n') && text.contains("\"state\":\"starting\""), "{text}");
        assert_eq!(Snapshot::from_json(&text), Ok(snapshot));
        assert!(Snapshot::from_json("{}").is_err());
    }
}
