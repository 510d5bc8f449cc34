//! A node put together: where its PEs sleep, and their links to the other nodes.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use super::cores;
use super::threads::Ready;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_job::job::Job;
use talisman_kernel::net::{Net, UNSENT_MAX};
use talisman_kernel::node::{Config, Node};
use talisman_sched::park::Parker;
use talisman_store::versions::Store;
use talisman_transport::Peer;
use talisman_transport::inherited::Inherited;
use talisman_transport::link::Link;
use talisman_transport::poller::{Bell, Poller};
use talisman_transport::reconnect::Reconnect;
use talisman_transport::tcp::Stream;

/// What the nodes of a host share, as one of them has it.
pub(super) struct Host {
    /// Nodes that have, or may have, processes.
    pub(super) shape: Shape,
    /// How many of them there are at the start.
    pub(super) begins_with: u32,
    /// The nodes of this host, in increasing order.
    pub(super) nodes: Vec<u32>,
    /// What wakes their PEs: those of the first of them first.
    pub(super) bells: Vec<Arc<Bell>>,
    /// By which nodes are linked that no connection links, if there are such.
    pub(super) inherited: Option<Inherited>,
}

/// Connections with PEs of other nodes, the near end being the PE of the same lane.
pub type Streams = BTreeMap<Peer, Stream>;

impl Host {
    /// A node of this host that has not lived yet.
    ///
    /// # Errors
    /// What the system says: too many descriptors.
    pub(super) fn node(
        &self,
        number: u32,
        config: Config,
        job: &Arc<Job>,
        streams: Streams,
        reconnect: impl Fn(u32) -> Reconnect,
    ) -> Result<Ready, Box<dyn Error>> {
        let nets = self.nets(number, streams, reconnect)?;
        self.ready(View::whole(self.shape), Arc::default(), number, config, job, nets)
    }

    /// The ways to the other nodes, by lane. A node without a stream is reached by what both inherit.
    ///
    /// # Errors
    /// What the system says: too many descriptors.
    pub(super) fn nets(
        &self,
        number: u32,
        mut streams: Streams,
        reconnect: impl Fn(u32) -> Reconnect,
    ) -> Result<Vec<Option<Net>>, Box<dyn Error>> {
        let mut net = |lane| {
            let links = self.links(number, lane, &mut streams)?;
            let poller = Poller::new(self.bell(number, lane)?)?;
            Ok(Some(Net::new(links, poller, reconnect(lane), UNSENT_MAX)?))
        };
        (0..self.shape.pes_per_node).map(&mut net).collect()
    }

    /// Those of a process that is not linked with anybody yet.
    ///
    /// # Errors
    /// What the system says: too many descriptors.
    pub(super) fn nets_without_links(
        &self,
        number: u32,
        reconnect: impl Fn(u32) -> Reconnect,
    ) -> Result<Vec<Option<Net>>, Box<dyn Error>> {
        let mut net = |lane| {
            let links = (0..self.shape.nodes).map(|_| None).collect();
            let poller = Poller::new(self.bell(number, lane)?)?;
            Ok(Some(Net::new(links, poller, reconnect(lane), UNSENT_MAX)?))
        };
        (0..self.shape.pes_per_node).map(&mut net).collect()
    }

    /// A node for one life on these ways, in which those of the view are there.
    ///
    /// # Errors
    /// None, if its PEs have bells.
    pub(super) fn ready(
        &self,
        view: View,
        store: Arc<Store>,
        number: u32,
        config: Config,
        job: &Arc<Job>,
        nets: Vec<Option<Net>>,
    ) -> Result<Ready, Box<dyn Error>> {
        let lanes = 0..self.shape.pes_per_node;
        let parkers = lanes.map(|lane| self.parker(number, lane)).collect::<Result<_, _>>()?;
        // There may be numbers from before that no process has.
        let shape = Shape { nodes: view.of_nodes().nodes(), ..self.shape };
        let view = Arc::new(view);
        let node = Node::sleeping_in_view(parkers, view, store, shape, number, config, job.clone());
        Ok(Ready { node, nets, cores: None })
    }

    /// Those of the PE of a lane, by node. A node without a stream is reached by what both inherit.
    ///
    /// # Errors
    /// There is neither a connection nor memory for one.
    pub(super) fn links(
        &self,
        number: u32,
        lane: u32,
        streams: &mut Streams,
    ) -> Result<Vec<Option<Link>>, Box<dyn Error>> {
        let mut link = |node: u32| {
            let peer = Peer { node, lane };
            match streams.remove(&peer) {
                // Nobody is linked with one that may come later.
                _ if node == number || node >= self.begins_with => Ok(None),
                Some(stream) => Ok(Some(Link::over(stream, peer))),
                None => self.inherited_link(number, peer).map(Some),
            }
        };
        (0..self.shape.nodes).map(&mut link).collect()
    }

    fn inherited_link(&self, number: u32, peer: Peer) -> Result<Link, Box<dyn Error>> {
        let inherited =
            self.inherited.as_ref().ok_or("there is neither a connection nor memory for a link")?;
        let parker = Arc::new(self.parker(peer.node, peer.lane)?);
        Ok(inherited.link(self.place(number)?, self.place(peer.node)?, peer, parker))
    }

    fn parker(&self, node: u32, lane: u32) -> Result<Parker, Box<dyn Error>> {
        let bell = self.bell(node, lane)?;
        let ring = move || bell.ring();
        Ok(match &self.inherited {
            Some(inherited) => inherited.parker(self.place(node)?, lane, ring),
            None => Parker::with_bell(ring),
        })
    }

    pub(super) fn bell(&self, node: u32, lane: u32) -> Result<Arc<Bell>, Box<dyn Error>> {
        let index = self.place(node)? * self.shape.pes_per_node + lane;
        Ok(self.bells.get(index as usize).ok_or("a PE of this host has no bell")?.clone())
    }

    /// The cores for the PEs of a node, if the job has all of them.
    pub(super) fn cores(&self, number: u32) -> Option<Vec<usize>> {
        let pes = self.shape.pes_per_node;
        let place = self.place(number).ok()?;
        cores::of_node(place * pes, pes, self.nodes.len() as u32 * pes)
    }

    /// Where a node stands among those of this host.
    fn place(&self, node: u32) -> Result<u32, Box<dyn Error>> {
        let place = self.nodes.iter().position(|here| *here == node);
        Ok(place.ok_or_else(|| format!("node {node} is on another host"))? as u32)
    }
}
