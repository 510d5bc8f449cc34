//! Collectives among the neighbours of a topology (MPI-3.1, 7.6 and 7.7).
//!
//! ```
//! # extern crate talisman_core as talisman;
//! use talisman_ampi::api::{Error, Universe, traits::*};
//!
//! /// Each sends one value to the next member, and two to the one after that.
//! fn program(universe: Universe) -> Result<(), Error> {
//!     let (world, rank, size) = (universe.world(), universe.world().rank(), universe.world().size());
//!     let at = |by: i32| (rank + by).rem_euclid(size);
//!     let graph = world.graph(&[at(-1), at(-2)], &[at(1), at(2)])?;
//!     assert_eq!(graph.neighbor_counts()?, (2, 2));
//!     let mut came = [0; 3];
//!     graph.neighbor_all_to_all_varcount_into(&[rank, -1, -1], &[1, 2], &mut came, &[1, 2])?;
//!     assert_eq!(came, [at(-1), -1, -1]);
//!     Ok(())
//! }
//! # talisman_ampi::api::run_alone(5, program);
//! ```

use std::panic::Location;

use super::super::Error;
use super::super::communicator::Communicator;
use super::super::datatype::{
    Buffer, BufferMut, Equivalence, address_of, address_of_mut, basic_values, basics_in,
};
use super::super::request::{Request, Scope};
use super::begin::{Memory, begin_with, checked, even, following};
use super::end;
use crate::collective::{Blocks, Place, Schedule, Span, neighbors};
use crate::comm::topology::Neighbors;
use crate::engine::Token;

/// What goes to each neighbour, and where what comes from each goes; what is there for the ends of a grid stays.
fn schedule(around: &Neighbors, send: &[Span], receive: &[Span]) -> Schedule {
    let sends: Vec<(u32, Span)> =
        around.sending.iter().filter_map(|at| Some((around.destinations[*at]?, send[*at]))).collect();
    let sources = around.sources.iter().zip(receive);
    let receives: Vec<(u32, Span)> = sources.filter_map(|(source, into)| Some(((*source)?, *into))).collect();
    neighbors(&sends, &receives)
}

/// `spans` gives as many as there are destinations, and as many as there are sources.
fn begin(
    communicator: Communicator,
    memory: Memory,
    spans: impl FnOnce(usize, usize) -> (Vec<Span>, Vec<Span>),
) -> Result<Token, Error> {
    begin_with(communicator, memory, |process, me| {
        let found = process.comms.get(communicator.handle())?;
        let around = found.topology.as_ref().ok_or(Error::Topology)?.neighbors(me.rank);
        let (send, receive) = spans(around.destinations.len(), around.sources.len());
        Ok(schedule(&around, &send, &receive))
    })
}

fn all(blocks: &Blocks, place: Place) -> Vec<Span> {
    (0..blocks.counts.len() as u32).map(|block| blocks.of(place, block)).collect()
}

fn memory_of<T>(send: &[T], receive: &mut [T]) -> Memory {
    Memory { send: address_of(send), receive: address_of_mut(receive), op: 0 }
}

fn all_gather<T: Equivalence>(
    communicator: Communicator,
    send: &[T],
    receive: &mut [T],
) -> Result<Token, Error> {
    let (sources, _) = communicator.neighbor_counts()?;
    all_gather_varcount(communicator, send, receive, &vec![send.len(); sources])
}

fn all_gather_varcount<T: Equivalence>(
    communicator: Communicator,
    send: &[T],
    receive: &mut [T],
    counts: &[usize],
) -> Result<Token, Error> {
    let (sources, _) = communicator.neighbor_counts()?;
    checked_parts("receive", receive.len(), counts, sources)?;
    begin(communicator, memory_of(send, receive), |destinations, _| {
        let same = basic_values::<T>().span(Place::Send, 0, basics_in::<T>(send.len()));
        (vec![same; destinations], all(&following::<T>(counts), Place::Receive))
    })
}

fn all_to_all<T: Equivalence>(
    communicator: Communicator,
    send: &[T],
    receive: &mut [T],
) -> Result<Token, Error> {
    let (sources, destinations) = communicator.neighbor_counts()?;
    // Who sends to nobody gives nothing, and what comes is as long as what others give.
    let each = send.len().checked_div(destinations).or(receive.len().checked_div(sources)).unwrap_or(0);
    checked("send", send.len(), each * destinations)?;
    checked("receive", receive.len(), each * sources)?;
    begin(communicator, memory_of(send, receive), |destinations, sources| {
        let blocks = |n: usize| even::<T>(n as u32, each);
        (all(&blocks(destinations), Place::Send), all(&blocks(sources), Place::Receive))
    })
}

