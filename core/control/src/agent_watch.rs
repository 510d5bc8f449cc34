//! What the launcher knows of another host: which of its nodes are left, and whether the host is still there.
//!
//! Pure: real launchers and simulated ones ask it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use crate::heartbeat::Heartbeat;
use crate::hosts::in_words;
use crate::messages::nodes_in_words;

/// So long a node that was killed may take to be gone; otherwise its host is lost.
const KILL_LIMIT: Duration = Duration::from_millis(750);

/// Why a host is given up that has said nothing for so long.
pub fn silent(limit: Duration) -> String {
    format!("it said nothing for {limit:?} (is the network between cut? see --silence)")
}

/// A host, watched.
#[derive(Debug)]
pub struct Watch {
    name: String,
    /// Nodes that it had at the start.
    named: Range<u32>,
    silence: Duration,
    heartbeat: Heartbeat,
    /// All that have been there since.
    came: BTreeSet<u32>,
    /// Nodes that have not ended.
    left: BTreeSet<u32>,
    /// When nodes that were killed have to be gone.
    dying: BTreeMap<u32, Duration>,
}

impl Watch {
    /// Of a host of this name, from which nothing was heard yet.
    pub fn new(host: &str, nodes: Range<u32>, silence: Duration) -> Self {
        Watch::with(host, nodes.clone(), nodes, silence)
    }

    /// Of one that had the first nodes at the start, and has the others by now.
    pub fn with(
        host: &str,
        named: Range<u32>,
        left: impl IntoIterator<Item = u32>,
        silence: Duration,
    ) -> Self {
        let left: BTreeSet<u32> = left.into_iter().collect();
        Watch {
            name: host.to_owned(),
            silence,
            heartbeat: Heartbeat::new(silence),
            came: named.clone().chain(left.iter().copied()).collect(),
            named,
            left,
            dying: BTreeMap::new(),
        }
    }

    /// Something came from it.
    pub fn heard(&mut self) {
        self.heartbeat.heard();
    }

    /// Whether a node is there and has not ended: nobody else's events come from this host.
    pub fn has(&self, node: u32) -> bool {
        self.left.contains(&node)
    }

    /// Whether a node is there, or has been: what it wrote may still come.
    pub fn had(&self, node: u32) -> bool {
        self.came.contains(&node)
    }

    /// Whether any is or has been.
    pub fn had_any(&self) -> bool {
        !self.came.is_empty()
    }

    /// A node is started here, again or instead of on another host.
    pub fn on_start(&mut self, node: u32) {
        self.came.insert(node);
        self.left.insert(node);
    }

    /// A node has ended.
    pub fn on_end(&mut self, node: u32) {
        self.left.remove(&node);
        self.dying.remove(&node);
    }

    /// A node is to be killed. Time is counted from any moment, the same one for all calls.
    pub fn on_kill(&mut self, now: Duration, node: u32) {
        if self.has(node) {
            self.dying.entry(node).or_insert(now + KILL_LIMIT);
        }
    }

    /// A tick went by; why the host is lost, if it is.
    pub fn on_tick(&mut self, now: Duration) -> Result<(), String> {
        if self.heartbeat.tick() {
            return Err(silent(self.silence));
        }
        match self.dying.values().any(|by| *by <= now) {
            true => Err("it does not kill its nodes when told to (is the network between cut, or the machine overloaded?)".into()),
            false => Ok(()),
        }
    }

    /// The host is lost: what to say of it, and the nodes that are lost with it.
    pub fn lose(&mut self, why: &str) -> (String, BTreeSet<u32>) {
        let left = std::mem::take(&mut self.left);
        let nodes = match self.named.is_empty() && !left.is_empty() {
            true => nodes_in_words(&left.iter().copied().collect::<Vec<_>>()),
            false => in_words(&self.named),
        };
        (format!("host {} ({nodes}): {why}", self.name), left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILENCE: Duration = Duration::from_secs(2);

    #[test]
    fn silence_is_told_with_its_limit_and_the_nodes() {
        let mut watch = Watch::new("b", 2..4, SILENCE);
        let why = (0..).find_map(|_| watch.on_tick(Duration::ZERO).err()).expect("it is silent");
        let (message, lost) = watch.lose(&why);
        assert_eq!(
            message,
            "host b (nodes 2 to 3): it said nothing for 2s (is the network between cut? see --silence)"
        );
        assert_eq!(lost, [2, 3].into());
        assert!(!watch.has(2));
    }

    #[test]
    fn a_host_that_had_no_node_at_the_start_is_lost_with_those_that_came() {
        let mut watch = Watch::new("b", 0..0, SILENCE);
        assert_eq!(watch.lose("gone"), ("host b (no node): gone".to_owned(), [].into()));
        assert!(!watch.had_any());
        watch.on_start(2);
        watch.on_start(3);
        watch.on_end(2);
        assert_eq!(watch.lose("gone"), ("host b (node 3): gone".to_owned(), [3].into()));
        assert!([2, 3].into_iter().all(|node| watch.had(node)) && !watch.had(1));
    }

    #[test]
    fn a_node_that_is_killed_has_to_end() {
        let mut watch = Watch::new("b", 2..4, SILENCE);
        watch.on_kill(Duration::ZERO, 2);
        watch.on_kill(KILL_LIMIT / 2, 2);
        watch.on_kill(Duration::ZERO, 7);
        assert_eq!(watch.on_tick(KILL_LIMIT / 2), Ok(()));
        let mut in_time = Watch::new("b", 2..4, SILENCE);
        in_time.on_kill(Duration::ZERO, 2);
        in_time.on_end(2);
        assert_eq!(in_time.on_tick(KILL_LIMIT), Ok(()));
        assert!(watch.on_tick(KILL_LIMIT).is_err_and(|why| why.contains("kill")));
    }
}
