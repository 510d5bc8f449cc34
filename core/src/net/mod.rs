//! A PE's way to the other nodes: its links, and what it sleeps on.
//!
//! A PE owns one link to every other node, to the PE of its own rank there (its *lane*). It writes and reads them itself:
//! no other thread is on a message's way. What is for another PE of this node it hands over like any message between
//! threads.
//!
//! Nothing here waits, but for one case: a sender that is far ahead of a link waits for room ([`Net::send`]), and
//! meanwhile puts aside what arrives, so that two of them never wait for each other.

mod door;
mod epochs;
mod handing;
mod link;
mod nap;
pub(crate) mod poller;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::ptr::NonNull;
use std::time::Duration;

use talisman_ft::Epoch;

use crate::checkpoint::message::Why;
use crate::ids::PeId;
use crate::message::envelope::Envelope;
use crate::mutations::mutated;
use crate::pe::Pe;
use crate::port::is_unlucky;
use crate::pup::Segment;
use crate::sometimes::sometimes;
use crate::stats::count;
use crate::transport::{Incoming, LinkError, Peer, TO_LINK};
use crate::wire;
use crate::witness::{self, Seen};
pub(crate) use door::{Door, Inbox};
pub(crate) use link::Link;
pub(crate) use nap::{Killed, Napping, nap};
use poller::Poller;

/// Bytes that may wait for a link in real runs: whoever sends more waits for room.
pub(crate) const UNSENT_MAX: usize = 64 << 20;
/// A sender that waits for room looks so often before it sleeps, for some hundred microseconds.
const LOOKS_FOR_ROOM: u32 = 200;
/// What is staged goes out after so many ticks of the processor's clock, about 4 µs, even if the PE has more to do.
const STAGED_TICKS: u64 = 10_000;
/// So many messages in a row may be written each by itself, and then one in so many ticks, about 16 µs: a write takes a
/// tenth of that.
const WRITES_AT_ONCE: u64 = 8;
const TICKS_PER_WRITE: u64 = 40_000;
/// Messages taken from one link before looking at the next.
const BURST: usize = 256;
/// Messages in the queue of a PE from which on it takes in fewer than it runs.
const QUEUE_HIGH: usize = 1 << 16;
/// The same for bytes.
const TAKEN_HIGH: usize = 256 << 20;
/// The other sockets are looked at once in so many looks at the one that was last busy: `recv` on one costs 200 ns,
/// asking for all of them 145.
const HOT_LOOKS: u32 = 8;
/// With more sockets than this the next message comes more often on another than on the last one that was busy, so that
/// all are asked each time: 8 nodes on two cores take half as long for a barrier then.
const FEW_SOCKETS: usize = 2;
/// The same where there is shared memory too, whose look costs next to nothing.
const MEMORY_LOOKS: u32 = 32;

/// A PE's links.
pub(crate) struct Net {
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
    /// The node for whose link a sender waits.
    waiting: Cell<Option<u32>>,
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
    door: Door,
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
    pub(crate) fn new(
        links: Vec<Option<Link>>,
        poller: Poller,
        door: Door,
        unsent_max: usize,
    ) -> io::Result<Self> {
        let of = |on_socket: bool| {
            let numbered = (0..).zip(&links);
            let these = numbered
                .filter(|(_, link)| link.as_ref().is_some_and(|link| link.is_on_socket() == on_socket));
            these.map(|(node, _)| node).collect()
        };
        for (node, link) in (0..).zip(&links) {
            if let Some(link) = link {
                link.with_socket(|socket| poller.watch(socket, node)).transpose()?;
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
            door,
        })
    }

