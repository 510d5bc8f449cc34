//! The order of messages in collections declared `ordered`.
//!
//! Every message to an object of such a collection has a number, counted per sender and receiver. The receiver runs each
//! sender's messages by their numbers; one that comes too early is packed and kept, and moves with the receiver.
//!
//! The order holds between names, through any number of moves and lives. An element that is removed leaves its counts to its
//! home, which hands them to the next element of that name. So what was sent to a former life and not delivered
//! reaches the next one, before all that was sent later; and what a sender's next life sends comes after what its
//! former one did. Both sides keep these counts until one of them is gone and nothing is under way between the two ([`reconcile`]).

pub mod reconcile;

use std::collections::BTreeMap;
use std::hash::Hash;
use std::ptr::NonNull;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::collection::Collection;
use crate::message::envelope::{Body, Envelope};
use crate::object::Head;
use crate::pe::Pe;
use crate::wire;
use crate::witness::{Until, Why};
use talisman_base::ids::ObjId;
use talisman_base::limits::ORDERED;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::{Packed, Packer, Pup, PupError, Purpose, Unpacker};

/// So many receivers are no burden.
const FEW: usize = 64;

/// An object's place in the orders that it takes part in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Its next sequence number to each object of an ordered collection.
    sent: HashMap<ObjId, u32, FxBuildHasher>,
    /// For an object of an ordered collection: what it got from each sender.
    received: HashMap<ObjId, InOrder, FxBuildHasher>,
}

/// One sender's messages at a receiver that wants them in order.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
struct InOrder {
    /// The next sequence number to deliver.
    next: u32,
    /// So many there are in all, if the sender is gone with its collection; else [`OPEN`].
    all: u32,
    /// Those that came too early, packed as for another node.
    early: BTreeMap<u32, Packed>,
}

/// More messages than there can be ([`ORDERED`]): any may follow.
const OPEN: u32 = u32::MAX;

impl Default for InOrder {
    fn default() -> Self {
        InOrder { next: 0, all: OPEN, early: BTreeMap::new() }
    }
}

impl Order {
    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.received.is_empty()
    }

    /// The number of the next message to an object.
    fn number(&mut self, to: ObjId) -> u32 {
        let next = self.sent.entry(to).or_default();
        *next += 1;
        *next - 1
    }

    /// Another receiver was sent to: whenever they are twice as many, those that are gone are forgotten.
    fn forget_receivers(&mut self, is_gone: impl Fn(&ObjId) -> bool) {
        if self.sent.len() >= FEW && self.sent.len().is_power_of_two() {
            self.sent.retain(|id, _| !is_gone(id));
        }
    }

    /// Whether it is this message's turn.
    fn is_next(&mut self, from: ObjId, number: u32) -> bool {
        self.received.entry(from).or_default().next == number
    }

    /// Whether anything came too early.
    pub fn has_early(&self) -> bool {
        self.received.values().any(|channel| !channel.early.is_empty())
    }

    /// The highest count in it.
    pub fn highest(&self) -> u32 {
        let received = self.received.values().map(|channel| channel.next);
        self.sent.values().copied().chain(received).max().unwrap_or(0)
    }

    fn keep(&mut self, from: ObjId, number: u32, packed: Packed) {
        self.received.entry(from).or_default().early.insert(number, packed);
    }

    /// A sender's next message is delivered: the one after it, if that was early.
    fn advance(&mut self, from: ObjId) -> Option<Packed> {
        let channel = self.received.entry(from).or_default();
        channel.next += 1;
        let early = channel.early.remove(&channel.next);
        if channel.next == channel.all {
            sometimes("the last message came of one that was gone with its collection");
            self.forget_sender(from);
        }
        early
    }

    /// A sender is gone with its collection, and had sent so many: it is counted until these have had their turns.
    fn end(&mut self, sender: ObjId, all: u32) {
        let channel = self.received.entry(sender).or_default();
        channel.all = all;
        if channel.next >= all {
            self.forget_sender(sender);
        }
    }

    fn forget_sender(&mut self, sender: ObjId) {
        self.received.remove(&sender);
        give_back(&mut self.received);
    }

    /// Everything that came too early, sender by sender.
    pub fn take_early(&mut self) -> Vec<Packed> {
        let mut channels: Vec<_> = self.received.iter_mut().collect();
        channels.sort_unstable_by_key(|(from, _)| **from);
        channels
            .into_iter()
            .flat_map(|(_, channel)| std::mem::take(&mut channel.early).into_values())
            .collect()
    }
}

impl Pup for Order {
    const MIN_SIZE: usize = 2 * Vec::<(ObjId, u32)>::MIN_SIZE;

