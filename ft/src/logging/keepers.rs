//! Who keeps the images and logs of whom.

use serde::{Deserialize, Serialize};

use crate::NodeId;
use crate::view::View;

/// By node: its keeper. One may keep those of several, or of nobody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keepers(Vec<NodeId>);

impl Keepers {
    /// Of nodes on these hosts: as the buddies of checkpoints, the next one around the ring that is on another host; the next one at all if
    /// there is but one host.
    #[must_use]
    pub fn on_hosts(hosts: &[u32]) -> Self {
        let view = View::whole(hosts.len() as u32);
        let keeper = |node| view.buddy(node, |one| hosts[one as usize]).unwrap_or(node);
        Keepers((0..hosts.len() as u32).map(keeper).collect())
    }

    /// Of so many nodes, each on a host of its own.
    #[must_use]
    pub fn around(nodes: u32) -> Self {
        Keepers::on_hosts(&(0..nodes).collect::<Vec<_>>())
    }

    /// As they are said: by node.
    #[must_use]
    pub fn named(keepers: Vec<NodeId>) -> Self {
        Keepers(keepers)
    }

    /// By node.
    #[must_use]
    pub fn names(&self) -> &[NodeId] {
        &self.0
    }

    /// That of a node; of a number that no node has, nobody's.
    #[must_use]
    pub fn of(&self, node: NodeId) -> NodeId {
        self.0.get(node as usize).copied().unwrap_or(node)
    }

    /// Those whose keeper a node is.
    pub fn wards(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        (0..).zip(&self.0).filter(move |(_, keeper)| **keeper == node).map(|(ward, _)| ward)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keeper_is_on_another_host_if_there_is_one() {
        assert_eq!(Keepers::around(3).names(), [1, 2, 0]);
        let keepers = Keepers::on_hosts(&[0, 0, 1, 1]);
        assert_eq!(keepers.names(), [2, 2, 0, 0]);
        assert_eq!(keepers.wards(2).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(keepers.wards(3).count(), 0);
        assert_eq!(Keepers::on_hosts(&[5, 5]).names(), [1, 0], "on one host");
    }
}
