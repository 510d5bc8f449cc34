//! `MPI_Scatter`, `MPI_Scatterv`.

use super::bcast::lowest_bit;
use super::gather::{SHORT, sub};
use super::{Blocks, Member, Place, Schedule, Span};

/// Each member gets its block of `root`'s send buffer. `own` is where it goes; `None` at the root says that it stays
/// where it is (`MPI_IN_PLACE`). `blocks` are used at the root.
pub fn scatter(me: Member, root: u32, own: Option<Span>, blocks: &Blocks) -> Schedule {
    let block = own.map_or_else(|| blocks.of(Place::Send, me.rank).bytes, |span| span.bytes);
    if block > SHORT {
        return scatterv(me, root, own, blocks);
    }
    let mut schedule = Schedule::new();
    let at = me.from_root(root);
    let below = if at.rank == 0 { me.size } else { lowest_bit(at.rank).min(me.size - at.rank) };
    let subtree = schedule.packed(block * u64::from(below));
    let part = |first: u32, n: u32| sub(subtree, block, first, n);
    if at.rank > 0 {
        schedule.receive(me.before(lowest_bit(at.rank)), subtree);
        schedule.wait();
    } else {
        for member in 0..me.size {
            schedule.copy(blocks.of(Place::Send, me.after(member)), part(member, 1));
        }
    }
    let distances = std::iter::successors(Some(1u32), |distance| Some(distance * 2));
    for distance in distances.take_while(|distance| *distance < below) {
        schedule.send(me.after(distance), part(distance, distance.min(below - distance)));
    }
    if let Some(own) = own {
        schedule.copy(part(0, 1), own);
    }
    schedule
}

/// As [`scatter`] with blocks of different lengths: each straight from the root.
pub fn scatterv(me: Member, root: u32, own: Option<Span>, blocks: &Blocks) -> Schedule {
    let mut schedule = Schedule::new();
    if me.rank != root {
        schedule.receive(root, own.unwrap_or(Span::EMPTY));
        return schedule;
    }
    for member in (0..me.size).filter(|member| *member != root) {
        schedule.send(member, blocks.of(Place::Send, member));
    }
    if let Some(own) = own {
        schedule.copy(blocks.of(Place::Send, root), own);
    }
    schedule
}
