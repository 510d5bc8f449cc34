//! The way from a PE to the others.

mod arrivals;
mod outbox;
mod shelf;
mod slot;

pub use arrivals::take_in_message;
pub use outbox::{Outbox, Parcel, Sent};
pub use shelf::Shelf;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::entry_info::EntryInfo;
use crate::message::cell::Words;
use crate::message::envelope::Envelope;
use crate::message::service::{Service, ShortWords};
use crate::net::Net;
use crate::node::Node;
use crate::pe::Pe;
use crate::trace::Origin;
use crate::witness::{self, Why};
use arrivals::{take_in, take_in_told};
use slot::{RingWords, SMALL, by_pointer, from_words, into_words, short_words, small_words};
use talisman_base::ids::{ObjId, PeId};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_observe::stats::count;
use talisman_pup::{Lender, PutOff};
use talisman_sched::ring::{self, Consumer, Producer};

/// The way from a PE to the others: rings between the threads of a node and links to other nodes, or a simulated network.
#[allow(clippy::large_enum_variant, reason = "a PE has one")]
pub enum Port {
    /// To the other PEs of this process, and of others.
    Threads(Threads),
    /// Into a simulator's hands.
    Simulated(Outbox),
}

/// A ring to, and one from, every other PE of the node.
pub struct Threads {
    to: Vec<Option<OwnLines<RefCell<Link>>>>,
    from: RefCell<Vec<OwnLines<Source>>>,
    node: Arc<Node>,
    /// Words that found a ring full, over all links.
    spilled: Cell<usize>,
    /// What came while a sender waited for room.
    aside: RefCell<VecDeque<(PeId, RingWords)>>,
    /// To the other nodes, if there are any.
    pub net: Option<Net>,
}

/// Keeps what one PE writes at every message off the cache lines of the others: all ends are allocated together.
#[repr(align(128))]
struct OwnLines<T>(T);

/// What comes from one PE.
struct Source {
    rank: PeId,
    ring: Consumer<RingWords>,
}

impl Source {
    fn take_in(&mut self, pe: &Pe, at_once: bool) -> bool {
        let Source { rank, ring } = self;
        ring.drain(BURST, |words| take_in(pe, *rank, words, at_once)) > 0
    }
}

struct Link {
    ring: Producer<RingWords>,
    /// What found the ring full; nothing overtakes it.
    spill: VecDeque<RingWords>,
}

/// Slots taken from one ring before looking at the next: no PE is kept waiting by a busy neighbour.
const BURST: usize = 64;

impl Threads {
    /// The ends for all PEs of a node, each with its way to the other nodes.
    pub fn connect(node: &Arc<Node>, nets: Vec<Option<Net>>) -> Vec<Threads> {
        let pes = node.shape.pes_per_node as usize;
        let end = |net| Threads {
            to: (0..pes).map(|_| None).collect(),
            from: RefCell::default(),
            node: node.clone(),
            spilled: Cell::new(0),
            aside: RefCell::default(),
            net,
        };
        let mut ends: Vec<_> = nets.into_iter().map(end).collect();
        let capacity = ring_capacity(pes);
        for from in 0..pes {
            for to in (0..pes).filter(|to| *to != from) {
                let (producer, consumer) = ring::ring(capacity);
                let link = Link { ring: producer, spill: VecDeque::new() };
                ends[from].to[to] = Some(OwnLines(RefCell::new(link)));
                ends[to].from.get_mut().push(OwnLines(Source { rank: from as PeId, ring: consumer }));
            }
        }
        ends
    }

    /// Whether anything has arrived, or waits to be sent.
    pub fn has_work(&self) -> bool {
        self.has_arrivals() || !self.aside.borrow().is_empty() || self.net.as_ref().is_some_and(Net::has_work)
    }

    /// The same where the connections with other nodes are simulated, and can be asked too: whether anything would come of
    /// a turn.
    pub fn may_go_on(&self) -> bool {
        self.has_unsent() || self.has_work() || self.net.as_ref().is_some_and(Net::has_ready)
    }

