//! `MPI_Bcast`.

use super::{Member, Place, Schedule, Span, Values};

/// From so many bytes on, pieces go around instead of the whole going down a tree: each byte leaves a rank twice
/// instead of log2(n) times.
const LONG: u64 = 128 << 10;
/// With fewer members a tree is as good.
const MANY: u32 = 8;

/// The values in `root`'s receive buffer come to everybody's.
pub fn bcast(me: Member, root: u32, count: u64, values: &Values) -> Schedule {
    let mut schedule = Schedule::new();
    let span = values.span(Place::Receive, 0, count);
    if span.bytes >= LONG && me.size >= MANY {
        in_pieces(&mut schedule, me, root, span);
    } else {
        tree(&mut schedule, me, root, |_, _| span);
    }
    schedule
}

/// Down the binomial tree. `part` gives what goes to a subtree: that of the members from the first on, so many,
/// counted from the root.
fn tree(schedule: &mut Schedule, me: Member, root: u32, part: impl Fn(u32, u32) -> Span) {
    let own = me.from_root(root);
    let name = |member: u32| Member { rank: root, size: me.size }.after(member);
    let below = if own.rank == 0 { me.size.next_power_of_two() } else { lowest_bit(own.rank) };
    if own.rank > 0 {
        schedule.receive(name(own.rank - below), part(own.rank, below.min(me.size - own.rank)));
        schedule.wait();
    }
    let mut distance = below / 2;
    while distance > 0 {
        let child = own.rank + distance;
        if child < me.size {
            schedule.send(name(child), part(child, distance.min(me.size - child)));
        }
        distance /= 2;
    }
    schedule.wait();
}

/// Pieces are scattered down the tree and then go around the ring (van de Geijn). They are pieces of the packed
/// bytes, since members may describe the same values by different datatypes.
fn in_pieces(schedule: &mut Schedule, me: Member, root: u32, span: Span) {
    let (whole, own) = (schedule.packed(span.bytes), me.from_root(root));
    let cut = |piece: u32| span.bytes * u64::from(piece) / u64::from(me.size);
    let pieces = |first: u32, n: u32| Values::BYTES.part(whole, cut(first), cut(first + n));
    if own.rank == 0 {
        schedule.copy(span, whole);
    }
    tree(schedule, me, root, pieces);
    for step in 0..me.size - 1 {
        schedule.send(me.after(1), pieces(own.before(step), 1));
        schedule.receive(me.before(1), pieces(own.before(step + 1), 1));
        schedule.wait();
    }
    if own.rank > 0 {
        schedule.copy(whole, span);
    }
}

pub(super) fn lowest_bit(number: u32) -> u32 {
    number & number.wrapping_neg()
}
