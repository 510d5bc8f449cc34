//! What collectives know of the values they move.

use super::{Place, Span};
use crate::datatype::Datatype;

/// A rank within its communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its number: 0 to `size` - 1.
    pub rank: u32,
    /// Of how many.
    pub size: u32,
}

impl Member {
    /// The member `by` numbers further, around the ring.
    pub fn after(self, by: u32) -> u32 {
        ((u64::from(self.rank) + u64::from(by)) % u64::from(self.size)) as u32
    }

    /// The member `by` numbers before, around the ring.
    pub fn before(self, by: u32) -> u32 {
        self.after(self.size - by % self.size)
    }

    /// The same ring, numbered from `root` on: where this member is in it.
    pub fn from_root(self, root: u32) -> Member {
        Member { rank: self.before(root), size: self.size }
    }

    /// All distances below the size: 1, 2, 4 ...
    pub fn doublings(self) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(1u32), |d| d.checked_mul(2)).take_while(move |d| *d < self.size)
    }
}

/// Values of one datatype. Lengths are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    /// The handle of the datatype.
    pub datatype: u32,
    /// Of one value, packed.
    pub size: u64,
    /// From one value to the next.
    pub extent: i64,
    /// How far the first byte of a value lies before its address.
    pub lead: u64,
    /// How far the last byte of a value lies behind its address.
    pub reach: u64,
}

impl Values {
    /// Of a datatype with this handle.
    pub fn of(handle: u32, datatype: &Datatype) -> Values {
        let (low, length) = datatype.true_extent();
        let (lead, reach) = ((-low).max(0) as u64, (low + length).max(0) as u64);
        Values { datatype: handle, size: datatype.size(), extent: datatype.extent().1, lead, reach }
    }

    /// Bytes without a meaning.
    pub const BYTES: Values = Values { datatype: 0, size: 1, extent: 1, lead: 0, reach: 1 };

    /// `count` of them, the first at this offset.
    pub fn span(&self, place: Place, at: i64, count: u64) -> Span {
        Span { place, at, count, datatype: self.datatype, bytes: count * self.size }
    }

    /// From the first on, `first` to `last` - 1 of a span.
    pub fn part(&self, span: Span, first: u64, last: u64) -> Span {
        self.span(span.place, span.at + first as i64 * self.extent, last - first)
    }

    /// Bytes that `count` of them need in memory.
    pub fn room(&self, count: u64) -> u64 {
        let steps = count.saturating_sub(1) * self.extent.unsigned_abs();
        self.lead + self.reach + steps
    }
}

/// One block of values for each member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// What the blocks are of.
    pub values: Values,
    /// How many each has.
    pub counts: Vec<u64>,
    /// Where each begins, in bytes.
    pub displacements: Vec<i64>,
}

impl Blocks {
    /// Blocks of one length, one after the other.
    pub fn even(members: u32, count: u64, values: Values) -> Blocks {
        let by = count as i64 * values.extent;
        let displacements = (0..i64::from(members)).map(|member| member * by).collect();
        Blocks { values, counts: vec![count; members as usize], displacements }
    }

    /// Blocks of their own lengths at displacements in values, as `MPI_Gatherv` and its kin have them.
    pub fn uneven(counts: &[u64], displacements: &[i64], values: Values) -> Blocks {
        let displacements = displacements.iter().map(|at| at * values.extent).collect();
        Blocks { values, counts: counts.to_vec(), displacements }
    }

    /// Blocks of their own lengths, one after the other.
    pub fn following(counts: &[u64], values: Values) -> Blocks {
        let ends = counts.iter().scan(0, |end, count| {
            *end += *count as i64 * values.extent;
            Some(*end)
        });
        let displacements = std::iter::once(0).chain(ends).take(counts.len()).collect();
        Blocks { values, counts: counts.to_vec(), displacements }
    }

    /// The block of a member.
    pub fn of(&self, place: Place, member: u32) -> Span {
        let member = member as usize;
        self.values.span(place, self.displacements[member], self.counts[member])
    }
}
