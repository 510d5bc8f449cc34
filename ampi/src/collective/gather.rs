//! `MPI_Gather`, `MPI_Gatherv`.

use super::bcast::lowest_bit;
use super::{Blocks, Member, Place, Schedule, Span};

/// Up to blocks of so many bytes a tree gathers them: log2(n) messages reach the root instead of n, but bytes are
/// copied on the way.
pub(super) const SHORT: u64 = 2 << 10;

/// Everybody's block comes to `root`'s receive buffer. `own` is the member's block; `None` at the root says that it
/// is in its place already (`MPI_IN_PLACE`). `blocks` are used at the root.
pub fn gather(me: Member, root: u32, own: Option<Span>, blocks: &Blocks) -> Schedule {
    let block = own.map_or_else(|| blocks.of(Place::Receive, me.rank).bytes, |span| span.bytes);
    if block > SHORT {
        return gatherv(me, root, own, blocks);
    }
    let mut schedule = Schedule::new();
    let at = me.from_root(root);
    let below = if at.rank == 0 { me.size } else { lowest_bit(at.rank).min(me.size - at.rank) };
    let subtree = schedule.packed(block * u64::from(below));
    let part = |first: u32, n: u32| sub(subtree, block, first, n);
    schedule.copy(own.unwrap_or_else(|| blocks.of(Place::Receive, me.rank)), part(0, 1));
    let distances = std::iter::successors(Some(1u32), |distance| Some(distance * 2));
    for distance in distances.take_while(|distance| *distance < below) {
        schedule.receive(me.after(distance), part(distance, distance.min(below - distance)));
    }
    schedule.wait();
    if at.rank > 0 {
        schedule.send(me.before(lowest_bit(at.rank)), subtree);
    } else {
        for member in 0..me.size {
            schedule.copy(part(member, 1), blocks.of(Place::Receive, me.after(member)));
        }
    }
    schedule
}

/// As [`gather`] with blocks of different lengths: each straight to the root.
pub fn gatherv(me: Member, root: u32, own: Option<Span>, blocks: &Blocks) -> Schedule {
    let mut schedule = Schedule::new();
    if me.rank != root {
        schedule.send(root, own.unwrap_or(Span::EMPTY));
        return schedule;
    }
    for member in (0..me.size).filter(|member| *member != root) {
        schedule.receive(member, blocks.of(Place::Receive, member));
    }
    if let Some(own) = own {
        schedule.copy(own, blocks.of(Place::Receive, root));
    }
    schedule
}

/// So many blocks of packed bytes.
pub(super) fn sub(whole: Span, block: u64, first: u32, n: u32) -> Span {
    let (first, last) = (u64::from(first) * block, u64::from(first + n) * block);
    super::Values::BYTES.part(whole, first, last)
}
