//! `MPI_Scan`, `MPI_Exscan`.

use super::{Member, Place, Schedule, Values};

/// Each member gets what those up to it have, combined in their order (Hillis, Steele 1986).
pub fn scan(me: Member, count: u64, values: &Values, in_place: bool) -> Schedule {
    let mut schedule = Schedule::new();
    let result = values.span(Place::Receive, 0, count);
    if !in_place {
        schedule.copy(values.span(Place::Send, 0, count), result);
    }
    let before = schedule.temporary(values, count);
    for distance in me.doublings() {
        if me.rank + distance < me.size {
            schedule.send(me.rank + distance, result);
        }
        if me.rank >= distance {
            schedule.receive(me.rank - distance, before);
            schedule.wait();
            schedule.combine(before, result);
        }
        schedule.wait();
    }
    schedule
}

/// Each member but the first gets what those before it have, combined in their order.
pub fn exscan(me: Member, count: u64, values: &Values, in_place: bool) -> Schedule {
    let mut schedule = Schedule::new();
    let place = if in_place { Place::Receive } else { Place::Send };
    let (result, own) = (values.span(Place::Receive, 0, count), schedule.temporary(values, count));
    schedule.copy(values.span(place, 0, count), own);
    let before = schedule.temporary(values, count);
    for distance in me.doublings() {
        if me.rank + distance < me.size {
            schedule.send(me.rank + distance, own);
        }
        if me.rank >= distance {
            schedule.receive(me.rank - distance, before);
            schedule.wait();
            if distance == 1 {
                schedule.copy(before, result);
            } else {
                schedule.combine(before, result);
            }
            schedule.combine(before, own);
        }
        schedule.wait();
    }
    schedule
}
