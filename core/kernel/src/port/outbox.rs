//! What a PE sends whose messages somebody else carries: a simulator, or the driver of a node that logs.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use bytes::Bytes;

use super::is_unlucky;
use super::shelf::Shelf;
use crate::entry_info::EntryInfo;
use crate::message::cell::Words;
use crate::message::envelope::Envelope;
use crate::message::service;
use crate::pe::Pe;
use crate::wire;
use talisman_base::ballast::take_ballast;
use talisman_base::ids::{ObjId, PeId};
use talisman_observe::mutations::mutated;
use talisman_observe::stats::count;
use talisman_pup::Segment;

/// What a simulated PE sends, for the simulator to deliver; or one of a node that logs, for its driver.
#[derive(Default)]
pub struct Outbox {
    sent: RefCell<Vec<Sent>>,
    /// Whether what is packed now, which is sent next, has bytes that nothing determines; none while nobody asks.
    packs_undetermined: Cell<Option<bool>>,
    /// Where heads come to lie that are kept long, if they are: slices stay then in the memory of the message that they are part of.
    shelf: Option<RefCell<Shelf>>,
}

/// What a simulated PE sent.
pub struct Sent {
    pub to: PeId,
    /// When, in nanoseconds of the PE's clock.
    pub at: u64,
    /// As many are on the wire. None within a node.
    pub bytes: u32,
    pub parcel: Parcel,
    /// Whether all of it follows from what the PE was given. If not, a PE that runs again sends other bytes, perhaps of another number.
    pub is_determined: bool,
}

/// A message on a simulated network.
pub enum Parcel {
    /// Within a node: as it is, where no PE runs again without the others.
    Message(NonNull<Envelope>),
    /// Between nodes, and where one does: as bytes, packed and read like on a real wire.
    Frame { head: Bytes, segments: Vec<Segment> },
}

// SAFETY: whoever has it owns the envelope, and nobody else knows of that. What an envelope carries goes between the threads of
// a node, by a ring's slot that has its address.
unsafe impl Send for Parcel {}

impl Outbox {
    /// Of a PE whose messages to other nodes leave the process: large slices of them are not copied before that.
    pub fn lending(shelf: Shelf) -> Outbox {
        Outbox { shelf: Some(RefCell::new(shelf)), ..Outbox::default() }
    }

    /// Bytes that its shelf has beside those of what was sent in this line.
    pub fn spare(&self) -> usize {
        self.shelf.as_ref().map_or(0, |shelf| shelf.borrow().spare())
    }

    /// Its shelf, for the next PE's.
    pub fn into_shelf(self) -> Shelf {
        self.shelf.map(RefCell::into_inner).unwrap_or_default()
    }

    /// Something is packed that is sent next: from here on it is noted whether it has bytes that nothing determines.
    pub(super) fn begin_packing(&self) {
        self.packs_undetermined.set(Some(false));
    }

    /// What is packed has such bytes.
    pub(super) fn note_undetermined(&self) {
        self.packs_undetermined.set(self.packs_undetermined.get().map(|_| true));
    }

    fn keep(&self, head: [&[u8]; 2]) -> Bytes {
        match &self.shelf {
            Some(shelf) => shelf.borrow_mut().keep(head),
            None => head.concat().into(),
        }
    }

    pub(super) fn send(&self, pe: &Pe, to: PeId, envelope: NonNull<Envelope>) {
        let mut bytes = 0;
        let is_determined = self.packs_undetermined.take() != Some(true);
        let at = pe.clock.ticks();
        let is_near = pe.node.shape.node_of(to) == pe.node.number;
        pe.trace_take(envelope);
        let parcel = if is_near && !pe.node.config.packs_within {
            through_words(envelope);
            Parcel::Message(envelope)
        } else {
            take_ballast();
            let frame = wire::pack(pe, envelope, |head, segments| {
                let segments = match &self.shelf {
                    Some(_) => segments,
                    None => segments.iter().map(Segment::copied).collect(),
                };
                let beside: usize = segments.iter().map(|segment| segment.bytes().len()).sum();
                pe.note_sent_frame(to, head, &segments);
                if !is_near {
                    bytes = (head.len() + beside) as u32 + take_ballast();
                    count(&pe.stats.bytes_between_nodes, bytes.into());
                }
                Parcel::Frame { head: self.keep([head, &[]]), segments }
            });
            let Some(frame) = frame else { return };
            frame
        };
        pe.trace_left(at, to, bytes.into(), true);
        let sent = Sent { to, at, bytes, parcel, is_determined };
        match is_unlucky(pe) {
            true => self.put_wrongly(sent),
            false => self.sent.borrow_mut().push(sent),
        }
    }

