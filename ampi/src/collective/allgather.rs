//! `MPI_Allgather`, `MPI_Allgatherv`.

use super::gather::sub;
use super::{Blocks, Member, Place, Schedule, Span};

/// Up to so many bytes in all, blocks are doubled instead of going around a ring: log2(n) rounds instead of n.
const SHORT: u64 = 32 << 10;

/// Everybody's block comes to everybody. `own` is the member's block; `None` says that it is in its place already
/// (`MPI_IN_PLACE`).
pub fn allgather(me: Member, own: Option<Span>, blocks: &Blocks) -> Schedule {
    let mine = blocks.of(Place::Receive, me.rank);
    if mine.bytes * u64::from(me.size) > SHORT {
        return allgatherv(me, own, blocks);
    }
    let (mut schedule, block) = (Schedule::new(), mine.bytes);
    let all = schedule.packed(block * u64::from(me.size));
    let part = |first: u32, n: u32| sub(all, block, first, n);
    // Bruck: block i is that of the i-th member from this one on.
    schedule.copy(own.unwrap_or(mine), part(0, 1));
    for distance in me.doublings() {
        let n = distance.min(me.size - distance);
        schedule.send(me.before(distance), part(0, n));
        schedule.receive(me.after(distance), part(distance, n));
        schedule.wait();
    }
    for distance in 0..me.size {
        schedule.copy(part(distance, 1), blocks.of(Place::Receive, me.after(distance)));
    }
    schedule
}

/// As [`allgather`] with blocks of different lengths: around a ring.
pub fn allgatherv(me: Member, own: Option<Span>, blocks: &Blocks) -> Schedule {
    let mut schedule = Schedule::new();
    if let Some(own) = own {
        schedule.copy(own, blocks.of(Place::Receive, me.rank));
    }
    for step in 0..me.size - 1 {
        schedule.send(me.after(1), blocks.of(Place::Receive, me.before(step)));
        schedule.receive(me.before(1), blocks.of(Place::Receive, me.before(step + 1)));
        schedule.wait();
    }
    schedule
}
