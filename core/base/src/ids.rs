//! The names of things: processing elements, collections, sections, objects.

use std::cell::Cell;
use std::fmt;

use crate::pup::Pup;

/// A processing element (PE): one scheduler thread of one node. PEs are numbered through the whole job;
/// node `n` of a job with `p` PEs a node has the PEs `n * p .. (n + 1) * p`.
pub type PeId = u32;

/// A collection of chares: an array, a group, a nodegroup, or all singleton chares of one type.
///
/// The PE that creates a collection names it without asking anyone: its own number and a count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Pup)]
pub struct CollectionId {
    /// The PE that created it, which is the root of its trees too; [`CollectionId::SINGLES`] for singletons.
    #[pup(with = wire::creator)]
    pub creator: PeId,
    /// Which of that PE's collections; for singletons, which chare type of the registry.
    pub serial: u32,
}

impl CollectionId {
    /// In place of a creator: the collection of all singleton chares of a type.
    pub const SINGLES: PeId = PeId::MAX;

    /// The singletons of the `serial`th registered chare type.
    pub fn singles(serial: u32) -> Self {
        CollectionId { creator: Self::SINGLES, serial }
    }

    pub fn is_singles(self) -> bool {
        self.creator == Self::SINGLES
    }
}

impl fmt::Debug for CollectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}.{}", self.creator, self.serial)
    }
}

/// One chare: its collection and its index there, as order-preserving bits
/// ([`ArrayIndex::to_bits`](crate::index::ArrayIndex::to_bits)).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Pup)]
pub struct ObjId {
    /// Where it belongs.
    pub collection: CollectionId,
    /// Which one it is.
    pub index: u128,
}

impl fmt::Debug for ObjId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}[{:x}]", self.collection, self.index)
    }
}

/// A part of a collection with a multicast and reductions of its own. Named like a collection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Pup)]
pub struct SectionId {
    #[pup(with = wire::pe)]
    pub creator: PeId,
    pub serial: u32,
}

thread_local! {
    /// See [`set_known_pes`].
    static KNOWN_PES: Cell<PeId> = const { Cell::new(PeId::MAX) };
}

/// From now on names that this thread reads are those of a job of so many PEs, or refused; gives what held before. Who runs a PE says so; with
/// [`PeId::MAX`], as at the start, any number is taken.
pub fn set_known_pes(pes: PeId) -> PeId {
    KNOWN_PES.replace(pes)
}

fn known_pes() -> PeId {
    KNOWN_PES.get()
}

/// Which reduction of a collection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Pup)]
pub enum ReductionKey {
    /// The `n`th to which its elements contribute.
    All(u32),
    /// Of the answers to its `n`th broadcast.
    Answers(u32),
    /// The `n`th to which a section's members contribute.
    Section(SectionId, u32),
    /// Of the answers to a section's `n`th multicast.
    SectionAnswers(SectionId, u32),
    /// One of a group's, to which a member that was made late contributes as its `nth` one: the root knows which that is.
    Late { member: u32, nth: u32 },
}

/// Names that come from elsewhere, for `#[pup(with = …)]`: they are those of this job, or an error. So whatever is read may
/// be used as an index or an address.
pub mod wire {
    use super::{CollectionId, PeId, known_pes};
    use crate::pup::{Packer, Pup, PupError, Purpose, Unpacker};

    fn known(pe: PeId, u: &Unpacker<'_>) -> Result<PeId, PupError> {
        // A checkpoint may be of a job of another shape; who reads it renumbers.
        let pes = known_pes();
        if u.purpose() == Purpose::Checkpoint || pe < pes {
            return Ok(pe);
        }
        Err(u.invalid(format!("PE {pe} of a job of {pes}")))
    }

    /// A PE.
    pub mod pe {
        use super::*;

        pub fn pack(pe: &PeId, p: &mut Packer) {
            pe.pack(p);
        }

        pub fn unpack(u: &mut Unpacker<'_>) -> Result<PeId, PupError> {
            let pe = PeId::unpack(u)?;
            known(pe, u)
        }
    }

    /// A PE or none.
    pub mod any_pe {
        use super::*;

        pub fn pack(pe: &Option<PeId>, p: &mut Packer) {
            pe.pack(p);
        }

        pub fn unpack(u: &mut Unpacker<'_>) -> Result<Option<PeId>, PupError> {
            let pe = Option::<PeId>::unpack(u)?;
            pe.map(|pe| known(pe, u)).transpose()
        }
    }

    /// A PE, or what stands for one in the names of singletons.
    pub mod creator {
        use super::*;

        pub fn pack(pe: &PeId, p: &mut Packer) {
            pe.pack(p);
        }

        pub fn unpack(u: &mut Unpacker<'_>) -> Result<PeId, PupError> {
            let pe = PeId::unpack(u)?;
            if pe == CollectionId::SINGLES { Ok(pe) } else { known(pe, u) }
        }
    }

    /// A collection that has a root: any but those of singletons.
    pub mod rooted {
        use super::*;

        pub fn pack(id: &CollectionId, p: &mut Packer) {
            id.pack(p);
        }

        pub fn unpack(u: &mut Unpacker<'_>) -> Result<CollectionId, PupError> {
            let id = CollectionId::unpack(u)?;
            if id.is_singles() { Err(u.invalid("singletons where a collection is meant")) } else { Ok(id) }
        }
    }
}

/// The index of a singleton chare: the PE it was created for, the PE that named it, and a count there.
pub fn single_index(home: PeId, creator: PeId, serial: u64) -> u128 {
    (home as u128) << 96 | (creator as u128) << 64 | serial as u128
}

/// The home of a singleton chare, from its index.
pub fn single_home(index: u128) -> PeId {
    (index >> 96) as PeId
}

/// In place of a count: the chare was named after the slot that its own PE kept for it.
const IN_SLOT: u128 = 1 << 63;

/// The index of a singleton chare that its own PE creates: where it will be, so that nobody has to look.
pub fn slot_index(home: PeId, slot: u32, generation: u32) -> u128 {
    debug_assert!(generation >> 30 == 0, "generations have 30 bits");
    single_index(home, home, (generation as u64) << 32 | slot as u64) | IN_SLOT
}

/// The slot and generation in such an index.
#[inline(always)]
pub fn slot_of(index: u128) -> Option<(u32, u32)> {
    (index & IN_SLOT != 0).then_some((index as u32, (index >> 32) as u32 & ((1 << 30) - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_found_in_an_index() {
        let index = slot_index(7, 12, (1 << 30) - 1);
        assert_eq!((single_home(index), slot_of(index)), (7, Some((12, (1 << 30) - 1))));
        assert_eq!(slot_of(single_index(7, 7, 12)), None);
    }
}
