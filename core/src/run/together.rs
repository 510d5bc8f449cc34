//! All nodes of a job in this process, on real links: for tests, which then need no further processes.
//!
//! Everything but starting and watching processes is as in a job of several: each node has its own PEs, shared values
//! and links, and what passes between two of them is packed, written and read.

use std::error::Error;
use std::sync::Arc;

use super::threads::Ready;
use crate::net::poller::{Bell, Poller};
use crate::net::{Door, Link, Net};
use crate::node::{Config, Job, Node, Shape};
use crate::scheduler::park::Parker;
use crate::transport::{Peer, shm};

/// The nodes of a job, linked.
///
/// # Errors
/// What the system says: too many descriptors, no memory.
pub(super) fn nodes(shape: Shape, config: Config, job: &Arc<Job>) -> Result<Vec<Ready>, Box<dyn Error>> {
    let bells = (0..shape.pes()).map(|_| Bell::new().map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
    let on_host = shm::Shape { nodes: shape.nodes, pes: shape.pes_per_node };
    let segment = shm::create(on_host)?;
    let host = |_| Ok(Host { shape, bells: &bells, memory: shm::Mapping::open(&segment, on_host)? });
    let hosts = (0..shape.nodes).map(host).collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    (0..).zip(&hosts).map(|(number, host)| host.ready(number, config, job)).collect()
}

/// What a node has of its host.
struct Host<'a> {
    shape: Shape,
    bells: &'a [Arc<Bell>],
    memory: shm::Mapping,
}

impl Host<'_> {
    fn ready(&self, number: u32, config: Config, job: &Arc<Job>) -> Result<Ready, Box<dyn Error>> {
        let lanes = 0..self.shape.pes_per_node;
        let parkers = lanes.clone().map(|lane| self.parker(number, lane)).collect();
        let node = Node::sleeping_in(parkers, self.shape, number, config, job.clone());
        let nets = lanes.map(|lane| Ok(Some(self.net(number, lane)?)));
        Ok(Ready { node, nets: nets.collect::<Result<_, Box<dyn Error>>>()? })
    }

    fn net(&self, number: u32, lane: u32) -> Result<Net, Box<dyn Error>> {
        let link = |other: u32| (other != number).then(|| self.link(number, Peer { node: other, lane }));
        let links = (0..self.shape.nodes).map(link).collect();
        let poller = Poller::new(self.bell(number, lane))?;
        Ok(Net::new(links, poller, Door::default()))
    }

    fn link(&self, number: u32, peer: Peer) -> Link {
        let parker = Arc::new(self.parker(peer.node, peer.lane));
        Link::through_memory(self.memory.link(number, peer.node, peer, parker))
    }

    fn parker(&self, node: u32, lane: u32) -> Parker {
        let bell = self.bell(node, lane);
        self.memory.parker(node, lane, move || bell.ring())
    }

    fn bell(&self, node: u32, lane: u32) -> Arc<Bell> {
        self.bells[(self.shape.first_pe(node) + lane) as usize].clone()
    }
}
