//! `MPI_Alltoall`, `MPI_Alltoallv`, `MPI_Alltoallw`.

use super::gather::sub;
use super::{Blocks, Member, Place, Schedule, Span};

/// Up to blocks of so many bytes, they travel together: log2(n) messages instead of n.
const SHORT: u64 = 256;
/// With fewer members that is no gain.
const MANY: u32 = 8;
/// So many peers at a time: all at once would need as many requests as there are members.
const WINDOW: u32 = 32;

/// Block `j` of member `i`'s send buffer becomes block `i` of member `j`'s receive buffer. Without `send` the blocks
/// are in the receive buffer (`MPI_IN_PLACE`).
pub fn alltoall(me: Member, send: Option<&Blocks>, receive: &Blocks) -> Schedule {
    let block = receive.of(Place::Receive, me.rank).bytes;
    let (place, from) = send.map_or((Place::Receive, receive), |send| (Place::Send, send));
    if block <= SHORT && me.size >= MANY {
        return together(me, block, |peer| from.of(place, peer), receive);
    }
    let spans = |place, blocks: &Blocks| (0..me.size).map(|peer| blocks.of(place, peer)).collect::<Vec<_>>();
    alltoallw(me, send.map(|send| spans(Place::Send, send)).as_deref(), &spans(Place::Receive, receive))
}

/// As [`alltoall`], with spans of any length and datatype for each peer.
pub fn alltoallw(me: Member, send: Option<&[Span]>, receive: &[Span]) -> Schedule {
    let mut schedule = Schedule::new();
    let aside = send.is_none().then(|| set_aside(&mut schedule, receive));
    let send = send.or(aside.as_deref()).unwrap_or_default();
    schedule.copy(send[me.rank as usize], receive[me.rank as usize]);
    for distance in 1..me.size {
        let (to, from) = (me.after(distance), me.before(distance));
        schedule.receive(from, receive[from as usize]);
        schedule.send(to, send[to as usize]);
        if distance % WINDOW == 0 {
            schedule.wait();
        }
    }
    schedule
}

/// What is to be sent out of the receive buffer, before that is overwritten.
fn set_aside(schedule: &mut Schedule, blocks: &[Span]) -> Vec<Span> {
    let copy = |block: &Span| {
        let aside = schedule.packed(block.bytes);
        schedule.copy(*block, aside);
        aside
    };
    blocks.iter().map(copy).collect()
}

/// Bruck: a block for the member at distance d travels by the powers of two that d is the sum of, with all others
/// that do.
fn together(me: Member, block: u64, send: impl Fn(u32) -> Span, receive: &Blocks) -> Schedule {
    let mut schedule = Schedule::new();
    let all = schedule.packed(block * u64::from(me.size));
    let (out, back) =
        (schedule.packed(block * u64::from(me.size)), schedule.packed(block * u64::from(me.size)));
    for distance in 0..me.size {
        schedule.copy(send(me.after(distance)), sub(all, block, distance, 1));
    }
    for by in me.doublings() {
        let moving: Vec<u32> = (0..me.size).filter(|distance| distance & by != 0).collect();
        for (at, distance) in (0..).zip(&moving) {
            schedule.copy(sub(all, block, *distance, 1), sub(out, block, at, 1));
        }
        schedule.send(me.after(by), sub(out, block, 0, moving.len() as u32));
        schedule.receive(me.before(by), sub(back, block, 0, moving.len() as u32));
        schedule.wait();
        for (at, distance) in (0..).zip(&moving) {
            schedule.copy(sub(back, block, at, 1), sub(all, block, *distance, 1));
        }
    }
    for distance in 0..me.size {
        schedule.copy(sub(all, block, distance, 1), receive.of(Place::Receive, me.before(distance)));
    }
    schedule
}
