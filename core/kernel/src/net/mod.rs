//! A PE's way to the other nodes: its links, and what it sleeps on.
//!
//! A PE owns one link to every other node, to the PE of its own rank there (its *lane*). It writes and reads them itself:
//! no other thread is on a message's way. What is for another PE of this node it hands over like any message between
//! threads.
//!
//! Nothing here waits, but for one case: a sender that is far ahead of a link waits for room ([`Net::send`]), and
//! meanwhile puts aside what arrives, so that two of them never wait for each other.

mod epochs;
mod handing;
mod receiving;
mod sending;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use crate::pe::Pe;
use talisman_ft::Epoch;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::Segment;
use talisman_transport::link::Link;
use talisman_transport::poller::Poller;
use talisman_transport::reconnect::Reconnect;
use talisman_transport::{Incoming, LinkError, Peer};

/// Bytes that may wait for a link in real runs: whoever sends more waits for room.
pub const UNSENT_MAX: usize = 64 << 20;
/// Messages taken from one link before looking at the next.
const BURST: usize = 256;
/// With more sockets than this the next message comes more often on another than on the last one that was busy, so that
/// all are asked each time: 8 nodes on two cores take half as long for a barrier then.
const FEW_SOCKETS: usize = 2;

/// A PE's links.
pub struct Net {
    /// By the other node.
    links: Box<[Option<Link>]>,
    through_memory: Vec<u32>,
    sockets: Vec<u32>,
    poller: Poller,
    /// Bytes that may wait for a link.
    unsent_max: usize,
    /// The node whose socket last had something.
    hot: Cell<Option<u32>>,
    looks: Cell<u32>,
    /// Links that were not read to the end, so that their sockets may say nothing of what is left.
    half_read: RefCell<Vec<u32>>,
    /// Links with something to write.
    unflushed: RefCell<Vec<u32>>,
    /// Since when, in ticks.
    staged: Cell<u64>,
    /// The ticks for which messages written at once have been accounted.
    paid_until: Cell<u64>,
    /// What came while a sender waited.
    aside: RefCell<VecDeque<Aside>>,
    /// What this PE waits for in the midst of something.
    waiting: Cell<Option<Wait>>,
    /// A sender has waited since that was last asked.
    waited: Cell<bool>,
    /// What has come is being taken in. What is sent meanwhile, forwarded for the most part, does not wait: its link may
    /// be one of those that are being read.
    taking_in: Cell<bool>,
    /// Bytes that came since this PE last had no message to run.
    taken: Cell<usize>,
    /// The period between two failures that this PE is in.
    epoch: Epoch,
    /// A link is in another one, so that it has to be seen to what comes.
    sorts: Cell<bool>,
    /// What came of a later one.
    kept: RefCell<Vec<Aside>>,
    reconnect: Reconnect,
}

/// What a PE waits for where it stands.
#[derive(Clone, Copy)]
enum Wait {
    /// A sender, for room on the link with this node.
    Room(u32),
    /// A PE that is about to begin, for its part, which this node sends.
    Part(u32),
}

struct Aside {
    node: u32,
    rank: u16,
    head: Vec<u8>,
    segments: Vec<Segment>,
}

impl Aside {
    fn of(node: u32, Incoming { rank, head, segments }: Incoming<'_>) -> Self {
        Aside { node, rank, head: head.to_vec(), segments }
    }
}

impl Net {
    /// The links by node; a PE has none to its own. A sender waits while more than `unsent_max` bytes wait for its link.
    ///
    /// # Errors
    /// What the system says when it is to watch their sockets.
    pub fn new(
        links: Vec<Option<Link>>,
        poller: Poller,
        reconnect: Reconnect,
        unsent_max: usize,
    ) -> io::Result<Self> {
        let of = |is_watched: bool| {
            let numbered = (0..).zip(&links);
            let these = numbered
                .filter(|(_, link)| link.as_ref().is_some_and(|link| link.is_watched() == is_watched));
            these.map(|(node, _)| node).collect()
        };
        for (node, link) in (0..).zip(&links) {
            if let Some(link) = link {
                link.with_stream(|socket| poller.watch(socket, node)).transpose()?;
            }
        }
        let sockets: Vec<u32> = of(true);
        Ok(Net {
            through_memory: of(false),
            // A connection may bring what arrived while it was made.
            half_read: RefCell::new(sockets.clone()),
            sockets,
            links: links.into(),
            poller,
            unsent_max,
            hot: Cell::new(None),
            looks: Cell::new(0),
            unflushed: RefCell::default(),
            staged: Cell::new(0),
            paid_until: Cell::new(0),
            aside: RefCell::default(),
            waiting: Cell::new(None),
            waited: Cell::new(false),
            taking_in: Cell::new(false),
            taken: Cell::new(0),
            epoch: 0,
            sorts: Cell::new(false),
            kept: RefCell::default(),
            reconnect,
        })
    }

