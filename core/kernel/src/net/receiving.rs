//! What has come from other nodes: taken in a burst at a time, and handed to its PE.

use std::mem::MaybeUninit;

use super::{Aside, BURST, Net};
use crate::message::cell::WORDS;
use crate::message::envelope::Body;
use crate::pe::Pe;
use crate::pe::in_place::Heard;
use crate::wire;
use talisman_base::ids::PeId;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_transport::link::Link;
use talisman_transport::{Arrived, Incoming, LinkError, TO_LINK};

/// Messages in the queue of a PE from which on it takes in fewer than it runs.
const QUEUE_HIGH: usize = 1 << 16;
/// The same for bytes.
const TAKEN_HIGH: usize = 256 << 20;
/// The other sockets are looked at once in so many looks at the one that was last busy: `recv` on one costs 200 ns,
/// asking for all of them 145.
const HOT_LOOKS: u32 = 8;
/// The same where there is shared memory too, whose look costs next to nothing.
const MEMORY_LOOKS: u32 = 32;

impl Net {
    /// Runs `f`, which takes in what has come: whatever it sends does not wait.
    #[inline]
    pub fn while_taking_in(&self, f: impl FnOnce() -> bool) -> bool {
        self.taking_in.set(true);
        let any = f();
        self.taking_in.set(false);
        any
    }

    /// Takes in what has come for the PEs of this node; whether that was anything. No user code runs in here.
    pub fn receive(&self, pe: &Pe) -> bool {
        self.while_taking_in(|| self.receive_from_all(pe))
    }

    /// The same, but the first message that has come through memory runs at once if nothing waits before it.
    pub fn receive_and_run(&self, pe: &Pe) -> bool {
        let any = self.run_first(pe);
        // Takes in first what was put aside while what has run waited for room.
        self.receive(pe) | any
    }

    /// Takes the first message that has come through memory, and runs it if nothing waits before it and its object is here; whether one
    /// had come.
    fn run_first(&self, pe: &Pe) -> bool {
        if !pe.may_run_at_once() || self.has_others_first() {
            return false;
        }
        let Some(node) = self.first_in_memory() else { return false };
        let Some(link) = &self.links[node as usize] else { return false };
        let mut words = [const { MaybeUninit::uninit() }; WORDS];
        let mut called = None;
        let any = self.while_taking_in(|| {
            let mut take = |message: &Arrived<'_>| {
                called = pe.called_at_once(message, &mut words);
                called.is_some()
            };
            let came = link.hear(&mut take, &mut |message| self.take_in(pe, node, message));
            self.has_come(pe, node, link, came)
        });
        // Not before the link is let go: what runs may wait for room on it, and then all links are read.
        if let Some((head, entry)) = called {
            pe.trace_cause(pe.trace_comes(way_from(pe, node)));
            pe.run_entry(head, entry, &mut None, &mut words, &mut Body::Empty);
            pe.trace_cause(None);
        }
        any
    }

    /// Gives the first message that has come through memory to `take`; one that it does not take is taken in as any other.
    pub fn hear_first(&self, pe: &Pe, mut take: impl FnMut(&Arrived<'_>) -> bool) -> Heard {
        if self.has_others_first() {
            return Heard::Other;
        }
        let Some(node) = self.first_in_memory() else { return Heard::Nothing };
        let Some(link) = &self.links[node as usize] else { return Heard::Nothing };
        let mut heard = Heard::Other;
        let mut take = |message: &Arrived<'_>| {
            let is_taken = take(message);
            if is_taken {
                heard = Heard::Taken;
            }
            is_taken
        };
        self.while_taking_in(|| {
            let came = link.hear(&mut take, &mut |message| self.take_in(pe, node, message));
            self.has_come(pe, node, link, came)
        });
        heard
    }

    /// Whether what comes through memory is not the next to be taken in, or has to be looked at by its epoch.
    #[inline]
    fn has_others_first(&self) -> bool {
        self.sorts.get() || !self.aside.borrow().is_empty()
    }

    /// A node from which something has come through memory.
    #[inline]
    fn first_in_memory(&self) -> Option<u32> {
        let has_work = |node: &&u32| self.link(**node).is_some_and(Link::has_work);
        self.through_memory.iter().find(has_work).copied()
    }

    fn receive_from_all(&self, pe: &Pe) -> bool {
        if self.reconnect.is_notified() {
            self.take_connections(pe);
        }
        let has_aside = !self.aside.borrow().is_empty();
        let mut any = has_aside && !mutated("aside-after-what-is-new") && self.take_aside(pe);
        let budget = self.budget(pe);
        for node in &self.through_memory {
            any |= self.link(*node).is_some_and(Link::has_work) && self.receive_from(pe, *node, budget);
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

    fn receive_from(&self, pe: &Pe, node: u32, budget: usize) -> bool {
        let mut swaps = mutated("messages-swapped");
        self.look_at(pe, node, budget, &mut |message| {
            match std::mem::take(&mut swaps) {
                // To be overtaken by those behind it, which is a mistake.
                true => self.aside.borrow_mut().push_back(Aside::of(node, message)),
                false if self.sorts.get() => {
                    let message = self.of_this_epoch(node, message);
                    message.into_iter().for_each(|message| self.take_in(pe, node, message));
                }
                false => self.take_in(pe, node, message),
            }
        })
    }

    /// Gives messages from a node to `f`; whether there were any.
    #[inline]
    fn look_at(&self, pe: &Pe, node: u32, budget: usize, f: &mut dyn FnMut(Incoming<'_>)) -> bool {
        let Some(link) = &self.links[node as usize] else { return false };
        self.has_come(pe, node, link, link.receive(budget, f))
    }

    /// So many messages have come over a link, or it cannot go on; whether any have.
    #[inline]
    fn has_come(&self, pe: &Pe, node: u32, link: &Link, came: Result<usize, LinkError>) -> bool {
        match came {
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

    pub(super) fn read_on_later(&self, node: u32) {
        let mut half_read = self.half_read.borrow_mut();
        if !half_read.contains(&node) {
            half_read.push(node);
        }
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
        if rank == own {
            // Who has sent it is in it: the first PE of its node stands for all.
            pe.note_taken_frame(pe.node.shape.first_pe(from_node), head, &segments);
        }
        let is_for_pe = rank < pe.node.shape.pes_per_node;
        let origin = if is_for_pe { pe.trace_comes(way_from(pe, from_node)) } else { None };
        let taken = match rank {
            _ if rank == own => pe.take_in_frame(head, segments, origin).map_err(|error| error.to_string()),
            _ if is_for_pe => wire::read(pe, head, segments)
                .map(|envelope| pe.port.pass_on(pe, rank, envelope, origin))
                .map_err(|error| error.to_string()),
            _ if rank == PeId::from(TO_LINK) => return self.on_marker(from_node, head),
            _ => Err(format!("it is for PE {rank} of {}", pe.node.shape.pes_per_node)),
        };
        if let Err(error) = taken {
            let number = pe.node.number;
            let message = format!("node {number}: a message from node {from_node} cannot be read: {error}");
            pe.node.job.end(1, Some(message));
        }
    }
}

/// The PE at the other end of this one's link to a node.
fn way_from(pe: &Pe, node: u32) -> PeId {
    pe.node.shape.first_pe(node) + pe.id - pe.first_pe
}

#[cold]
fn fewer(messages: usize) -> usize {
    sometimes("a PE took in less than it ran, for it had much");
    messages
}
