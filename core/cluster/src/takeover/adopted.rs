//! Nodes that another launcher has started, as the one has them that took its place: it is not told how they end, but that they do.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use tokio::io::unix::AsyncFd;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::{mpsc, oneshot};

use crate::children;
use crate::local::{Events, Watched, write};
use talisman_base::frame::Decoder;
use talisman_control::event::Event;
use talisman_control::exit_cause::How;
use talisman_control::protocol::ToNode;

/// All that are left, by their numbers.
pub struct Adopted {
    nodes: BTreeMap<u32, Connection>,
    /// The node of this process, which has ended when it says so.
    own: (u32, Option<oneshot::Receiver<()>>),
    /// Whether it was told to leave.
    leaves: Cell<bool>,
}

impl Adopted {
    /// With the number of the node of this process, and what tells that it has ended.
    pub(super) fn new(nodes: BTreeMap<u32, Connection>, own: u32, left: oneshot::Receiver<()>) -> Self {
        Adopted { nodes, own: (own, Some(left)), leaves: Cell::new(false) }
    }

    /// From now on what happens to them will be events.
    pub fn start(&mut self, events: &Events) {
        let (own, mut left) = (self.own.0, self.own.1.take());
        for (&number, connection) in &mut self.nodes {
            let Some((reader, decoder)) = connection.heard.take() else { continue };
            let process = connection.process.clone();
            let left = left.take_if(|_| number == own);
            let end = async move {
                match left {
                    Some(left) => drop(left.await),
                    None => drop(process.readable().await),
                }
            };
            let watched = Watched { number: Arc::new(AtomicU32::new(number)), events: events.clone() };
            tokio::spawn(watch(watched, reader, decoder, end));
        }
    }

    /// Says something to a node, in the order of the calls and without waiting.
    pub fn send(&self, node: u32, message: ToNode) {
        if let Some(connection) = self.nodes.get(&node) {
            let leaves = node == self.own.0 && message == ToNode::Leave;
            self.leaves.set(self.leaves.get() || leaves);
            connection.send(message);
        }
    }

    /// Kills a node; its end will be an event. If it is this process, the next one takes over; once that is only told to leave, it
    /// does, and still has to say how the job ended.
    pub fn kill(&self, node: u32) {
        if node == self.own.0 && self.leaves.get() {
            return;
        }
        if let Some(connection) = self.nodes.get(&node) {
            children::kill(connection.process.get_ref().as_fd());
        }
    }
}

/// The control connection of a node.
pub(super) struct Connection {
    orders: mpsc::UnboundedSender<ToNode>,
    /// Where its words come from, and what has come of them, until somebody listens.
    heard: Option<(OwnedReadHalf, Decoder)>,
    process: Arc<AsyncFd<OwnedFd>>,
}

impl Connection {
    pub(super) fn new(stream: UnixStream, process: AsyncFd<OwnedFd>, decoder: Decoder) -> Self {
        let (reader, writer) = stream.into_split();
        let (orders, queue) = mpsc::unbounded_channel();
        tokio::spawn(write(writer, queue));
        Connection { orders, heard: Some((reader, decoder)), process: Arc::new(process) }
    }

    pub(super) fn send(&self, message: ToNode) {
        let _ = self.orders.send(message);
    }
}

/// Hands on what a node says until it has ended.
async fn watch(watched: Watched, mut reader: OwnedReadHalf, mut decoder: Decoder, end: impl Future) {
    tokio::pin!(end);
    let has_ended = tokio::select! {
        () = watched.listen(&mut reader, &mut decoder) => false,
        _ = &mut end => true,
    };
    if !has_ended {
        end.await;
    }
    watched.read_rest(&reader, &mut decoder);
    watched.tell(Event::Ended(How::Vanished));
}
