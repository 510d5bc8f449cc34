//! The links of a node that logs: its only PE owns one to that of every other node. Unlike those of other jobs, one may come in another's
//! place while the PE runs, to another process of the same node.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use talisman_kernel::net::UNSENT_MAX;
use talisman_kernel::pe::input_log::Frame;
use talisman_transport::link::Link;
use talisman_transport::poller::Poller;
use talisman_transport::reconnect::Reconnect;
use talisman_transport::tcp::Stream;
use talisman_transport::{LinkError, Peer};

/// Frames taken from one link before looking at the next.
const BURST: usize = 256;

/// What a node's links are made of, on the thread that has them.
pub(crate) struct Parts {
    /// The PE that they are of.
    pub(crate) pe: u32,
    /// By node.
    pub(crate) links: BTreeMap<u32, Link>,
    pub(crate) poller: Poller,
    pub(crate) reconnect: Reconnect,
}

/// A node's links.
pub(super) struct Links {
    /// The PE that they are of.
    pe: u32,
    links: BTreeMap<u32, Link>,
    poller: Poller,
    reconnect: Reconnect,
    /// Links of which a poller may say nothing, though there is something to read.
    half_read: BTreeSet<u32>,
    /// Links with something to write.
    unflushed: BTreeSet<u32>,
    /// What is for processes that are not linked with this one yet.
    early: BTreeMap<u32, Vec<(u8, Frame)>>,
}

/// What has come over a link, by the node that has sent it: as [`Links::send`] was given it.
pub(super) struct Came {
    pub(super) from: u32,
    pub(super) kind: u8,
    pub(super) frame: Frame,
}

/// Nothing can be said or heard any more over the link with a node.
pub(super) struct Lost {
    pub(super) node: u32,
    pub(super) error: LinkError,
}

impl Links {
    /// # Errors
    /// What the system says when it is to watch their sockets.
    pub(super) fn new(Parts { pe, links, poller, reconnect }: Parts) -> io::Result<Self> {
        for (node, link) in &links {
            link.with_stream(|socket| poller.watch(socket, *node)).transpose()?;
        }
        // A connection may bring what arrived while it was made.
        let half_read = links.keys().copied().collect();
        let (unflushed, early) = (BTreeSet::new(), BTreeMap::new());
        Ok(Links { pe, links, poller, reconnect, half_read, unflushed, early })
    }

    /// Sends something of this kind to a node; what is for one whose process is not linked yet waits for that.
    pub(super) fn send(&mut self, to: u32, kind: u8, frame: Frame) {
        let Some(link) = self.links.get(&to) else {
            self.early.entry(to).or_default().push((kind, frame));
            return;
        };
        // To the only PE of that node; the kind stands behind all else.
        let mut head = frame.head.into_vec();
        head.push(kind);
        if link.send(0, &head, frame.segments) {
            self.unflushed.insert(to);
        }
    }

    /// Writes what goes now.
    pub(super) fn flush(&mut self) -> Option<Lost> {
        let mut lost = None;
        let links = &self.links;
        self.unflushed.retain(|node| {
            let Some(link) = links.get(node) else { return false };
            link.flush();
            lost = lost.take().or(link.error().map(|error| Lost { node: *node, error }));
            link.stays_listed()
        });
        lost
    }

    /// Whether so much waits for a link that no more is to be sent.
    pub(super) fn is_behind(&self) -> bool {
        self.links.values().any(|link| link.unsent() > UNSENT_MAX)
    }

    /// Takes what has come.
    pub(super) fn receive(&mut self, came: &mut Vec<Came>) -> Option<Lost> {
        self.take_connections();
        let mut ready = std::mem::take(&mut self.half_read);
        ready.extend(self.links.iter().filter(|(_, link)| link.has_work()).map(|(node, _)| *node));
        if self.links.values().any(Link::is_watched) {
            self.poller.ready(|node| _ = ready.insert(node));
        }
        ready.into_iter().filter_map(|node| self.receive_from(node, came)).last()
    }

