//! Where everything lies in the segment: a pure function of how many nodes and PEs share it.

/// Everything that is written by one side lies this far from what another writes: cores fetch lines by adjacent pairs.
pub(super) const LINE: usize = 128;
/// Slots of one direction of a link.
pub(super) const SLOTS: usize = 256;
/// Bytes of one slot: a cache line, so that one transfer between cores brings a whole small message.
pub(super) const SLOT: usize = 64;

const PAGE: usize = 4096;
/// The byte ring of one direction: it stays in a core's second-level cache, and holds eight chunks.
const RING_MAX: usize = 256 << 10;
/// Below this, chunks would be so short that announcing them costs more than copying them.
const RING_MIN: usize = 16 << 10;
/// What the whole mapping may take of each process's addresses. Little of it is ever touched.
const SPACE_MAX: u64 = 4 << 30;

/// Who shares a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Nodes on this host.
    pub nodes: u32,
    /// PEs of each.
    pub pes: u32,
}

/// So many links do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} nodes of {} PEs on one host need more than {} GiB of addresses for their links; use --transport tcp, or more \
     PEs on fewer nodes",
    .0.nodes, .0.pes, SPACE_MAX >> 30
)]
pub struct TooManyLinks(pub Shape);

/// The segment of a shape. All offsets are from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) shape: Shape,
    /// Bytes of each byte ring: a power of two.
    pub(super) ring: usize,
    positions: usize,
    slots: usize,
    bytes: usize,
    /// Bytes of the whole segment.
    pub(super) len: usize,
}

/// One direction of a link, from a PE to the PE of the same rank on another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Direction {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) lane: u32,
}

impl Layout {
    /// The longest byte rings with which the whole stays within its bounds.
    pub(super) fn of(shape: Shape) -> Result<Layout, TooManyLinks> {
        let mut ring = RING_MAX;
        while ring >= RING_MIN {
            if let Some(layout) = Layout::with_ring(shape, ring) {
                return Ok(layout);
            }
            ring /= 2;
        }
        Err(TooManyLinks(shape))
    }

    fn with_ring(shape: Shape, ring: usize) -> Option<Layout> {
        let pes = u64::from(shape.nodes).checked_mul(shape.pes.into())?;
        let links = pes.checked_mul(shape.nodes.saturating_sub(1).into())?;
        let each = (LINE + SLOTS * SLOT + ring) as u64;
        // The parkers and the rounding to pages come on top; they are small beside the links.
        if links.checked_mul(each)? > SPACE_MAX || pes > SPACE_MAX / LINE as u64 {
            return None;
        }
        let (pes, links) = (pes as usize, links as usize);
        let positions = (PAGE + pes * LINE).next_multiple_of(PAGE);
        let slots = (positions + links * LINE).next_multiple_of(PAGE);
        let bytes = slots + links * SLOTS * SLOT;
        Some(Layout { shape, ring, positions, slots, bytes, len: bytes + links * ring })
    }

    /// Where the PE of rank `pe` on `node` shows that it sleeps: a line.
    pub(super) fn parker(&self, node: u32, pe: u32) -> usize {
        assert!(node < self.shape.nodes && pe < self.shape.pes, "PE {pe} of node {node} in {:?}", self.shape);
        PAGE + (node as usize * self.shape.pes as usize + pe as usize) * LINE
    }

    /// Where the receiver of a direction says how far it is: a line.
    pub(super) fn positions(&self, direction: Direction) -> usize {
        self.positions + self.number(direction) * LINE
    }

    /// Where its slots are.
    pub(super) fn slots(&self, direction: Direction) -> usize {
        self.slots + self.number(direction) * SLOTS * SLOT
    }

    /// Where its byte ring is.
    pub(super) fn bytes(&self, direction: Direction) -> usize {
        self.bytes + self.number(direction) * self.ring
    }

    /// Directions are numbered by lane, then sender, then receiver, which is never the sender.
    pub(super) fn number(&self, Direction { from, to, lane }: Direction) -> usize {
        let Shape { nodes, pes } = self.shape;
        assert!(from != to && from < nodes && to < nodes && lane < pes, "lane {lane} from {from} to {to}");
        let others = nodes as usize - 1;
        let to = to as usize - usize::from(to > from);
        (lane as usize * nodes as usize + from as usize) * others + to
    }

    /// How many directions there are.
    pub(super) fn directions(&self) -> usize {
        (self.bytes - self.slots) / (SLOTS * SLOT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(nodes: u32, pes: u32) -> Layout {
        Layout::of(Shape { nodes, pes }).unwrap()
    }

    #[test]
    fn nothing_overlaps_and_everything_is_inside() {
        for (nodes, pes) in [(1, 1), (2, 1), (3, 2), (12, 2), (5, 7)] {
            let layout = layout(nodes, pes);
            let mut pieces = vec![(0, PAGE)];
            for lane in 0..pes {
                for from in 0..nodes {
                    pieces.push((layout.parker(from, lane), LINE));
                    for to in (0..nodes).filter(|&to| to != from) {
                        let direction = Direction { from, to, lane };
                        pieces.push((layout.positions(direction), LINE));
                        pieces.push((layout.slots(direction), SLOTS * SLOT));
                        pieces.push((layout.bytes(direction), layout.ring));
                    }
                }
            }
            pieces.sort_unstable();
            assert!(pieces.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
            assert!(pieces.iter().all(|(at, len)| at % LINE == 0 && at + len <= layout.len));
            assert_eq!(layout.directions(), (nodes * (nodes - 1) * pes) as usize);
        }
    }

    #[test]
    fn rings_shrink_with_many_links_and_too_many_are_refused() {
        assert_eq!(layout(12, 2).ring, RING_MAX);
        let many = layout(64, 16);
        assert!(many.ring < RING_MAX && many.ring >= RING_MIN);
        for (nodes, pes) in [(64, 16), (128, 8), (180, 4), (2, 1024)] {
            assert!(layout(nodes, pes).len as u64 <= SPACE_MAX + (1 << 24));
        }
        for (nodes, pes) in [(1024, 1024), (u32::MAX, u32::MAX), (u32::MAX, 1), (1, u32::MAX)] {
            let shape = Shape { nodes, pes };
            assert_eq!(Layout::of(shape), Err(TooManyLinks(shape)));
        }
    }
}