fn all_to_all_varcount<T: Equivalence>(
    communicator: Communicator,
    (send, send_counts): (&[T], &[usize]),
    (receive, receive_counts): (&mut [T], &[usize]),
) -> Result<Token, Error> {
    let (sources, destinations) = communicator.neighbor_counts()?;
    checked_parts("send", send.len(), send_counts, destinations)?;
    checked_parts("receive", receive.len(), receive_counts, sources)?;
    begin(communicator, memory_of(send, receive), |_, _| {
        let blocks = |counts, place| all(&following::<T>(counts), place);
        (blocks(send_counts, Place::Send), blocks(receive_counts, Place::Receive))
    })
}

/// There is a count for each neighbour, and the buffer has room for all.
fn checked_parts(buffer: &'static str, here: usize, counts: &[usize], neighbors: usize) -> Result<(), Error> {
    checked("list of counts as a", counts.len(), neighbors)?;
    checked(buffer, here, counts.iter().fold(0, |sum, count| sum.saturating_add(*count)))
}

/// A blocking call, and the same begun in a scope. The buffers of both are borrowed until it has ended.
macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident $immediate:ident $text:literal = $begin:ident;)+) => {
        impl Communicator {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// If it has no topology, or the buffers have not a part for each neighbour.
                #[track_caller]
                pub fn $name<S, R>(&self, send: &S, receive: &mut R) -> Result<(), Error>
                where
                    S: Buffer + ?Sized,
                    R: BufferMut<Value = S::Value> + ?Sized,
                {
                    let begun = $begin(*self, send.values(), receive.values_mut())?;
                    end(begun, $text, Location::caller())
                }

                $(#[$doc])*
                /// Begun in a [scope](super::super::scope).
                ///
                /// # Errors
                /// The same.
                pub fn $immediate<'a, 's, S, R>(
                    &self,
                    scope: &'s Scope<'a>,
                    send: &'a S,
                    receive: &'a mut R,
                ) -> Result<Request<'s>, Error>
                where
                    S: Buffer + ?Sized,
                    R: BufferMut<Value = S::Value> + ?Sized,
                {
                    Ok(scope.add($begin(*self, send.values(), receive.values_mut())?, *self))
                }
            )+
        }
    };
}

calls! {
    /// The same values to each, and one block from each, in their order (`MPI_Neighbor_allgather`).
    neighbor_all_gather_into immediate_neighbor_all_gather_into "neighbor_all_gather" = all_gather;
    /// A block to each, and one from each (`MPI_Neighbor_alltoall`).
    neighbor_all_to_all_into immediate_neighbor_all_to_all_into "neighbor_all_to_all" = all_to_all;
}

impl Communicator {
    /// The same values to each, and a block of its own length from each (`MPI_Neighbor_allgatherv`).
    ///
    /// # Errors
    /// If it has no topology, or the buffer has not such a block for each.
    #[track_caller]
    pub fn neighbor_all_gather_varcount_into<S, R>(
        &self,
        send: &S,
        receive: &mut R,
        counts: &[usize],
    ) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        let begun = all_gather_varcount(*self, send.values(), receive.values_mut(), counts)?;
        end(begun, "neighbor_all_gather_varcount", Location::caller())
    }

    /// A block of its own length to each, and one from each (`MPI_Neighbor_alltoallv`).
    ///
    /// # Errors
    /// If it has no topology, or the buffers have not such a block for each.
    #[track_caller]
    pub fn neighbor_all_to_all_varcount_into<S, R>(
        &self,
        send: &S,
        send_counts: &[usize],
        receive: &mut R,
        receive_counts: &[usize],
    ) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        let (send, receive) = ((send.values(), send_counts), (receive.values_mut(), receive_counts));
        end(all_to_all_varcount(*self, send, receive)?, "neighbor_all_to_all_varcount", Location::caller())
    }

    /// The same, begun in a [scope](super::super::scope) (`MPI_Ineighbor_alltoallv`).
    ///
    /// # Errors
    /// The same.
    pub fn immediate_neighbor_all_to_all_varcount_into<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        send_counts: &[usize],
        receive: &'a mut R,
        receive_counts: &[usize],
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        let (send, receive) = ((send.values(), send_counts), (receive.values_mut(), receive_counts));
        Ok(scope.add(all_to_all_varcount(*self, send, receive)?, *self))
    }
}
