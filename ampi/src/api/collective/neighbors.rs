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

use super::super::Error;
use super::super::communicator::Communicator;
use super::super::datatype::{
    Buffer, BufferMut, Equivalence, address_of, address_of_mut, basic_values, basics_in,
};
use super::super::view::{View, ViewMut};
use super::begin::{Memory, begin_with, checked, checked_parts, spans};
use super::calls::calls;
use super::views;
use crate::collective::{Place, Schedule, Span, neighbors};
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

fn memory_of<T>(send: &[T], receive: &mut [T]) -> Memory {
    Memory { send: address_of(send), receive: address_of_mut(receive), op: 0 }
}

fn all_gather<S, R>(communicator: Communicator, send: &S, receive: &mut R) -> Result<Token, Error>
where
    S: Buffer + ?Sized,
    R: BufferMut<Value = S::Value> + ?Sized,
{
    let (send, receive) = (send.values(), receive.values_mut());
    let (sources, _) = communicator.neighbor_counts()?;
    all_gather_varcount(communicator, send, receive, &vec![send.len(); sources])
}

fn all_gather_varcount<S, R>(
    communicator: Communicator,
    send: &S,
    receive: &mut R,
    counts: &[usize],
) -> Result<Token, Error>
where
    S: Buffer + ?Sized,
    R: BufferMut<Value = S::Value> + ?Sized,
{
    let (send, receive) = (send.values(), receive.values_mut());
    let (sources, _) = communicator.neighbor_counts()?;
    checked_parts("receive", receive.len(), counts, sources)?;
    begin(communicator, memory_of(send, receive), |destinations, _| {
        let same = basic_values::<S::Value>().span(Place::Send, 0, basics_in::<S::Value>(send.len()));
        (vec![same; destinations], spans::<S::Value>(Place::Receive, counts))
    })
}

fn all_to_all<S, R>(communicator: Communicator, send: &S, receive: &mut R) -> Result<Token, Error>
where
    S: Buffer + ?Sized,
    R: BufferMut<Value = S::Value> + ?Sized,
{
    let (send, receive) = (send.values(), receive.values_mut());
    let (sources, destinations) = communicator.neighbor_counts()?;
    // Who sends to nobody gives nothing, and what comes is as long as what others give.
    let each = send.len().checked_div(destinations).or(receive.len().checked_div(sources)).unwrap_or(0);
    checked("send", send.len(), each * destinations)?;
    checked("receive", receive.len(), each * sources)?;
    begin(communicator, memory_of(send, receive), |destinations, sources| {
        let evenly = |place, parts| spans::<S::Value>(place, &vec![each; parts]);
        (evenly(Place::Send, destinations), evenly(Place::Receive, sources))
    })
}

fn all_to_all_varcount<S, R>(
    communicator: Communicator,
    send: &S,
    send_counts: &[usize],
    receive: &mut R,
    receive_counts: &[usize],
) -> Result<Token, Error>
where
    S: Buffer + ?Sized,
    R: BufferMut<Value = S::Value> + ?Sized,
{
    let (send, receive) = (send.values(), receive.values_mut());
    let (sources, destinations) = communicator.neighbor_counts()?;
    checked_parts("send", send.len(), send_counts, destinations)?;
    checked_parts("receive", receive.len(), receive_counts, sources)?;
    begin(communicator, memory_of(send, receive), |_, _| {
        let of = spans::<S::Value>;
        (of(Place::Send, send_counts), of(Place::Receive, receive_counts))
    })
}

/// The views are as many as there are destinations, and as many as there are sources.
fn all_to_all_views<T: Equivalence>(
    communicator: Communicator,
    send: &[View<'_, T>],
    receive: &mut [ViewMut<'_, T>],
) -> Result<Token, Error> {
    let (sources, destinations) = communicator.neighbor_counts()?;
    checked("list of views to send as a", send.len(), destinations)?;
    checked("list of views to receive as a", receive.len(), sources)?;
    begin_with(communicator, Memory::default(), |process, me| {
        let (send, receive) = views::spans(process, send, receive)?;
        let found = process.comms.get(communicator.handle())?;
        let around = found.topology.as_ref().ok_or(Error::Topology)?.neighbors(me.rank);
        Ok(schedule(&around, &send, &receive))
    })
}

calls! { Communicator:
    /// The same values to each, and one block from each, in their order (`MPI_Neighbor_allgather`).
    ///
    /// # Errors
    /// If it has no topology, or the buffers have not a part for each neighbour.
    fn neighbor_all_gather_into, immediate_neighbor_all_gather_into
        [S: Buffer + ?Sized, R: BufferMut<Value = S::Value> + ?Sized] (send: &'a S, receive: &'a mut R)
        = all_gather, "neighbor_all_gather";

    /// A block to each, and one from each (`MPI_Neighbor_alltoall`).
    ///
    /// # Errors
    /// If it has no topology, or the buffers have not a part for each neighbour.
    fn neighbor_all_to_all_into, immediate_neighbor_all_to_all_into
        [S: Buffer + ?Sized, R: BufferMut<Value = S::Value> + ?Sized] (send: &'a S, receive: &'a mut R)
        = all_to_all, "neighbor_all_to_all";

    /// The same values to each, and a block of its own length from each (`MPI_Neighbor_allgatherv`).
    ///
    /// # Errors
    /// If it has no topology, or the buffer has not such a block for each.
    fn neighbor_all_gather_varcount_into, immediate_neighbor_all_gather_varcount_into
        [S: Buffer + ?Sized, R: BufferMut<Value = S::Value> + ?Sized]
        (send: &'a S, receive: &'a mut R, counts: &[usize]) = all_gather_varcount, "neighbor_all_gather_varcount";

    /// A block of its own length to each, and one from each (`MPI_Neighbor_alltoallv`).
    ///
    /// # Errors
    /// If it has no topology, or the buffers have not such a block for each.
    fn neighbor_all_to_all_varcount_into, immediate_neighbor_all_to_all_varcount_into
        [S: Buffer + ?Sized, R: BufferMut<Value = S::Value> + ?Sized]
        (send: &'a S, send_counts: &[usize], receive: &'a mut R, receive_counts: &[usize])
        = all_to_all_varcount, "neighbor_all_to_all_varcount";

    /// The values of a view to each, and those from each into a view (`MPI_Neighbor_alltoallw`).
    ///
    /// # Errors
    /// If it has no topology, there is not a view for each, or what comes is longer than its view.
    fn neighbor_all_to_all_views, immediate_neighbor_all_to_all_views [T: Equivalence]
        (send: &'a [View<'a, T>], receive: &'a mut [ViewMut<'a, T>])
        = all_to_all_views, "neighbor_all_to_all_views";
}
