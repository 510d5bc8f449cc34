//! All nodes of a job in this process, on real links: for tests, which then need no further processes.
//!
//! Everything but starting and watching processes is as in a job of several: each node has its own PEs, shared values
//! and links, and what passes between two of them is packed, written and read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::threads::Ready;
use crate::net::poller::{Bell, Poller};
use crate::net::{Door, Link, Net};
use crate::node::{Config, Job, Node, Shape};
use crate::scheduler::park::Parker;
use crate::transport::Peer;

/// The nodes of a job, linked.
pub(super) fn nodes(shape: Shape, config: Config, job: &Arc<Job>) -> std::io::Result<Vec<Ready>> {
    let bells: Vec<Arc<Bell>> =
        (0..shape.pes()).map(|_| Bell::new().map(Arc::new)).collect::<Result<_, _>>()?;
    let queues: Vec<Vec<Arc<Mutex<VecDeque<_>>>>> =
        (0..shape.pes()).map(|_| (0..shape.nodes).map(|_| Arc::default()).collect()).collect();
    let pe_of = |node: u32, lane: u32| (node * shape.pes_per_node + lane) as usize;
    let mut all = Vec::new();
    let mut nodes: Vec<Arc<Node>> = Vec::new();
    for number in 0..shape.nodes {
        let parkers = (0..shape.pes_per_node)
            .map(|lane| {
                let bell = bells[pe_of(number, lane)].clone();
                Parker::with_bell(move || bell.ring())
            })
            .collect();
        nodes.push(Node::sleeping_in(parkers, shape, number, config, job.clone()));
    }
    for number in 0..shape.nodes {
        let mut nets = Vec::new();
        for lane in 0..shape.pes_per_node {
            let link = |other: u32| {
                (other != number).then(|| {
                    let node = nodes[other as usize].clone();
                    Link::memory(
                        Peer { node: other, lane },
                        queues[pe_of(other, lane)][number as usize].clone(),
                        queues[pe_of(number, lane)][other as usize].clone(),
                        Arc::new(move || node.parkers[lane as usize].unpark_if_parked()),
                    )
                })
            };
            let links = (0..shape.nodes).map(link).collect();
            let poller = Poller::new(bells[pe_of(number, lane)].clone())?;
            nets.push(Some(Net::new(links, poller, Door::default())));
        }
        all.push(Ready { node: nodes[number as usize].clone(), nets });
    }
    Ok(all)
}