    fn pack(&self, p: &mut Packer) {
        sorted(&self.sent).pack(p);
        sorted(&self.received).pack(p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let sent = Vec::<(ObjId, u32)>::unpack(u)?.into_iter().collect();
        let received = Vec::<(ObjId, InOrder)>::unpack(u)?.into_iter().collect();
        Ok(Order { sent, received })
    }
}

/// A burst of entries would keep its room for ever.
fn give_back<K: Eq + Hash, V>(table: &mut HashMap<K, V, FxBuildHasher>) {
    if table.capacity() > 2 * FEW && table.len() < table.capacity() / 8 {
        table.shrink_to(table.capacity() / 4);
    }
}

/// In the same order in every run.
fn sorted<V: Clone>(map: &HashMap<ObjId, V, FxBuildHasher>) -> Vec<(ObjId, V)> {
    let mut all: Vec<_> = map.iter().map(|(id, value)| (*id, value.clone())).collect();
    all.sort_unstable_by_key(|(id, _)| *id);
    all
}

impl Pe {
    /// Gives a message to an object of an ordered collection its number.
    pub fn number_message(&self, message: &mut Envelope) {
        let Some(sender) = self.running() else { return };
        let is_birth = matches!(message.body, Body::Create(_));
        if is_birth || message.extra.as_ref().is_some_and(|extra| extra.order.is_some()) {
            return;
        }
        let number = sender.extras(|extras| {
            let number = extras.order.number(message.to());
            if number == 0 {
                extras.order.forget_receivers(|id| self.collections.is_gone(id.collection));
            }
            number
        });
        self.one_more(ORDERED, number, sender.collection(), Some(sender.index()));
        message.extra.get_or_insert_default().order = Some((sender.id(), number));
    }

    /// Runs a message with options: those of an ordered collection wait for their turn.
    pub fn run_in_order(&self, head: NonNull<Head>, envelope: NonNull<Envelope>) {
        // SAFETY: the queue gave the envelope away; the object is live.
        let (message, object) = unsafe { (envelope.as_ref(), head.as_ref()) };
        let order = message.extra.as_ref().and_then(|extra| extra.order);
        let Some((sender, number)) = order else { return self.run_with_extra(head, envelope) };
        if !object.extras(|extras| extras.order.is_next(sender, number)) && !mutated("early-is-not-kept") {
            sometimes("a message of an ordered collection came early");
            self.see_kept(envelope, Until::Turn);
            let packed = wire::pack_to_keep(self, envelope);
            return object.extras(|extras| extras.order.keep(sender, number, packed));
        }
        let early = object.extras(|extras| extras.order.advance(sender));
        if early.is_some() {
            sometimes("it was the turn of a message that had come early");
        }
        // The next goes through the queue again: the object may have left by then.
        let early = early.filter(|_| !mutated("early-message-forgotten"));
        early.into_iter().for_each(|packed| self.send_early(object.collection(), object.index(), packed));
        self.run_with_extra(head, envelope);
    }

    /// Sends on a message that had come too early for its object.
    pub fn send_early(&self, collection: &Collection, index: u128, packed: Packed) {
        let read = wire::read_kept(self, packed, Purpose::Message);
        let envelope = match read.and_then(|envelope| wire::checked(self, envelope)) {
            Ok(envelope) => envelope,
            Err(error) => return self.unreadable_for(collection, index, "(kept)", &error.to_string()),
        };
        // SAFETY: just made.
        let message = unsafe { envelope.as_ref() };
        if !matches!(message.body, Body::Pe) && message.to() == collection.object(index) {
            if self.lets_in(envelope) {
                self.dispatch(collection, envelope);
            }
            return;
        }
        self.discard(envelope, Why::Refused);
        self.unreadable_for(collection, index, "(kept)", "it is for somebody else");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_base::ids::CollectionId;
    use talisman_pup::{from_bytes, to_bytes};

    fn id(index: u128) -> ObjId {
        ObjId { collection: CollectionId { creator: 0, serial: 3 }, index }
    }

    #[test]
    fn receivers_that_are_gone_are_forgotten() {
        let mut order = Order::default();
        for index in 0..10_000 {
            order.number(id(index));
            order.forget_receivers(|id| id.index % 100 != 0);
        }
        assert!(order.sent.len() < 4 * FEW, "{}", order.sent.len());
        assert_eq!((order.number(id(9_900)), order.number(id(0))), (1, 1));
    }

    #[test]
    fn a_sender_that_was_destroyed_is_counted_until_all_of_its_messages_have_come() {
        let mut order = Order::default();
        order.advance(id(7));
        order.keep(id(7), 2, Packed::of(&2u8));
        order.end(id(7), 3);
        let mut order: Order = from_bytes(&to_bytes(&order)).unwrap();
        assert!(!order.is_next(id(7), 2) && order.is_next(id(7), 1));
        assert_eq!(order.advance(id(7)), Some(Packed::of(&2u8)));
        assert!(!order.is_empty() && order.is_next(id(7), 2));
        assert!(order.advance(id(7)).is_none() && order.is_empty());
    }

    #[test]
    fn a_sender_that_was_destroyed_and_has_been_heard_is_forgotten() {
        let mut order = Order::default();
        for sender in 0..1_000 {
            (0..2).for_each(|_| drop(order.advance(id(sender))));
        }
        for sender in 1..1_000 {
            order.end(id(sender), 2);
        }
        assert!(order.received.capacity() <= 4 * FEW, "{}", order.received.capacity());
        assert!(order.is_next(id(0), 2));
    }

    #[test]
    fn messages_have_their_turns_through_packing() {
        let mut order = Order::default();
        assert_eq!((order.number(id(1)), order.number(id(1)), order.number(id(2))), (0, 1, 0));
        order.keep(id(7), 2, Packed::of(&2u8));
        order.keep(id(7), 1, Packed::of(&1u8));
        let mut order: Order = from_bytes(&to_bytes(&order)).unwrap();
        assert_eq!(order.number(id(1)), 2);
        assert!(order.is_next(id(7), 0) && !order.is_next(id(7), 1));
        assert_eq!(order.advance(id(7)), Some(Packed::of(&1u8)));
        assert_eq!(order.take_early(), [Packed::of(&2u8)]);
        assert!(order.is_next(id(7), 1) && order.advance(id(7)).is_none());
    }
}
