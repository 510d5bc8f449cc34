//! What a node says of itself to whoever looks at the job.

use serde::{Deserialize, Serialize};

use crate::progress::Steps;
use crate::{BalancingStep, CheckpointTaken};

/// Kinds of chares that are told of one by one; those beyond have one count together.
pub const CHARES_MOST: usize = 32;

/// What a node is at. Its size has a bound: it goes to the launcher once a second while somebody looks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeFigures {
    /// Of its PEs, in their order.
    pub pes: Vec<PeFigures>,
    /// Bytes of memory that its process has (resident).
    pub memory: u64,
    /// How far its program says it is.
    pub steps: Steps,
    /// Checkpoints that its first PE knows of, and the last of them.
    pub checkpoints: u64,
    pub checkpoint: Option<CheckpointTaken>,
    /// Steps of load balancing that began on it, and the last of them.
    pub balancing: u64,
    pub balanced: Option<BalancingStep>,
}

/// What a PE has counted since it began: after a recovery it begins again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PeFigures {
    /// When it said this, in nanoseconds from the job's start.
    pub at_ns: u64,
    /// Whether it has said it since it was last asked. If not, an entry runs there, or it has no object yet.
    pub is_new: bool,
    /// Entries run.
    pub entries: u64,
    /// Messages to objects on other PEs of its node.
    pub between_pes: u64,
    /// Messages to objects on other nodes, and their bytes.
    pub between_nodes: u64,
    pub bytes_between_nodes: u64,
    /// Nanoseconds without work.
    pub idle_ns: u64,
    /// Messages that wait in its queue.
    pub waiting: u64,
    /// Bytes kept for others, in a job that logs (`--ft logging`).
    pub kept: u64,
    /// Objects by chare, the most frequent first: [`CHARES_MOST`] at most, then `others`.
    pub objects: Vec<(String, u64)>,
}

impl PeFigures {
    /// Takes counts of objects by chare, and keeps as many kinds as there may be.
    pub fn count_objects(&mut self, counts: impl IntoIterator<Item = (String, u64)>) {
        self.objects = most_frequent(counts);
    }
}

/// Counts by name, each once, the largest first and [`CHARES_MOST`] at most; those beyond are `others`.
pub fn most_frequent(counts: impl IntoIterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut by_name = std::collections::BTreeMap::<String, u64>::new();
    for (name, count) in counts {
        let sum = by_name.entry(name).or_default();
        *sum = sum.saturating_add(count);
    }
    let mut all: Vec<_> = by_name.into_iter().filter(|(_, count)| *count > 0).collect();
    all.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    if all.len() > CHARES_MOST {
        let others = all.drain(CHARES_MOST - 1..).fold(0, |sum: u64, (_, count)| sum.saturating_add(count));
        all.push(("others".into(), others));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_once_and_not_without_bound() {
        let counts =
            [("Cell", 3), ("Main", 1), ("Cell", 4), ("Gone", 0)].map(|(name, count)| (name.into(), count));
        assert_eq!(most_frequent(counts), [("Cell".to_owned(), 7), ("Main".to_owned(), 1)]);
        let many = most_frequent((0..100).map(|number| (format!("C{number:02}"), 1)));
        assert_eq!((many.len(), many[CHARES_MOST - 1].clone()), (CHARES_MOST, ("others".to_owned(), 69)));
    }
}