    /// Sends a call to another node without making an envelope for it, and gives up its arguments. `false` if it is to be sent otherwise.
    pub(super) fn send_call(
        &self,
        pe: &Pe,
        to: PeId,
        call: (ObjId, &'static EntryInfo),
        args: &mut Words,
    ) -> bool {
        if pe.node.shape.node_of(to) == pe.node.number || is_unlucky(pe) {
            return false;
        }
        let at = pe.clock.ticks();
        take_ballast();
        // A long slice at its end is copied once, from where it is to where it is kept.
        let put = |parts: [&[u8]; 2], segments: Vec<Segment>| {
            let head = self.keep(parts);
            pe.note_sent_frame(to, &head, &segments);
            let beside: usize = segments.iter().map(|segment| segment.bytes().len()).sum();
            let bytes = (head.len() + beside) as u32 + take_ballast();
            count(&pe.stats.between_nodes, 1);
            count(&pe.stats.bytes_between_nodes, bytes.into());
            pe.trace_left(at, to, bytes.into(), false);
            let parcel = Parcel::Frame { head, segments };
            self.sent.borrow_mut().push(Sent { to, at, bytes, parcel, is_determined: true });
        };
        wire::pack_call(pe, call, args, true, put).is_some()
    }

    /// One in some messages, for what is done wrong with it.
    fn put_wrongly(&self, sent: Sent) {
        let mut all = self.sent.borrow_mut();
        let Sent { to, at, bytes, ref parcel, is_determined } = sent;
        match parcel {
            Parcel::Frame { .. } if mutated("message-lost") => return,
            Parcel::Frame { head, segments } if mutated("message-doubled") => {
                let segments = segments.iter().map(Segment::copied).collect();
                let parcel = Parcel::Frame { head: head.clone(), segments };
                all.push(Sent { to, at, bytes, parcel, is_determined });
            }
            _ => {}
        }
        let last = all.iter().rposition(|other| other.to == to);
        match last.filter(|_| mutated("messages-swapped")) {
            Some(last) => all.insert(last, sent),
            None => all.push(sent),
        }
    }

    /// What dropped values still sent, when their PE ends.
    pub(super) fn take_messages(&self) -> Vec<NonNull<Envelope>> {
        let message = |sent: Sent| match sent.parcel {
            Parcel::Message(envelope) => Some(envelope),
            Parcel::Frame { .. } => None,
        };
        self.take().into_iter().filter_map(message).collect()
    }

    /// What was sent since the last call.
    pub fn take(&self) -> Vec<Sent> {
        self.sent.take()
    }

    /// The same, into a vector that is empty, whose room is for what is sent next.
    pub fn swap(&self, sent: &mut Vec<Sent>) {
        debug_assert!(sent.is_empty(), "what it holds would be sent");
        std::mem::swap(&mut *self.sent.borrow_mut(), sent);
    }
}

/// What would travel by value between threads is what comes of its words.
fn through_words(mut envelope: NonNull<Envelope>) {
    // SAFETY: the sender has given the envelope away.
    let message = unsafe { envelope.as_mut() };
    let words = message.pe_message().and_then(|said| Some((said.service(), said.to_words()?)));
    if let Some((service, words)) = words {
        drop(message.take_pe_message());
        message.put_pe_message(service::of_words(service as usize, &words));
    }
}