    /// Whether anything would come of a round of waiting, which leaves alone what was put aside.
    pub fn may_wait_on(&self) -> bool {
        self.has_arrivals() || self.net.as_ref().is_some_and(|net| net.has_unread() || net.has_ready())
    }

    /// Whether anything has arrived from within the node.
    fn has_arrivals(&self) -> bool {
        self.from.borrow().iter().any(|OwnLines(source)| !source.ring.is_empty())
    }

    /// Whether the ring of another PE was full.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        self.spilled.get() > 0
    }

    /// Tells the senders how far this PE has read, before it sleeps.
    pub fn publish(&self) {
        self.from.borrow_mut().iter_mut().for_each(|OwnLines(source)| source.ring.publish());
        self.net.iter().for_each(Net::publish);
    }

    /// The rank of a PE of this node.
    #[inline(always)]
    fn rank(&self, pe: &Pe, id: PeId) -> Option<PeId> {
        let rank = id.wrapping_sub(pe.first_pe);
        ((rank as usize) < self.to.len()).then_some(rank)
    }

    #[inline(always)]
    fn put(&self, to: PeId, words: RingWords) {
        let link = self.to[to as usize].as_ref().expect("a PE has no ring to itself");
        let mut link = link.0.borrow_mut();
        if (link.spill.is_empty() || mutated("spill-overtaken")) && link.ring.try_push(words).is_ok() {
            drop(link);
            self.node.parkers[to as usize].unpark_if_parked();
        } else {
            if link.spill.is_empty() {
                sometimes("a ring between two PEs was full");
            }
            link.spill.push_back(words);
            self.spilled.set(self.spilled.get() + 1);
        }
    }

    /// Takes in what has come from the other PEs of the node; whether that was anything. Small messages run `at_once`, or
    /// are queued like the others.
    fn receive(&self, pe: &Pe, at_once: bool) -> bool {
        let mut any = !self.aside.borrow().is_empty() && self.take_aside(pe);
        for OwnLines(source) in self.from.borrow_mut().iter_mut() {
            any |= !source.ring.is_empty() && source.take_in(pe, at_once);
        }
        any
    }

    /// Takes in what was put aside; whether that was anything.
    fn take_aside(&self, pe: &Pe) -> bool {
        let mut any = false;
        while let Some((from, words)) = self.next_aside() {
            sometimes("a message from within the node was put aside while a sender waited");
            take_in(pe, from, &words, false);
            any = true;
        }
        any
    }

    fn next_aside(&self) -> Option<(PeId, RingWords)> {
        let mut aside = self.aside.borrow_mut();
        if mutated("aside-in-node-backwards") { aside.pop_back() } else { aside.pop_front() }
    }

    /// Tries again what found a ring full.
    #[inline]
    pub fn flush(&self) {
        if self.has_unsent() {
            self.flush_spilled();
        }
    }

    fn flush_spilled(&self) {
        for (to, link) in self.to.iter().enumerate() {
            let Some(mut link) = link.as_ref().map(|link| link.0.borrow_mut()) else { continue };
            let before = link.spill.len();
            while let Some(words) = link.spill.pop_front() {
                if let Err(words) = link.ring.try_push(words) {
                    link.spill.push_front(words);
                    break;
                }
            }
            let sent = before - link.spill.len();
            if sent > 0 {
                self.spilled.set(self.spilled.get() - sent);
                self.node.parkers[to].unpark_if_parked();
            }
        }
    }
}

/// Slots of each ring: fewer where there are many pairs, so that all rings of a node stay within 256 MiB.
fn ring_capacity(pes: usize) -> usize {
    const ALL: usize = (256 << 20) / 64;
    let each = (ALL / (pes * pes).max(1)).max(4);
    // The power of two at or below.
    ring::DEFAULT_CAPACITY.min(1 << each.ilog2())
}

