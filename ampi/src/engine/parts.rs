//! What operations in parts (MPI-4.0, chapter 4) need of the engine, besides messages.

use talisman_pup::Pup;

use super::{Actions, Body, Engine, Envelope, Head, Tag};

/// A peer has made a send in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Offer {
    /// Who, with which tag, in which context; and the length of all parts.
    pub head: Head,
    /// The tag of the first part's message. Those of the others follow.
    pub first: Tag,
    /// How many parts.
    pub parts: u32,
}

impl Engine {
    /// Says to the receiver that a send in parts was made, of so many bytes.
    pub fn offer(&mut self, to: Envelope, bytes: u64, (first, parts): (Tag, u32), out: &mut Actions) {
        self.emit(to, bytes, Body::Offer { first, parts }, out);
    }

    /// The next offer that has come.
    #[inline]
    pub fn next_offer(&mut self) -> Option<Offer> {
        self.offers.pop_front()
    }

    /// The next message of an operation in parts that has ended, by its number.
    #[inline]
    pub fn next_part(&mut self) -> Option<u32> {
        self.ended_parts.pop_front()
    }
}
