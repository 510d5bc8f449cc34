//! The incarnation of each peer, and connections accepted before we were told of it.
//!
//! A node whose process is replaced, or that is added, is another process from then on. All others are linked with it when they are told how
//! they go on, not before: a connection that comes earlier waits until then.

use std::collections::BTreeMap;

use super::linking::Streams;
use talisman_control::protocol::{PeerInLife, Place, Task};
use talisman_observe::sometimes::sometimes;
use talisman_transport::Peer;
use talisman_transport::tcp;

/// What one process has of that.
#[derive(Default)]
pub struct PeerIncarnations {
    /// By node: see [`Task::life`].
    lives: Vec<Option<u64>>,
    /// With their lives.
    early: BTreeMap<Peer, (u64, tcp::Stream)>,
}

impl PeerIncarnations {
    /// Of a process that knows its task, and has met all others if it was there from the start.
    pub fn new(task: &Task) -> Self {
        PeerIncarnations {
            lives: vec![(task.life == 0).then_some(0); task.nodes as usize],
            early: BTreeMap::new(),
        }
    }

    /// Whether this is the process that it is linked with, or was.
    pub fn is(&self, node: u32, life: u64) -> bool {
        self.lives.get(node as usize) == Some(&Some(life))
    }

    /// Those that are other processes than before.
    pub fn new_ones(&self, places: &[Place]) -> Vec<Place> {
        let is_new =
            |place: &&Place| (place.node as usize) < self.lives.len() && !self.is(place.node, place.life);
        places.iter().filter(is_new).copied().collect()
    }

    /// Keeps a connection. Of two processes of a node the later one counts.
    pub fn keep(&mut self, peer: Peer, life: u64, stream: tcp::Stream) {
        sometimes("a connection came with a process that was yet to be met");
        if self.early.get(&peer).is_none_or(|(before, _)| *before <= life) {
            self.early.insert(peer, (life, stream));
        }
    }

    /// Whether there are connections with all these.
    pub fn have_come(&self, peers: &[PeerInLife]) -> bool {
        peers.iter().all(|(peer, life)| self.early.get(peer).is_some_and(|(of, _)| of == life))
    }

    /// It is linked with these from now on: by which connections.
    pub fn meet(&mut self, peers: &[PeerInLife]) -> Streams {
        peers.iter().for_each(|(peer, life)| self.lives[peer.node as usize] = Some(*life));
        peers.iter().filter_map(|(peer, _)| Some((*peer, self.early.remove(peer)?.1))).collect()
    }
}
