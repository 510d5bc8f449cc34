//! What a PE sends to other nodes: written at once, or staged and written with more. Back-pressure: a
//! sender blocks while the link's send buffer is full.

use std::ptr::NonNull;
use std::time::Duration;

use super::{Aside, BURST, Net, Wait};
use crate::entry_info::EntryInfo;
use crate::message::cell::Words;
use crate::message::envelope::Envelope;
use crate::pe::Pe;
use crate::port::is_unlucky;
use crate::wire;
use crate::witness::{self, Seen};
use talisman_base::ids::{ObjId, PeId};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_observe::stats::count;
use talisman_pup::{Lender, Segment};
use talisman_transport::link::Link;
use talisman_transport::{Incoming, TO_LINK};

/// A sender that waits for room looks so often before it sleeps, for some hundred microseconds.
const LOOKS_FOR_ROOM: u32 = 200;
/// What is staged goes out after so many ticks of the processor's clock, about 4 µs, even if the PE has more to do.
const STAGED_TICKS: u64 = 10_000;
/// So many messages in a row may be written each by itself, and then one in so many ticks, about 16 µs: a write takes a
/// tenth of that.
const WRITES_AT_ONCE: u64 = 8;
const TICKS_PER_WRITE: u64 = 40_000;

/// The way of a message to a PE of another node.
struct Way<'a> {
    to: PeId,
    node: u32,
    /// The first PE there.
    first: PeId,
    link: &'a Link,
    /// Since when it is on it, for the trace.
    at: u64,
}

impl Way<'_> {
    /// Whether a message may be given to the link in two parts: not where it is noted what is sent.
    fn takes_parts(&self, pe: &Pe) -> bool {
        !self.link.is_watched() && pe.input_log.is_off()
    }

    /// Gives a message to the link, packed; it was in an envelope before, or not. Whether something of it is still to be written.
    #[inline]
    fn put(&self, pe: &Pe, head: &[u8], segments: Vec<Segment>, was_in_envelope: bool) -> bool {
        let bytes = head.len() + segments.iter().map(|segment| segment.bytes().len()).sum::<usize>();
        count(&pe.stats.bytes_between_nodes, bytes as u64);
        pe.note_sent_frame(self.to, head, &segments);
        let rank = (self.to - self.first) as u16;
        let is_left = match is_unlucky(pe) {
            true if mutated("message-lost") => false,
            true if segments.is_empty() && mutated("message-doubled") => {
                self.link.send(rank, head, Vec::new());
                self.link.send(rank, head, segments)
            }
            _ => self.link.send(rank, head, segments),
        };
        let near_end = pe.id - pe.first_pe;
        pe.trace_left(self.at, self.first + near_end, bytes as u64, was_in_envelope);
        is_left
    }

    /// The same of a message that was in no envelope, and whose bytes may be in two parts.
    #[inline]
    fn put_parts(&self, pe: &Pe, parts: [&[u8]; 2], segments: Vec<Segment>) -> bool {
        if parts[1].is_empty() {
            return self.put(pe, parts[0], segments, false);
        }
        let bytes = (parts[0].len() + parts[1].len()) as u64;
        count(&pe.stats.bytes_between_nodes, bytes);
        let is_left = self.link.send_parts((self.to - self.first) as u16, parts);
        pe.trace_left(self.at, self.first + pe.id - pe.first_pe, bytes, false);
        is_left
    }
}

impl Net {
    /// Sends a message to a PE of another node. Waits if the link is far behind.
    pub fn send(&self, pe: &Pe, to: PeId, envelope: NonNull<Envelope>) {
        let way = self.way(pe, to);
        pe.trace_take(envelope);
        let put = |head: &[u8], segments| way.put(pe, head, segments, true);
        if wire::pack(pe, envelope, put) == Some(true) {
            self.see_to_rest(pe, &way);
        }
    }

