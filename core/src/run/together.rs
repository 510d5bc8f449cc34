//! All nodes of a job in this process, on real links: for tests, which then need no further processes.
//!
//! Everything but starting and watching processes is as in a job of several: each node has its own PEs, shared values
//! and links, and what passes between two of them is packed, written and read.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

use super::threads::Ready;
use crate::launch::options::Transport;
use crate::net::poller::{Bell, Poller};
use crate::net::{Door, Link, Net};
use crate::node::{Config, Job, Node, Shape};
use crate::scheduler::park::Parker;
use crate::transport::{Peer, shm, tcp};

/// The nodes of a job, linked.
///
/// # Errors
/// What the system says: too many descriptors, no memory.
pub(super) fn nodes(
    shape: Shape,
    transport: Transport,
    config: Config,
    job: &Arc<Job>,
) -> Result<Vec<Ready>, Box<dyn Error>> {
    let bells = (0..shape.pes()).map(|_| Bell::new().map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
    let on_host = shm::Shape { nodes: shape.nodes, pes: shape.pes_per_node };
    let segment = shm::create(on_host)?;
    let mut streams = connect(shape, transport)?;
    let numbered = (0..shape.nodes).map(|number| {
        let memory = shm::Mapping::open(&segment, on_host)?;
        Host { shape, bells: &bells, memory, streams: streams.split_off_node(number) }
            .ready(number, config, job)
    });
    numbered.collect()
}

/// Connections by the PE that has one end, and the node where the other is.
#[derive(Default)]
struct Streams(BTreeMap<(u32, u32, u32), tcp::Stream>);

impl Streams {
    /// Those that begin at this node.
    fn split_off_node(&mut self, node: u32) -> Streams {
        let rest = self.0.split_off(&(node + 1, 0, 0));
        Streams(std::mem::replace(&mut self.0, rest))
    }
}

fn connect(shape: Shape, transport: Transport) -> io::Result<Streams> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut streams = Streams::default();
    for one in 0..shape.nodes {
        for other in (one + 1..shape.nodes).filter(|other| !transport.is_memory(one, *other)) {
            for lane in 0..shape.pes_per_node {
                let near = TcpStream::connect(listener.local_addr()?)?;
                let (far, _) = listener.accept()?;
                streams.0.insert((one, other, lane), tcp::Stream::plain(near.into())?);
                streams.0.insert((other, one, lane), tcp::Stream::plain(far.into())?);
            }
        }
    }
    Ok(streams)
}

/// What a node has of its host.
struct Host<'a> {
    shape: Shape,
    bells: &'a [Arc<Bell>],
    memory: shm::Mapping,
    streams: Streams,
}

impl Host<'_> {
    fn ready(mut self, number: u32, config: Config, job: &Arc<Job>) -> Result<Ready, Box<dyn Error>> {
        let lanes = 0..self.shape.pes_per_node;
        let parkers = lanes.clone().map(|lane| self.parker(number, lane)).collect();
        let node = Node::sleeping_in(parkers, self.shape, number, config, job.clone());
        let nets = lanes.map(|lane| Ok(Some(self.net(number, lane)?)));
        Ok(Ready { node, nets: nets.collect::<Result<_, Box<dyn Error>>>()? })
    }

    fn net(&mut self, number: u32, lane: u32) -> Result<Net, Box<dyn Error>> {
        let nodes = 0..self.shape.nodes;
        let mut link = |other: u32| (other != number).then(|| self.link(number, Peer { node: other, lane }));
        let links = nodes.map(&mut link).collect();
        let poller = Poller::new(self.bell(number, lane))?;
        Ok(Net::new(links, poller, Door::closed())?)
    }

    fn link(&mut self, number: u32, peer: Peer) -> Link {
        if let Some(stream) = self.streams.0.remove(&(number, peer.node, peer.lane)) {
            return Link::over_tcp(tcp::pair(stream, peer));
        }
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
