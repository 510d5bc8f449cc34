//! What a node says of itself while somebody looks at the job.

use std::fs;
use std::sync::Arc;

use super::connections::Connections;
use talisman_job::job::Job;
use talisman_job::snapshot::figures::NodeFigures;

/// What of a node is shown.
pub(super) struct Shown {
    connections: Arc<Connections>,
    job: Arc<Job>,
}

impl Shown {
    pub(super) fn new(connections: &Arc<Connections>, job: &Arc<Job>) -> Self {
        Shown { connections: connections.clone(), job: job.clone() }
    }

    /// Asks the PEs; none waits for the answer.
    pub(super) fn ask(&self) {
        self.connections.node().into_iter().for_each(|node| node.ask_for_figures());
    }

    /// What they have said, with what the process knows.
    pub(super) fn figures(&self) -> NodeFigures {
        let node = self.connections.node();
        let (checkpoints, checkpoint) = self.job.last_checkpoint();
        let (balancing, balanced) = self.job.last_balancing();
        NodeFigures {
            pes: node.iter().flat_map(|node| &node.figures).map(|window| window.told()).collect(),
            memory: resident(&fs::read_to_string("/proc/self/statm").unwrap_or_default()),
            steps: self.job.progress(),
            checkpoints: checkpoints as u64,
            checkpoint,
            balancing: balancing as u64,
            balanced,
        }
    }
}

/// The second word counts pages.
fn resident(statm: &str) -> u64 {
    let pages: Option<u64> = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0).saturating_mul(rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_is_resident() {
        assert_eq!(resident("900 3 2 1 0 5 0\n"), 3 * rustix::param::page_size() as u64);
        assert_eq!(resident(""), 0);
        assert!(resident(&fs::read_to_string("/proc/self/statm").unwrap()) > 1 << 18);
    }
}
