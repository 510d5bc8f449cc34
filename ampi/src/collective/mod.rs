//! Collectives: all of MPI-3's, as schedules.
//!
//! A schedule is plain data: rounds of sends, receives and local operations of one rank ([`Schedule`]). A function
//! for each collective makes one, from the rank's number and the sizes alone, never from where ranks are or in which
//! order messages come. So results have the same bits wherever the ranks are and however often they move.
//! [`Collectives`] runs schedules on the engine; blocking ones are waited for, persistent ones are kept.
//!
//! **Order of combining.** Operands are combined in the order of ranks, whatever the root. Only long vectors of a
//! commutative operation are combined in another order, which depends on the number of ranks alone.
//!
//! **Algorithms.** After Thakur, Rabenseifner, Gropp: "Optimization of Collective Communication Operations in MPICH"
//! (2005) and Bruck et al.: "Efficient Algorithms for All-to-All Communications" (1997). Limits between short
//! and long are constants here.

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod gather;
mod halving;
mod inter;
mod neighbor;
mod reduce;
mod reduce_scatter;
mod run;
mod scan;
mod scatter;
mod schedule;
#[cfg(test)]
mod tests;
mod values;

pub use allgather::{allgather, allgatherv};
pub use allreduce::allreduce;
pub use alltoall::{alltoall, alltoallw};
pub use barrier::{barrier, immediate_barrier};
pub use bcast::bcast;
pub use gather::{gather, gatherv};
pub use inter::{
    Root, Sides, inter_allgather, inter_allreduce, inter_alltoall, inter_barrier, inter_bcast,
    inter_from_first, inter_gather, inter_reduce, inter_reduce_scatter, inter_scatter,
};
pub use neighbor::neighbors;
pub use reduce::reduce;
pub use reduce_scatter::reduce_scatter;
pub use run::{Call, Collectives};
pub use scan::{exscan, scan};
pub use scatter::{scatter, scatterv};
pub use schedule::{Place, Schedule, Span, Step};
pub use values::{Blocks, Member, Values};