    /// Sends a call without making an envelope for it, and gives up its arguments. `false` if it is to be sent otherwise.
    #[inline]
    pub fn send_call(&self, pe: &Pe, to: PeId, call: (ObjId, &'static EntryInfo), args: &mut Words) -> bool {
        let way = self.way(pe, to);
        let put = |parts: [&[u8]; 2], segments| way.put_parts(pe, parts, segments);
        self.has_put(pe, &way, wire::pack_call(pe, call, args, way.takes_parts(pe), put))
    }

    /// The same with arguments that `lend` packs, up to their last bytes, `end`. They stay where they are.
    #[inline]
    pub fn send_lent<'a>(
        &self,
        pe: &Pe,
        to: PeId,
        call: (ObjId, &'static EntryInfo),
        lend: impl FnOnce(&mut Lender<'a>),
        end: &'a [u8],
    ) -> bool {
        let way = self.way(pe, to);
        let lend = |l: &mut Lender<'a>| {
            lend(l);
            l.bytes(end);
        };
        let put = |parts: [&[u8]; 2], segments| way.put_parts(pe, parts, segments);
        self.has_put(pe, &way, wire::pack_lent(pe, call, lend, way.takes_parts(pe), put))
    }

    /// Whether a call was given to a link, and whether something of it is left then.
    #[inline(always)]
    fn has_put(&self, pe: &Pe, way: &Way<'_>, is_left: Option<bool>) -> bool {
        let Some(is_left) = is_left else { return false };
        count(&pe.stats.between_nodes, 1);
        if is_left {
            self.see_to_rest(pe, way);
        }
        true
    }

    #[inline]
    fn way(&self, pe: &Pe, to: PeId) -> Way<'_> {
        let node = pe.node.shape.node_of(to);
        let Some(link) = &self.links[node as usize] else {
            unreachable!("a PE has a link to every other node that is there, and node {node} is not")
        };
        let first = pe.node.shape.first_pe(node);
        // It may have come before this thread goes on behind the link.
        Way { to, node, first, link, at: pe.clock_of_trace() }
    }

    /// Something of a message could not be written at once.
    fn see_to_rest(&self, pe: &Pe, Way { node, link, .. }: &Way<'_>) {
        if !(link.is_watched() && self.may_write_at_once(pe) && link.is_written()) {
            self.flush_later(pe, *node, link);
        }
        // What is written counts too, until the peer has it.
        if link.unsent() > self.unsent_max && !mutated("no-bound-on-a-link") {
            self.wait_for_room(pe, *node);
        }
        self.see_room(pe, link);
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

    pub(super) fn flush_later(&self, pe: &Pe, node: u32, link: &Link) {
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
        self.waiting.set(Some(Wait::Room(node)));
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
    pub fn wait_round(&self, pe: &Pe) -> bool {
        let flushed = self.flush(pe);
        if self.reconnect.is_notified() {
            sometimes("a connection came while a sender waited for room");
            self.take_connections(pe);
        }
        flushed | self.put_aside(pe) | pe.port.put_aside()
    }

    /// Whether a sender waits for room right now, or this PE for its part.
    pub fn is_waiting(&self) -> bool {
        self.waiting.get().is_some()
    }

    /// Whether it need not any longer.
    pub fn is_wait_over(&self, pe: &Pe) -> bool {
        let has_room = |link: &Link| link.unsent() <= self.unsent_max / 2;
        pe.node.job.is_over()
            || match self.waiting.get() {
                Some(Wait::Room(node)) => self.link(node).is_none_or(has_room),
                Some(Wait::Part(node)) => self.may_have_come(node),
                None => true,
            }
    }

    /// Whether a sender has waited for room since this was last asked.
    #[inline]
    pub fn has_waited(&self) -> bool {
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
    pub fn is_flush_due(&self, pe: &Pe) -> bool {
        self.staged.get() != 0 && pe.clock.ticks().wrapping_sub(self.staged.get()) > STAGED_TICKS
    }

    /// Writes what goes now; whether anything was written.
    #[inline]
    pub fn flush(&self, pe: &Pe) -> bool {
        self.has_unsent() && self.flush_listed(pe)
    }

    fn flush_listed(&self, pe: &Pe) -> bool {
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

    /// Whether something could not be written yet.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        !self.unflushed.borrow().is_empty()
    }

    /// The same through memory, where nobody tells when there is room.
    pub fn is_behind_in_memory(&self) -> bool {
        let is_memory =
            |node: &u32| self.links[*node as usize].as_ref().is_some_and(|link| !link.is_watched());
        self.unflushed.borrow().iter().any(is_memory)
    }
}