    /// Sends a message to a PE of another node. Waits if the link is far behind.
    pub(crate) fn send(&self, pe: &Pe, to: PeId, envelope: NonNull<Envelope>) {
        let node = pe.node.shape.node_of(to);
        let rank = (to - pe.node.shape.first_pe(node)) as u16;
        let Some(link) = &self.links[node as usize] else {
            unreachable!("a PE has a link to every other node that is there, and node {node} is not")
        };
        let left = wire::pack(pe, envelope, |head, segments| {
            let bytes = head.len() + segments.iter().map(|segment| segment.bytes().len()).sum::<usize>();
            count(&pe.stats.bytes_between_nodes, bytes as u64);
            if is_unlucky(pe) && mutated("message-lost") {
                return false;
            }
            if is_unlucky(pe) && segments.is_empty() && mutated("message-doubled") {
                link.send(rank, head, Vec::new());
            }
            link.send(rank, head, segments)
        });
        if left {
            if !(link.is_on_socket() && self.may_write_at_once(pe) && link.is_written()) {
                self.flush_later(pe, node, link);
            }
            // What is written counts too, until the peer has it.
            if link.unsent() > self.unsent_max && !mutated("no-bound-on-a-link") {
                self.wait_for_room(pe, node);
            }
            self.see_room(pe, link);
        }
    }

    /// A sender that could wait goes on: there is room again, unless the job is over.
    fn see_room(&self, pe: &Pe, link: &Link) {
        if !self.taking_in.get() && !self.is_waiting() && !pe.node.job.is_over() {
            witness::see(|| Seen::WentOn { pe: pe.id, unsent: link.unsent(), most: self.unsent_max });
        }
    }

    /// Whether a message to a socket is written by itself, which costs a system call, rather than with others at the end
    /// of the entry. An entry may send first and then compute: what it sent must not wait for that. So some are
    /// written at once, and the more the longer none was.
    fn may_write_at_once(&self, pe: &Pe) -> bool {
        let now = pe.clock.ticks();
        let paid = self.paid_until.get().max(now);
        let may = paid - now < WRITES_AT_ONCE * TICKS_PER_WRITE;
        if may {
            self.paid_until.set(paid + TICKS_PER_WRITE);
        }
        may
    }

    fn flush_later(&self, pe: &Pe, node: u32, link: &Link) {
        if link.list() {
            let mut unflushed = self.unflushed.borrow_mut();
            if unflushed.is_empty() {
                self.staged.set(pe.clock.ticks());
            }
            unflushed.push(node);
        }
    }

    /// A sender stays here until the link has room again, or the job is over.
    #[cold]
    fn wait_for_room(&self, pe: &Pe, node: u32) {
        if self.taking_in.get() || self.is_waiting() {
            return sometimes("a link was far behind where its sender could not wait");
        }
        sometimes("a sender waited for room on a link");
        self.waiting.set(Some(node));
        let mut in_vain = 0;
        while !self.is_wait_over(pe) {
            in_vain = if self.wait_round(pe) { 0 } else { in_vain + 1 };
            match in_vain {
                0 => {}
                // A peer that reads makes room within microseconds, and to be woken takes tens of them.
                1..LOOKS_FOR_ROOM if self.poller.is_of_system() => std::thread::yield_now(),
                _ => {
                    self.watch_room(true);
                    self.poller.sleep(pe.id, Some(Duration::from_millis(1)));
                    self.watch_room(false);
                }
            }
        }
        if pe.node.job.is_over() {
            sometimes("the job was over while a sender waited for room");
        }
        self.waiting.set(None);
        self.waited.set(true);
    }

    /// What a sender that waits does again and again; whether that was anything. No message runs in here.
    pub(crate) fn wait_round(&self, pe: &Pe) -> bool {
        let flushed = self.flush(pe);
        if self.door.has_knock() {
            sometimes("a connection came while a sender waited for room");
            self.let_in(pe);
        }
        flushed | self.put_aside(pe) | pe.port.put_aside()
    }