impl Port {
    /// Sends a message to another PE.
    #[inline]
    pub fn send(&self, pe: &Pe, to: PeId, envelope: NonNull<Envelope>) {
        match self {
            Port::Threads(threads) => match (threads.rank(pe, to), &threads.net) {
                (Some(rank), _) => {
                    let mut envelope = envelope;
                    if !pe.input_log.is_off() {
                        let at = pe.clock_of_trace();
                        pe.trace_take(envelope);
                        let Some(told) = pe.note_sent_within(to, envelope) else { return };
                        envelope = told;
                        pe.trace_left(at, to, 0, true);
                    }
                    threads.put(rank, into_words(pe, envelope));
                }
                (None, Some(net)) => net.send(pe, to, envelope),
                (None, None) if pe.node.job.is_over() => pe.discard(envelope, Why::Over),
                (None, None) => unreachable!("PE {to} is in no node that this one can reach"),
            },
            Port::Simulated(outbox) => outbox.send(pe, to, envelope),
        }
    }

    /// The way to the other nodes, which outlives its PE. What the PE sends from now on, its job being over, goes nowhere.
    pub fn take_net(&mut self) -> Option<Net> {
        match self {
            Port::Threads(threads) => threads.net.take(),
            Port::Simulated(_) => None,
        }
    }

    /// Something is packed that is sent next: where what runs again is compared, it is noted whether it has bytes that nothing determines.
    pub fn begin_packing(&self) {
        if let Port::Simulated(outbox) = self {
            outbox.begin_packing();
        }
    }

    /// What is packed has such bytes.
    pub fn note_undetermined(&self) {
        if let Port::Simulated(outbox) = self {
            outbox.note_undetermined();
        }
    }

    /// Whether another node is a process of this host that is reached through memory.
    pub fn shares_memory_with(&self, node: u32) -> bool {
        let Port::Threads(Threads { net: Some(net), .. }) = self else { return false };
        net.shares_memory_with(node)
    }

    /// Whether much of what was sent to other nodes has been kept until now: a sender on this PE has waited for room on a
    /// link, or many large messages were written since this was last asked.
    #[inline]
    pub fn keeps_much(&self) -> bool {
        let Port::Threads(Threads { net: Some(net), .. }) = self else { return false };
        net.has_waited() || PutOff::has_many()
    }

