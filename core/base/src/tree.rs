//! The spanning tree of a collection: pure arithmetic over the PEs of the job.

use crate::ids::PeId;

/// Children of a node of the tree. Four keeps a tree over 10,000 PEs seven levels deep, and a parent's sending short.
const FANOUT: u32 = 4;

/// The PEs below `pe` in the tree that has `root` on top.
pub fn children(pe: PeId, root: PeId, pes: u32) -> impl Iterator<Item = PeId> {
    let first = rank(pe, root, pes) as u64 * FANOUT as u64 + 1;
    (first..first + FANOUT as u64)
        .take_while(move |rank| *rank < pes as u64)
        .map(move |rank| at(rank as u32, root, pes))
}

/// How many PEs are in the branch of the tree whose top is `pe`, itself among them.
pub fn branch(pe: PeId, root: PeId, pes: u32) -> u32 {
    let (pes, fanout) = (u64::from(pes), u64::from(FANOUT));
    let top = u64::from(rank(pe, root, pes as u32));
    let (mut first, mut last, mut count) = (top, top, 0);
    while first < pes {
        count += last.min(pes - 1) - first + 1;
        (first, last) = (first * fanout + 1, last * fanout + fanout);
    }
    count as u32
}

/// The PE above `pe`; none above the root.
pub fn parent(pe: PeId, root: PeId, pes: u32) -> Option<PeId> {
    match rank(pe, root, pes) {
        0 => None,
        rank => Some(at((rank - 1) / FANOUT, root, pes)),
    }
}

fn rank(pe: PeId, root: PeId, pes: u32) -> u32 {
    ((pe as u64 + pes as u64 - root as u64) % pes as u64) as u32
}

fn at(rank: u32, root: PeId, pes: u32) -> PeId {
    ((rank as u64 + root as u64) % pes as u64) as PeId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pe_but_the_root_is_the_child_of_its_parent() {
        for (pes, root) in [(1, 0), (2, 1), (5, 3), (100, 99), (1000, 0)] {
            assert_eq!(parent(root, root, pes), None);
            let mut seen = 1;
            for pe in 0..pes {
                for child in children(pe, root, pes) {
                    assert_eq!(parent(child, root, pes), Some(pe));
                    seen += 1;
                }
                let below: u32 = children(pe, root, pes).map(|child| branch(child, root, pes)).sum();
                assert_eq!(branch(pe, root, pes), 1 + below);
            }
            assert_eq!((seen, branch(root, root, pes)), (pes, pes));
        }
    }
}
