//! `MPI_Neighbor_allgather`, `MPI_Neighbor_alltoall` and their kin.

use super::{Schedule, Span};

/// Sends and receives with the neighbours of a topology. Of several edges between two members, the first that one
/// sends on is the first that the other receives on: the lists have to be in such an order
/// ([`comm::topology`](crate::comm)).
pub fn neighbors(sends: &[(u32, Span)], receives: &[(u32, Span)]) -> Schedule {
    let mut schedule = Schedule::new();
    for (from, into) in receives {
        schedule.receive(*from, *into);
    }
    for (to, from) in sends {
        schedule.send(*to, *from);
    }
    schedule
}