    /// Whether a sender waits for room right now.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.get().is_some()
    }

    /// Whether it need not any longer.
    pub(crate) fn is_wait_over(&self, pe: &Pe) -> bool {
        let link = self.waiting.get().and_then(|node| self.links[node as usize].as_ref());
        pe.node.job.is_over() || link.is_none_or(|link| link.unsent() <= self.unsent_max / 2)
    }

    /// Whether a sender has waited for room since this was last asked.
    #[inline]
    pub(crate) fn has_waited(&self) -> bool {
        self.waited.get() && self.waited.replace(false)
    }

    fn put_aside(&self, pe: &Pe) -> bool {
        let mut taken = false;
        for (node, link) in (0..).zip(&self.links) {
            let Some(link) = link else { continue };
            let mut keep = |message: Incoming<'_>| {
                let is_due = !self.sorts.get() && message.rank != TO_LINK;
                let message = if is_due { Some(message) } else { self.of_this_epoch(node, message) };
                self.aside.borrow_mut().extend(message.map(|message| Aside::of(node, message)));
            };
            match link.receive(BURST, &mut keep) {
                Ok(messages) => {
                    taken |= messages > 0;
                    if link.is_newly_broken() {
                        self.miss(pe, node, link);
                    }
                }
                Err(error) => self.give_up(pe, node, &error),
            }
            if self.sorts.get() {
                self.see_left_alone(node, link);
            }
            if link.has_more() {
                self.read_on_later(node);
            }
        }
        taken
    }

    /// Whether something is staged for so long that it should not wait for the end of a batch.
    #[inline(always)]
    pub(crate) fn is_flush_due(&self, pe: &Pe) -> bool {
        self.staged.get() != 0 && pe.clock.ticks().wrapping_sub(self.staged.get()) > STAGED_TICKS
    }

    /// Writes what goes now; whether anything was written.
    pub(crate) fn flush(&self, pe: &Pe) -> bool {
        let (mut written, mut error) = (false, None);
        self.unflushed.borrow_mut().retain(|node| {
            let Some(link) = &self.links[*node as usize] else { return false };
            written |= link.flush();
            error = error.take().or(link.error().map(|error| (*node, error)));
            link.stays_listed() && !mutated("rest-not-flushed")
        });
        self.staged.set(0);
        error.iter().for_each(|(node, error)| self.give_up(pe, *node, error));
        written
    }

    /// Whether a simulated connection has something to read, or room for what waits.
    pub(crate) fn has_ready(&self) -> bool {
        let may_write = |node: &u32| self.links[*node as usize].as_ref().is_some_and(Link::may_write);
        self.poller.shows_ready() || self.unflushed.borrow().iter().any(may_write)
    }

    /// Whether there is a new connection, or a link was not read to the end.
    pub(crate) fn has_unread(&self) -> bool {
        self.door.has_knock() || self.links.iter().flatten().any(Link::has_more)
    }

    /// Whether something could not be written yet.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.unflushed.borrow().is_empty()
    }

    /// Whether a node is reached through memory.
    pub(crate) fn shares_memory_with(&self, node: u32) -> bool {
        self.through_memory.contains(&node)
    }

    /// The same through memory, where nobody tells when there is room.
    pub(crate) fn is_behind_in_memory(&self) -> bool {
        let is_memory =
            |node: &u32| self.links[*node as usize].as_ref().is_some_and(|link| !link.is_on_socket());
        self.unflushed.borrow().iter().any(is_memory)
    }

    /// Runs `f`, which takes in what has come: whatever it sends does not wait.
    pub(crate) fn while_taking_in(&self, f: impl FnOnce() -> bool) -> bool {
        self.taking_in.set(true);
        let any = f();
        self.taking_in.set(false);
        any
    }

    /// Takes in what has come for the PEs of this node; whether that was anything. No user code runs in here.
    pub(crate) fn receive(&self, pe: &Pe) -> bool {
        self.while_taking_in(|| self.receive_from_all(pe))
    }

    fn receive_from_all(&self, pe: &Pe) -> bool {
        if self.door.has_knock() {
            self.let_in(pe);
        }
        let mut any = !mutated("aside-after-what-is-new") && self.take_aside(pe);
        let budget = self.budget(pe);
        for node in &self.through_memory {
            any |= self.receive_from(pe, *node, budget);
        }
        if !self.sockets.is_empty() {
            any |= self.receive_from_sockets(pe, any, budget);
        }
        if mutated("aside-after-what-is-new") {
            any |= self.take_aside(pe);
        }
        any
    }

    fn receive_from_sockets(&self, pe: &Pe, busy: bool, budget: usize) -> bool {
        let looks = self.looks.get().wrapping_add(1);
        self.looks.set(looks);
        let half_read = self.receive_from_half_read(pe, budget);
        let every = if self.through_memory.is_empty() { HOT_LOOKS } else { MEMORY_LOOKS };
        let hot = self.hot.get().filter(|_| self.has_few_sockets() && !looks.is_multiple_of(every));
        half_read
            | match hot {
                Some(node) if self.through_memory.is_empty() => self.receive_from(pe, node, budget),
                None => self.receive_from_ready(pe, budget),
                Some(_) if busy => self.receive_from_ready(pe, budget),
                Some(_) => false,
            }
    }

    #[inline]
    fn receive_from_half_read(&self, pe: &Pe, budget: usize) -> bool {
        if self.half_read.borrow().is_empty() {
            return false;
        }
        let nodes = self.half_read.take();
        nodes.into_iter().fold(false, |any, node| any | self.receive_from(pe, node, budget))
    }

    fn receive_from_ready(&self, pe: &Pe, budget: usize) -> bool {
        let mut any = false;
        self.poller.ready(|node| {
            if self.receive_from(pe, node, budget) {
                self.hot.set(Some(node));
                any = true;
            }
        });
        any
    }

    #[inline]
    fn receive_from(&self, pe: &Pe, node: u32, budget: usize) -> bool {
        let Some(link) = &self.links[node as usize] else { return false };
        let mut swaps = mutated("messages-swapped");
        let received = link.receive(budget, &mut |message| {
            match std::mem::take(&mut swaps) {
                // To be overtaken by those behind it, which is a mistake.
                true => self.aside.borrow_mut().push_back(Aside::of(node, message)),
                false if self.sorts.get() => {
                    let message = self.of_this_epoch(node, message);
                    message.into_iter().for_each(|message| self.take_in(pe, node, message));
                }
                false => self.take_in(pe, node, message),
            }
        });
        match received {
            Ok(messages) => {
                if link.is_newly_broken() {
                    self.miss(pe, node, link);
                }
                if self.sorts.get() {
                    self.see_left_alone(node, link);
                }
                if link.has_more() && !mutated("half-read-forgotten") {
                    self.read_on_later(node);
                }
                messages > 0
            }
            Err(error) => {
                self.give_up(pe, node, &error);
                false
            }
        }
    }

    fn read_on_later(&self, node: u32) {
        let mut half_read = self.half_read.borrow_mut();
        if !half_read.contains(&node) {
            half_read.push(node);
        }
    }

    /// A connection broke: another one will come in by the door, unless its node is gone, which others will say. That of a
    /// node which has nothing more to say is no more needed.
    #[cold]
    fn miss(&self, pe: &Pe, node: u32, link: &Link) {
        sometimes("a link lost its connection");
        link.with_socket(|socket| self.poller.forget(socket, node));
        self.hot.set(None);
        if link.is_ended() || mutated("break-not-told") {
            return;
        }
        self.door.ask(Peer { node, lane: pe.id - pe.first_pe });
    }

    /// Takes in new connections, and what else the threads beside the PEs have to say.
    #[cold]
    fn let_in(&self, pe: &Pe) {
        (0..pe.node.job.take_asked()).for_each(|_| pe.want_checkpoint(Why::Asked, None));
        for (node, stream) in self.door.let_in() {
            let Some(link) = self.links.get(node as usize).and_then(Option::as_ref) else { continue };
            link.with_socket(|socket| self.poller.forget(socket, node));
            link.replace(stream);
            let watched = match link.is_left_alone() {
                true => Ok(None),
                false => link.with_socket(|socket| self.poller.watch(socket, node)).transpose(),
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
        link.with_socket(|socket| self.poller.forget(socket, node));
        pe.node.job.lose(node, 1, format!("node {}: {error}", pe.node.number));
    }

    fn take_aside(&self, pe: &Pe) -> bool {
        let mut any = false;
        while let Some(Aside { node, rank, head, segments }) = self.next_aside() {
            sometimes("a message from another node was put aside while a sender waited");
            self.take_in(pe, node, Incoming { rank, head: &head, segments });
            any = true;
        }
        any
    }

    fn next_aside(&self) -> Option<Aside> {
        let mut aside = self.aside.borrow_mut();
        if mutated("aside-lost") && aside.len() > 1 {
            aside.pop_front();
        }
        if mutated("aside-backwards") { aside.pop_back() } else { aside.pop_front() }
    }

    /// Whether anything may have come through memory. Sockets are asked by [`Net::sleep`].
    pub(crate) fn has_work(&self) -> bool {
        let came = |node: &u32| self.links[*node as usize].as_ref().is_some_and(Link::has_work);
        self.through_memory.iter().any(came)
            || self.door.has_knock()
            || !self.aside.borrow().is_empty()
            || !self.half_read.borrow().is_empty()
    }

    /// Tells the senders how far this PE has read, before it sleeps.
    pub(crate) fn publish(&self) {
        self.links.iter().flatten().for_each(Link::publish);
    }

    /// Sleeps until a socket is ready, the bell rings, or the time is over.
    pub(crate) fn sleep(&self, pe: &Pe, timeout: Option<Duration>) {
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
    pub(crate) fn look_at_all(&self) {
        self.hot.set(None);
    }

    fn watch_room(&self, room: bool) {
        for node in self.unflushed.borrow().iter() {
            let link = self.links[*node as usize].as_ref().filter(|link| link.waits_for_room());
            link.and_then(|link| link.with_socket(|socket| self.poller.watch_room(socket, *node, room)));
        }
    }

    /// The job is over: says so to the other nodes, lest they miss this one.
    pub(crate) fn goodbye(&self) {
        self.links.iter().flatten().for_each(Link::goodbye);
    }

    /// Whether the socket that was busy last is likely to be the next as well.
    pub(crate) fn has_few_sockets(&self) -> bool {
        self.sockets.len() <= FEW_SOCKETS
    }

    pub(crate) fn is_on_sockets(&self) -> bool {
        !self.sockets.is_empty()
    }

    /// How many messages are taken from a link at once: fewer than this PE runs meanwhile if much waits here, so that its
    /// senders wait in turn. Never none: what waits may be waiting for what comes.
    fn budget(&self, pe: &Pe) -> usize {
        if pe.waiting_messages() == 0 {
            self.taken.set(0);
        }
        match () {
            () if self.taken.get() > TAKEN_HIGH => fewer(1),
            () if pe.waiting_messages() > QUEUE_HIGH => fewer(BURST / 16),
            () => BURST,
        }
    }

    /// Hands a message to its PE.
    fn take_in(&self, pe: &Pe, from_node: u32, Incoming { rank, head, segments }: Incoming<'_>) {
        let bytes = head.len() + segments.iter().map(|segment| segment.bytes().len()).sum::<usize>();
        self.taken.set(self.taken.get() + bytes);
        let (rank, own) = (PeId::from(rank), pe.id - pe.first_pe);
        let message = match rank {
            _ if rank == own => wire::receive(pe, head, segments).map_err(|error| error.to_string()),
            _ if rank < pe.node.shape.pes_per_node => {
                wire::read(pe, head, segments).map_err(|error| error.to_string())
            }
            _ if rank == PeId::from(TO_LINK) => return self.on_marker(from_node, head),
            _ => Err(format!("it is for PE {rank} of {}", pe.node.shape.pes_per_node)),
        };
        match message {
            Ok(envelope) if rank == own => pe.accept(envelope),
            Ok(envelope) => pe.port.pass_on(rank, envelope),
            Err(error) => {
                let number = pe.node.number;
                let message =
                    format!("node {number}: a message from node {from_node} cannot be read: {error}");
                pe.node.job.end(1, Some(message));
            }
        }
    }
}

#[cold]
fn fewer(messages: usize) -> usize {
    sometimes("a PE took in less than it ran, for it had much");
    messages
}
