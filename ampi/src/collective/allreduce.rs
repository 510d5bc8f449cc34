//! `MPI_Allreduce`.

use super::halving::Halving;
use super::reduce::{is_long, to_first};
use super::{Member, Place, Schedule, Values, bcast};

/// From so many members on, short vectors go up a tree and down again: 2 (n - 1) messages in all instead of
/// n log2(n). So many ranks share PEs, and wait for each other's work rather than for the network.
const MANY: u32 = 16;

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
    } else if me.size >= MANY {
        let combined = to_first(&mut schedule, me, result, values);
        if me.rank == 0 {
            schedule.copy(combined, result);
        }
        return schedule.then(bcast(me, 0, count, values));
    } else {
        halving.double(&mut schedule, result, values);
    }
    schedule
}