    /// Sends a call to another PE without an envelope, and gives up its arguments: within the node by value if they are small, to others
    /// as bytes. `false` if it is to be sent otherwise.
    #[inline]
    pub fn send_call(
        &self,
        pe: &Pe,
        to: PeId,
        (object, entry): (ObjId, &'static EntryInfo),
        args: &mut Words,
    ) -> bool {
        if witness::is_present() {
            return false;
        }
        let threads = match self {
            Port::Threads(threads) => threads,
            Port::Simulated(outbox) => return outbox.send_call(pe, to, (object, entry), args),
        };
        let Some(rank) = threads.rank(pe, to) else {
            return threads.net.as_ref().is_some_and(|net| net.send_call(pe, to, (object, entry), args));
        };
        if entry.args.size as usize > SMALL * 8 {
            return false;
        }
        if !pe.input_log.is_off() {
            if pe.input_log.is_told() {
                return false;
            }
            pe.trace_leaves(to, None);
        }
        count(&pe.stats.between_pes, 1);
        threads.put(rank, small_words(object, entry, args));
        true
    }

    /// Sends a message of this service, which `words` gives, to another PE of the node by value. `false` if it is to be sent otherwise.
    #[inline]
    pub fn send_words(
        &self,
        pe: &Pe,
        to: PeId,
        service: Service,
        words: impl FnOnce() -> Option<ShortWords>,
    ) -> bool {
        let Port::Threads(threads) = self else { return false };
        if witness::is_present() || !pe.input_log.is_off() {
            return false;
        }
        let Some(rank) = threads.rank(pe, to) else { return false };
        let Some(words) = words() else { return false };
        threads.put(rank, short_words(service, words));
        true
    }

    /// The same to another node, with arguments that `lend` packs, up to their last bytes, `end`. They stay where they are.
    #[inline]
    pub fn send_lent<'a>(
        &self,
        pe: &Pe,
        to: PeId,
        call: (ObjId, &'static EntryInfo),
        lend: impl FnOnce(&mut Lender<'a>),
        end: &'a [u8],
    ) -> bool {
        let Port::Threads(threads) = self else { return false };
        if witness::is_present() || threads.rank(pe, to).is_some() {
            return false;
        }
        threads.net.as_ref().is_some_and(|net| net.send_lent(pe, to, call, lend, end))
    }

    /// Takes what arrived from the other PEs; whether that was anything. A small message may run at once, so user code
    /// runs in here.
    #[inline]
    pub fn receive(&self, pe: &Pe) -> bool {
        let Port::Threads(threads) = self else { return false };
        match &threads.net {
            None => threads.receive(pe, true),
            // Not run in here where it may wait for room on a link: the rings have to be emptied meanwhile.
            Some(net) => net.while_taking_in(|| threads.receive(pe, false)) | net.receive_and_run(pe),
        }
    }

    /// The same where other things go before messages: none runs.
    pub fn receive_only(&self, pe: &Pe) -> bool {
        let Port::Threads(threads) = self else { return false };
        match &threads.net {
            None => threads.receive(pe, false),
            Some(net) => net.while_taking_in(|| threads.receive(pe, false)) | net.receive(pe),
        }
    }

    /// Takes what arrived where it is told what is taken in, from the other PEs of the node too: packed, as that is what can be written down.
    /// Nothing runs in here.
    pub fn receive_told(&self, pe: &Pe) -> bool {
        let Port::Threads(threads) = self else { return false };
        let take_in = || {
            self.put_aside();
            let mut any = false;
            while let Some((from, words)) = threads.next_aside() {
                take_in_told(pe, from, &words);
                any = true;
            }
            any
        };
        match &threads.net {
            None => take_in(),
            Some(net) => net.while_taking_in(take_in) | net.receive(pe),
        }
    }

    /// A message from another node, for another PE of this one.
    pub fn pass_on(&self, pe: &Pe, rank: PeId, envelope: NonNull<Envelope>, origin: Option<Origin>) {
        let Port::Threads(threads) = self else { unreachable!("simulated messages go to their PE at once") };
        pe.trace_leaves(pe.first_pe + rank, origin);
        threads.put(rank, by_pointer(envelope));
    }

    /// Puts aside what has arrived from the other PEs of the node, while a sender waits and nothing can be taken in.
    pub fn put_aside(&self) -> bool {
        let Port::Threads(threads) = self else { return false };
        let mut rings = threads.from.borrow_mut();
        let mut aside = threads.aside.borrow_mut();
        let before = aside.len();
        for OwnLines(Source { rank, ring }) in rings.iter_mut() {
            ring.drain(BURST, |words| aside.push_back((*rank, *words)));
        }
        aside.len() > before
    }

    /// Whether the ring of another PE was full.
    pub fn has_unsent(&self) -> bool {
        matches!(self, Port::Threads(threads) if threads.has_unsent())
    }

    /// What could not be sent yet, and what arrived and was not taken, when its PE ends.
    pub fn take_unsent(&self, pe: &Pe) -> Vec<NonNull<Envelope>> {
        let threads = match self {
            Port::Threads(threads) => threads,
            Port::Simulated(outbox) => return outbox.take_messages(),
        };
        let mut all: Vec<RingWords> = Vec::new();
        for link in threads.to.iter().flatten() {
            all.extend(link.0.borrow_mut().spill.drain(..));
        }
        all.extend(threads.aside.borrow_mut().drain(..).map(|(_, words)| words));
        threads
            .from
            .borrow_mut()
            .iter_mut()
            .for_each(|OwnLines(Source { ring, .. })| while ring.drain(BURST, |w| all.push(*w)) > 0 {});
        all.iter().map(|words| from_words(pe, pe.id, words)).collect()
    }
}

/// Whether this is one of the messages with which something is done wrong: to lose or double all of them would be noticed
/// by anything.
#[inline(always)]
pub fn is_unlucky(pe: &Pe) -> bool {
    cfg!(feature = "mutations") && pe.stats.between_nodes.get() % UNLUCKY == UNLUCKY - 1
}

/// One in so many is; of a short run that is still a few.
const UNLUCKY: u64 = 16;
