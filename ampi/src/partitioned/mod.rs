//! Messages in parts (MPI-4.0, chapter 4): the sender says of each part when it is ready, the receiver asks of each whether
//! it is there. The two may cut the message differently.
//!
//! A send *offers* itself to its receiver when it is made, and the n-th offer of a sender with a tag goes to the n-th
//! receive that was made for it: that is all of matching. From then on each part of the sender is a message of its own, in
//! a context that only such messages have, with a tag that its offer has named. A receive that was begun posts a receive
//! for each of them.
//!
//! Where a part of the sender is not a whole number of the receiver's values, the parts come to scratch memory, and go from
//! there to the receiver's parts as these become whole.

mod receives;
mod sends;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use talisman_pup::Pup;
use thiserror::Error;

use crate::engine::{Actions, Area, Buffer, Context, Engine, Envelope, Offer, Rank, Tag, Token};
use crate::objects::Table;
use receives::Receiving;
use sends::Sending;

/// Where the parts of one side lie, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Parts {
    /// The address of the first.
    pub at: u64,
    /// How many.
    pub parts: u32,
    /// Values of each.
    pub count: u64,
    /// Their datatype.
    pub datatype: u32,
    /// Bytes of a value, packed.
    pub size: u64,
    /// From a value to the next one.
    pub extent: i64,
}

impl Parts {
    /// Bytes of each part, packed.
    pub fn each(&self) -> u64 {
        self.count * self.size
    }

    /// Bytes of all; none if nothing can be so long.
    pub fn bytes(&self) -> Option<u64> {
        self.count.checked_mul(self.size)?.checked_mul(u64::from(self.parts))
    }

    /// So many values from this one on.
    fn values(&self, first: u64, count: u64) -> Buffer {
        let Parts { at, datatype, size, extent, .. } = *self;
        let at = at.wrapping_add_signed(extent.wrapping_mul(first as i64));
        Buffer { area: Area::Memory, at, count, datatype, bytes: count * size }
    }
}

/// Whom a receive is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pup)]
pub struct Source {
    /// Of which communicator: the context [of parts](crate::comm::ContextPair::of_parts).
    pub context: Context,
    /// The sender.
    pub rank: Rank,
    /// The tag of the program.
    pub tag: Tag,
}

/// Why nothing can be said of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PartsError {
    /// The request is none in parts, or of the other direction.
    #[error("the request is no message in parts of this direction")]
    OtherRequest,
    /// It was not started.
    #[error("the request was not started")]
    Inactive,
    /// It has no such part.
    #[error("there is no part {0}")]
    NoPart(u32),
    /// The program has said so before.
    #[error("part {0} is ready already")]
    Ready(u32),
}

/// The messages in parts of one rank, by their requests.
#[derive(Debug, Default, PartialEq, Pup)]
pub struct Partitioned {
    sends: BTreeMap<Token, Sending>,
    receives: BTreeMap<Token, Receiving>,
    /// Messages that have not ended: whose, and which parts of the sender.
    under_way: Table<(Token, u32)>,
    /// The next tag of parts to each receiver.
    tags: BTreeMap<(Context, Rank), Tag>,
    /// Receives without a sender, and senders without a receive, in the order in which they were made: there are never both.
    receives_without: BTreeMap<Source, VecDeque<Token>>,
    offers: BTreeMap<Source, VecDeque<Offer>>,
}

impl Partitioned {
    /// Goes on with what the engine has received and ended.
    #[inline]
    pub fn advance(&mut self, engine: &mut Engine, out: &mut Actions) {
        while let Some(offer) = engine.next_offer() {
            self.offered(offer, engine, out);
        }
        while let Some(number) = engine.next_part() {
            self.ended(number, engine, out);
        }
    }

    /// A message has ended.
    fn ended(&mut self, number: u32, engine: &mut Engine, out: &mut Actions) {
        let Some((request, part)) = self.under_way.remove(number) else { return };
        match self.sends.get(&request) {
            Some(_) => self.has_left(request, engine, out),
            None => self.has_come(request, part, engine, out),
        }
    }

    /// A request was started.
    pub(crate) fn start(&mut self, request: Token, engine: &mut Engine, out: &mut Actions) {
        if self.sends.contains_key(&request) {
            self.start_send(request, engine, out);
        } else {
            self.start_receive(request, engine, out);
        }
    }

    /// The program does not want a request any more. One that is active goes on until it has ended.
    pub(crate) fn free(&mut self, request: Token) {
        if let Some(send) = self.sends.get_mut(&request) {
            send.is_freed = true;
        }
        if let Some(receive) = self.receives.get_mut(&request) {
            receive.is_freed = true;
        }
        self.forget_freed(request);
    }

    fn forget_freed(&mut self, request: Token) {
        if self.sends.get(&request).is_some_and(|send| send.is_freed && !send.is_active()) {
            self.sends.remove(&request);
        }
        if self.receives.get(&request).is_some_and(|receive| receive.is_freed && !receive.is_active) {
            self.receives.remove(&request);
        }
    }

    /// As many tags as a send has parts.
    fn take_tags(&mut self, to: Envelope, parts: u32) -> Tag {
        let next = self.tags.entry((to.context, to.to)).or_default();
        let first = *next;
        // They begin again after 2^32 parts: those of then have ended.
        *next = first.wrapping_add_unsigned(parts);
        first
    }
}
