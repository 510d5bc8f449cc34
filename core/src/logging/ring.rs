//! What goes between the PEs of a node that logs. Nothing of it is kept: it is lost with the node, and made again with it.

use std::collections::{BTreeMap, VecDeque};

use super::member::Taken;
use talisman_kernel::port::Parcel;

/// The rings of a node, by the ranks of sender and receiver.
#[derive(Default)]
pub(super) struct Rings(BTreeMap<(u32, u32), Ring>);

#[derive(Default)]
struct Ring {
    slots: VecDeque<Taken>,
    /// So many were taken before these.
    taken: u64,
}

impl Rings {
    pub(super) fn push(&mut self, ring: (u32, u32), taken: Taken) {
        self.0.entry(ring).or_default().slots.push_back(taken);
    }

    /// So many slots, or all; none if there are not so many.
    pub(super) fn take(&mut self, ring: (u32, u32), count: Option<usize>) -> Option<Vec<Taken>> {
        let Ring { slots, taken } = self.0.get_mut(&ring)?;
        let count = count.unwrap_or(slots.len());
        if slots.len() < count {
            return None;
        }
        *taken += count as u64;
        Some(slots.drain(..count).collect())
    }

    /// How many slots were taken of each.
    pub(super) fn taken(&self) -> BTreeMap<(u32, u32), u64> {
        self.0.iter().map(|(ring, Ring { taken, .. })| (*ring, *taken)).collect()
    }

    /// How many the PE of this rank has put into each of its rings, by receiver.
    pub(super) fn sent_by(&self, rank: u32) -> BTreeMap<u32, u64> {
        let own = self.0.iter().filter(|((from, _), _)| *from == rank);
        own.map(|((_, to), Ring { slots, taken })| (*to, taken + slots.len() as u64)).collect()
    }

    /// Whether anything waits for the PE of this rank.
    pub(super) fn has_any_for(&self, rank: u32) -> bool {
        self.0.iter().any(|((_, to), ring)| *to == rank && !ring.slots.is_empty())
    }

    pub(super) fn drain(&mut self) -> Vec<Parcel> {
        self.0.values_mut().flat_map(|ring| ring.slots.drain(..)).map(|taken| taken.parcel).collect()
    }
}
