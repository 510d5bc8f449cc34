//! `MPI_Allreduce`.

use super::halving::Halving;
use super::reduce::is_long;
use super::{Member, Place, Schedule, Values};

/// What all have, combined, comes to everybody's receive buffer, with the same bits. `in_place`: the operands are
/// there.
pub fn allreduce(me: Member, count: u64, values: &Values, in_place: bool, commutative: bool) -> Schedule {
    let mut schedule = Schedule::new();
    let result = values.span(Place::Receive, 0, count);
    if !in_place {
        schedule.copy(values.span(Place::Send, 0, count), result);
    }
    let halving = Halving::new(me);
    if is_long(me, count, values) {
        halving.reduce_scatter(&mut schedule, result, values, commutative);
        halving.allgather(&mut schedule, result, values);
    } else {
        halving.double(&mut schedule, result, values);
    }
    schedule
}
