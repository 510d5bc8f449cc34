//! Messages that wait, in a part of a checkpoint.

use std::ptr::NonNull;

use crate::message::envelope::Envelope;
use crate::pup::{Lender, Packed, Packer, Pup, PupError, Unpacker};
use crate::wire;

/// Messages for objects, in the order in which they would have run. They are packed as between nodes, each by itself.
#[derive(Debug)]
pub(crate) enum Messages {
    Packed(Vec<Packed>),
    /// They are packed with the part: what waits may be a good deal of it, and is not to be copied twice.
    Here(Here),
}

/// Messages of a PE.
#[derive(Debug)]
pub(crate) struct Here(Vec<NonNull<Envelope>>);

impl Here {
    /// These messages.
    ///
    /// # Safety
    /// They stay where and what they are as long as this lives, on the thread of their PE.
    pub(super) unsafe fn new(messages: Vec<NonNull<Envelope>>) -> Self {
        Here(messages)
    }

    fn each(&self) -> impl Iterator<Item = &Envelope> {
        // SAFETY: they are there, and nobody changes them (`Here::new`).
        self.0.iter().map(|message| unsafe { message.as_ref() })
    }
}

impl Messages {
    /// Each packed.
    pub(super) fn into_packed(self) -> Vec<Packed> {
        match self {
            Messages::Packed(packed) => packed,
            Messages::Here(here) => here.each().map(wire::copy_to_keep).collect(),
        }
    }
}

impl Default for Messages {
    fn default() -> Self {
        Messages::Packed(Vec::new())
    }
}

/// As a `Vec<Packed>`.
impl Pup for Messages {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        match self {
            Messages::Packed(packed) => packed.pack(p),
            Messages::Here(here) => here.each().map(wire::copy_to_keep).collect::<Vec<_>>().pack(p),
        }
    }

    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        match self {
            Messages::Packed(packed) => packed.lend(l),
            Messages::Here(here) => {
                l.packer().len(here.0.len());
                here.each().for_each(|message| wire::lend_kept(message, l));
            }
        }
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Vec::unpack(u).map(Messages::Packed)
    }
}