    /// The same of one link.
    fn receive_from(&mut self, node: u32, came: &mut Vec<Came>) -> Option<Lost> {
        let link = self.links.get(&node)?;
        let received = link.receive(BURST, &mut |message| {
            // Nothing is of no kind that there is.
            let (kind, head) = message.head.split_last().unwrap_or((&u8::MAX, &[]));
            let frame = Frame { head: head.into(), segments: message.segments };
            came.push(Came { from: node, kind: *kind, frame });
        });
        if let Err(error) = received {
            return Some(Lost { node, error });
        }
        if link.is_newly_broken() {
            link.with_stream(|socket| self.poller.forget(socket, node));
            if !link.is_ended() {
                self.reconnect.ask(Peer { node, lane: 0 });
            }
        }
        if link.has_more() {
            self.half_read.insert(node);
        }
        None
    }

    /// All that has come from a node that is lost. Its link is no more.
    pub(super) fn read_out(&mut self, node: u32) -> Vec<Came> {
        let mut came = Vec::new();
        loop {
            let before = came.len();
            let lost = self.receive_from(node, &mut came);
            if lost.is_some() || came.len() == before {
                break;
            }
        }
        if let Some(link) = self.links.remove(&node) {
            link.with_stream(|socket| self.poller.forget(socket, node));
        }
        self.early.remove(&node);
        self.half_read.remove(&node);
        came
    }

    /// A node's new process is linked with this one.
    ///
    /// # Errors
    /// What the system says when it is to watch the connection.
    pub(super) fn join(&mut self, node: u32, stream: Stream) -> io::Result<()> {
        let link = Link::over(stream, Peer { node, lane: 0 });
        link.with_stream(|socket| self.poller.watch(socket, node)).transpose()?;
        self.links.insert(node, link);
        self.half_read.insert(node);
        for (kind, frame) in self.early.remove(&node).unwrap_or_default() {
            self.send(node, kind, frame);
        }
        Ok(())
    }

    /// Further connections for links that broke.
    fn take_connections(&mut self) {
        if !self.reconnect.is_notified() {
            return;
        }
        for (node, stream) in self.reconnect.take() {
            let Some(link) = self.links.get(&node) else { continue };
            link.with_stream(|socket| self.poller.forget(socket, node));
            link.replace(stream);
            // What is not watched breaks again, and is asked for anew.
            let _ = link.with_stream(|socket| self.poller.watch(socket, node));
            self.half_read.insert(node);
            self.unflushed.insert(node);
        }
    }

    /// Whether anything may have come, as far as memory shows.
    pub(super) fn has_work(&self) -> bool {
        !self.half_read.is_empty() || self.reconnect.is_notified() || self.links.values().any(Link::has_work)
    }

    /// Whether something waits for room in memory, of which nobody tells.
    pub(super) fn is_behind_in_memory(&self) -> bool {
        let is_memory = |node: &u32| self.links.get(node).is_some_and(|link| !link.is_watched());
        self.unflushed.iter().any(is_memory)
    }

    /// Tells the others how far this node has read, before it sleeps.
    pub(super) fn publish(&self) {
        self.links.values().for_each(Link::publish);
    }

    /// Sleeps until a connection is ready, the bell rings, or the time is over.
    pub(super) fn sleep(&self, timeout: Option<Duration>) {
        self.watch_room(true);
        self.poller.sleep(self.pe, timeout);
        self.watch_room(false);
    }

    fn watch_room(&self, room: bool) {
        for node in &self.unflushed {
            let link = self.links.get(node).filter(|link| link.waits_for_room());
            link.and_then(|link| link.with_stream(|socket| self.poller.watch_room(socket, *node, room)));
        }
    }

    /// Says that nothing follows.
    pub(super) fn goodbye(&self) {
        self.links.values().for_each(Link::goodbye);
    }
}
