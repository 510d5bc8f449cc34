//! `MPI_Reduce`.

use super::halving::Halving;
use super::{Member, Place, Schedule, Span, Values};

/// From so many bytes on, each member combines a part of the vector and the root gathers the parts.
pub(super) const LONG: u64 = 32 << 10;

/// Whether the algorithms for long vectors are used. All members decide alike: count and datatype are the same for all.
pub(super) fn is_long(me: Member, count: u64, values: &Values) -> bool {
    me.size >= 4 && count >= u64::from(me.size) && count * values.size >= LONG
}

/// What all have, combined in the order of ranks, comes to `root`'s receive buffer. `in_place`: the root's operand is
/// there.
pub fn reduce(
    me: Member,
    root: u32,
    count: u64,
    values: &Values,
    in_place: bool,
    commutative: bool,
) -> Schedule {
    let mut schedule = Schedule::new();
    let place = if in_place { Place::Receive } else { Place::Send };
    let (own, result) = (values.span(place, 0, count), values.span(Place::Receive, 0, count));
    if is_long(me, count, values) {
        in_parts(&mut schedule, me, root, own, result, values, commutative);
        return schedule;
    }
    let combined = to_first(&mut schedule, me, own, values);
    if me.rank == 0 && root != 0 {
        schedule.send(root, combined);
    } else if me.rank == 0 {
        schedule.copy(combined, result);
    } else if me.rank == root {
        schedule.receive(0, result);
    }
    schedule
}

/// Up a binomial tree to member 0, whatever the root: so the order is that of ranks, and the bits do not depend on
/// the root. Returns where the values of the member's subtree are.
pub(super) fn to_first(schedule: &mut Schedule, me: Member, own: Span, values: &Values) -> Span {
    let mut spare = [schedule.temporary(values, own.count), schedule.temporary(values, own.count)];
    let mut combined = own;
    for distance in me.doublings() {
        if me.rank & distance != 0 {
            schedule.send(me.rank - distance, combined);
            schedule.wait();
            break;
        }
        if me.rank + distance < me.size {
            schedule.receive(me.rank + distance, spare[0]);
            schedule.wait();
            schedule.combine(combined, spare[0]);
            combined = spare[0];
            spare.swap(0, 1);
        }
    }
    combined
}

fn in_parts(
    schedule: &mut Schedule,
    me: Member,
    root: u32,
    own: Span,
    result: Span,
    values: &Values,
    commutative: bool,
) {
    let whole = schedule.temporary(values, own.count);
    schedule.copy(own, whole);
    let halving = Halving::new(me);
    halving.reduce_scatter(schedule, whole, values, commutative);
    let part = |member: u32, span: Span| {
        halving.number_of(member).map(|number| {
            values.part(span, halving.cut(number, span.count), halving.cut(number + 1, span.count))
        })
    };
    if let Some(mine) = part(me.rank, whole) {
        if me.rank == root {
            schedule.copy(mine, part(me.rank, result).unwrap_or(Span::EMPTY));
        } else {
            schedule.send(root, mine);
        }
    }
    if me.rank == root {
        for member in (0..me.size).filter(|member| *member != root) {
            if let Some(into) = part(member, result) {
                schedule.receive(member, into);
            }
        }
    }
}
