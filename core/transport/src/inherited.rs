//! What the nodes of a host inherit from the process that starts them, for links that are not dialled
//! ([`Setup::Inherited`](talisman_base::transport::Setup)). Which transport these are of is known here alone.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use crate::Peer;
use crate::link::Link;
use crate::shm::{self, Mapping, Shape};
use talisman_sched::park::Parker;

/// Why there can be no such links.
pub use crate::shm::NoSegment as Unavailable;

/// Makes what so many nodes of a host, of so many PEs each, inherit.
///
/// # Errors
/// The system does not let it.
pub fn create(nodes: u32, pes: u32) -> Result<OwnedFd, Unavailable> {
    shm::create(Shape { nodes, pes })
}

/// The same as one of the nodes has it.
pub struct Inherited(Mapping);

impl Inherited {
    /// Takes what [`create`] made for the same numbers.
    ///
    /// # Errors
    /// It is something else, or cannot be used.
    pub fn open(descriptor: impl AsFd, nodes: u32, pes: u32) -> Result<Inherited, Unavailable> {
        Mapping::open(descriptor, Shape { nodes, pes }).map(Inherited)
    }

    /// The link between the `me`-th and the `other`-th of this host's nodes in lane `peer.lane`.
    ///
    /// `peer` is who the other is in the job; `receiver` is the parker of its PE of that rank.
    ///
    /// # Panics
    /// There is no such link, or it was made before.
    pub fn link(&self, me: u32, other: u32, peer: Peer, receiver: Arc<Parker>) -> Link {
        Link::through_memory(self.0.link(me, other, peer, receiver))
    }

    /// The sleeping place of the PE of rank `pe` on the `node`-th of this host's nodes, with the call that ends its
    /// sleep. Its owner and everyone who sends to it make one each.
    ///
    /// # Panics
    /// There is no such PE.
    pub fn parker(&self, node: u32, pe: u32, bell: impl Fn() + Send + Sync + 'static) -> Parker {
        self.0.parker(node, pe, bell)
    }
}
