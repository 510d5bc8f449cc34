//! Memory of nodes, as objects are moved about.

use crate::snapshot::{Object, Snapshot};

/// The bytes that are left in every node while a plan is made.
///
/// An object counts where it is until it is moved, and moves only to where there is room for it *then*. So a node that is within its limit
/// stays within it, also while the moves are carried out in the order in which they were decided; and there always is a lawful
/// decision, to stay. Moves inside a node need no room.
#[derive(Clone, Debug)]
pub struct Rooms<'a> {
    snapshot: &'a Snapshot,
    /// By node, as large as the sums of any bytes; empty if no node has a limit.
    left: Vec<i128>,
}

impl<'a> Rooms<'a> {
    /// As it is in the snapshot.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        let limits = snapshot.nodes.iter().map(|node| node.memory);
        let mut rooms = Rooms { snapshot, left: Vec::new() };
        if limits.clone().any(|limit| limit.is_some()) {
            rooms.left = limits.map(|limit| limit.map_or(UNLIMITED, i128::from)).collect();
            for object in &snapshot.objects {
                rooms.add(object.pe, -i128::from(object.bytes));
            }
        }
        rooms
    }

    /// Whether any node has a limit.
    pub fn are_limited(&self) -> bool {
        !self.left.is_empty()
    }

    /// Whether an object that is on the PE `from` may go to the PE `to`.
    #[inline]
    pub fn fits(&self, object: &Object, from: u32, to: u32) -> bool {
        self.left.is_empty() || self.node(from) == self.node(to) || self.left(to) >= i128::from(object.bytes)
    }

    /// Whether the node of a PE holds more than it may.
    #[inline]
    pub fn is_exceeded(&self, pe: u32) -> bool {
        self.left(pe) < 0
    }

    /// Whether an object should leave the PE it is on, whatever its load: the PE takes none, or its node holds too much.
    #[inline]
    pub fn must_leave(&self, pe: u32) -> bool {
        !self.snapshot.takes(pe) || self.is_exceeded(pe)
    }

    /// An object goes from one PE to another.
    #[inline]
    pub fn moved(&mut self, object: &Object, from: u32, to: u32) {
        if self.are_limited() && self.node(from) != self.node(to) {
            self.add(from, i128::from(object.bytes));
            self.add(to, -i128::from(object.bytes));
        }
    }

    /// Bytes that are left in the node of a PE; what is not known has no limit.
    fn left(&self, pe: u32) -> i128 {
        self.node(pe).and_then(|node| self.left.get(node)).copied().unwrap_or(UNLIMITED)
    }

    fn add(&mut self, pe: u32, bytes: i128) {
        if let Some(left) = self.node(pe).and_then(|node| self.left.get_mut(node)) {
            *left += bytes;
        }
    }

    fn node(&self, pe: u32) -> Option<usize> {
        self.snapshot.pes.get(pe as usize).map(|pe| pe.node as usize)
    }
}

/// So much that no sum of bytes comes near it.
const UNLIMITED: i128 = 1 << 120;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::line;

    /// Three PEs on two nodes; the second, which has PE 2, may hold 25 bytes.
    fn limited() -> Snapshot {
        let mut snapshot = line(3, &[(0, 1.0), (1, 1.0), (2, 1.0)]);
        snapshot.pes[1].node = 0;
        snapshot.nodes[2].memory = Some(25);
        snapshot
    }

    #[test]
    fn what_moves_needs_room_where_it_goes_and_leaves_room() {
        let snapshot = limited();
        let [a, b, c] = [0, 1, 2].map(|object| &snapshot.objects[object]);
        let mut rooms = Rooms::new(&snapshot);
        assert!(rooms.fits(a, 0, 2), "10 bytes to where 15 are left");
        rooms.moved(a, 0, 2);
        assert!(!rooms.fits(b, 1, 2), "5 are left");
        rooms.moved(c, 2, 1);
        assert!(rooms.fits(b, 1, 2));
        rooms.moved(b, 1, 0);
        assert!(rooms.fits(b, 0, 2), "inside the node nothing changes");
    }

    #[test]
    fn too_much_makes_objects_leave() {
        let mut snapshot = limited();
        snapshot.objects[2].bytes = 26;
        let rooms = Rooms::new(&snapshot);
        assert_eq!([0, 1, 2].map(|pe| rooms.must_leave(pe)), [false, false, true]);
        assert!(rooms.fits(&snapshot.objects[2], 2, 2), "it may still stay");
    }

    #[test]
    fn without_limits_everything_fits() {
        let snapshot = line(2, &[(0, 1.0)]);
        let rooms = Rooms::new(&snapshot);
        let huge = Object { bytes: u64::MAX, ..snapshot.objects[0] };
        assert!(!rooms.are_limited() && rooms.fits(&huge, 0, 1));
    }
}