    /// Whether a simulated connection has something to read, or room for what waits.
    pub fn has_ready(&self) -> bool {
        let may_write = |node: &u32| self.links[*node as usize].as_ref().is_some_and(Link::may_write);
        self.poller.shows_ready() || self.unflushed.borrow().iter().any(may_write)
    }

    /// Whether there is a new connection, or a link was not read to the end.
    pub fn has_unread(&self) -> bool {
        self.reconnect.is_notified() || self.links.iter().flatten().any(Link::has_more)
    }

    /// The link to another node.
    #[inline]
    pub fn link(&self, node: u32) -> Option<&Link> {
        self.links.get(node as usize)?.as_ref()
    }

    /// Whether a node is reached through memory.
    pub fn shares_memory_with(&self, node: u32) -> bool {
        self.through_memory.contains(&node)
    }

    /// A connection broke: another one will come by `reconnect`, unless its node is gone, which others will say. That of a
    /// node which has nothing more to say is no more needed.
    #[cold]
    fn miss(&self, pe: &Pe, node: u32, link: &Link) {
        sometimes("a link lost its connection");
        link.with_stream(|socket| self.poller.forget(socket, node));
        self.hot.set(None);
        if link.is_ended() || mutated("break-not-told") {
            return;
        }
        self.reconnect.ask(Peer { node, lane: pe.id - pe.first_pe });
    }

    /// Takes in new connections, and what else the threads beside the PEs have to say.
    #[cold]
    fn take_connections(&self, pe: &Pe) {
        for asked in pe.node.job.take_asked() {
            pe.command(asked.into());
        }
        for (node, stream) in self.reconnect.take() {
            let Some(link) = self.links.get(node as usize).and_then(Option::as_ref) else { continue };
            link.with_stream(|socket| self.poller.forget(socket, node));
            link.replace(stream);
            let watched = match link.is_left_alone() {
                true => Ok(None),
                false => link.with_stream(|socket| self.poller.watch(socket, node)).transpose(),
            };
            if let Err(error) = watched {
                pe.node.job.end(1, Some(format!("the system watches no further connection: {error}")));
            }
            if !mutated("not-flushed-after-a-break") {
                self.flush_later(pe, node, link);
            }
            self.read_on_later(node);
        }
    }

    /// Nothing can be said or heard over this link any more.
    #[cold]
    fn give_up(&self, pe: &Pe, node: u32, error: &LinkError) {
        let Some(link) = self.links[node as usize].as_ref().filter(|link| !link.is_left_alone()) else {
            return;
        };
        sometimes("a link was given up");
        link.leave_alone(true);
        link.with_stream(|socket| self.poller.forget(socket, node));
        let why = format!("node {}: {error}", pe.node.number);
        if error.is_well_formed() {
            // Another process in place of that one would send the same.
            return pe.node.job.end(1, Some(why));
        }
        pe.node.job.lose(node, 1, why);
    }

    /// Whether some of it comes by sockets, which memory does not show.
    pub fn has_sockets(&self) -> bool {
        !self.sockets.is_empty()
    }

    /// Whether anything may have come through memory. Sockets are asked by [`Net::sleep`].
    pub fn has_work(&self) -> bool {
        let came = |node: &u32| self.links[*node as usize].as_ref().is_some_and(Link::has_work);
        self.through_memory.iter().any(came)
            || self.reconnect.is_notified()
            || !self.aside.borrow().is_empty()
            || !self.half_read.borrow().is_empty()
    }

    /// Tells the senders how far this PE has read, before it sleeps.
    pub fn publish(&self) {
        self.links.iter().flatten().for_each(Link::publish);
    }

    /// Sleeps until a socket is ready, the bell rings, or the time is over.
    pub fn sleep(&self, pe: &Pe, timeout: Option<Duration>) {
        let unsent = self.has_unsent();
        if unsent {
            self.watch_room(true);
        }
        self.poller.sleep(pe.id, timeout);
        if unsent {
            self.watch_room(false);
        }
        self.look_at_all();
    }

    /// Whichever socket it will be that has something, or was, the next look asks all of them.
    pub fn look_at_all(&self) {
        self.hot.set(None);
    }

    fn watch_room(&self, room: bool) {
        for node in self.unflushed.borrow().iter() {
            let link = self.links[*node as usize].as_ref().filter(|link| link.waits_for_room());
            link.and_then(|link| link.with_stream(|socket| self.poller.watch_room(socket, *node, room)));
        }
    }

    /// The job is over: says so to the other nodes, lest they miss this one.
    pub fn goodbye(&self) {
        self.links.iter().flatten().for_each(Link::goodbye);
    }

    /// Whether the socket that was busy last is likely to be the next as well.
    pub fn has_few_sockets(&self) -> bool {
        self.sockets.len() <= FEW_SOCKETS
    }

    pub fn is_on_sockets(&self) -> bool {
        !self.sockets.is_empty()
    }
}
