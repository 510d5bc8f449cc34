//! All nodes of a job in this process, on real links: for tests, which then need no further processes.
//!
//! Everything but starting and watching processes is as in a job of several: each node has its own PEs, shared values
//! and links, and what passes between two of them is packed, written and read.

use std::error::Error;
use std::io;
use std::sync::Arc;

use super::linking::{Host, Streams};
use super::threads::Ready;
use talisman_base::topology::Shape;
use talisman_job::job::Job;
use talisman_job::options::TransportChoice;
use talisman_kernel::node::Config;
use talisman_transport::inherited::Inherited;
use talisman_transport::poller::Bell;
use talisman_transport::reconnect::Reconnect;
use talisman_transport::tcp::Stream;
use talisman_transport::{Peer, connector, inherited};

/// The nodes of a job, linked.
///
/// # Errors
/// What the system says: too many descriptors, no memory.
pub(super) fn nodes(
    shape: Shape,
    transport: TransportChoice,
    config: Config,
    job: &Arc<Job>,
) -> Result<Vec<Ready>, Box<dyn Error>> {
    let hosts = hosts(shape, transport)?;
    let node = |(host, number, streams): (Host, u32, Streams)| {
        host.node(number, config.clone(), job, streams, |_| Reconnect::never())
    };
    hosts.into_iter().map(node).collect()
}

/// What a node has of its host, its number, and its connections.
pub(super) type Placed = (Host, u32, Streams);

/// That of all nodes.
pub(super) fn hosts(shape: Shape, transport: TransportChoice) -> Result<Vec<Placed>, Box<dyn Error>> {
    let bells = (0..shape.pes()).map(|_| Bell::new().map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
    let (nodes, pes) = (shape.nodes, shape.pes_per_node);
    let descriptor = inherited::create(nodes, pes)?;
    let node = |(number, streams)| {
        let inherited = Some(Inherited::open(&descriptor, nodes, pes)?);
        let host = Host {
            shape,
            begins_with: shape.nodes,
            nodes: (0..shape.nodes).collect(),
            bells: bells.clone(),
            inherited,
        };
        Ok((host, number, streams))
    };
    (0..).zip(connect(shape, transport)?).map(node).collect()
}

/// The connections of each node.
fn connect(shape: Shape, transport: TransportChoice) -> io::Result<Vec<Streams>> {
    let mut streams: Vec<Streams> = (0..shape.nodes).map(|_| Streams::new()).collect();
    for one in 0..shape.nodes {
        for other in (one + 1..shape.nodes).filter(|other| transport.between(one, *other).is_dialled()) {
            for lane in 0..shape.pes_per_node {
                let [near, far] = connector::pair(transport.between(one, other))?;
                let mut keep = |at: u32, node, stream: Stream| {
                    streams[at as usize].insert(Peer { node, lane }, stream);
                };
                keep(one, other, near);
                keep(other, one, far);
            }
        }
    }
    Ok(streams)
}
