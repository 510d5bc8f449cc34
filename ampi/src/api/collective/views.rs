//! Collectives in which each gives each values of its own number and place (`MPI_Alltoallw`).
//!
//! ```
//! # extern crate talisman_core as talisman;
//! use talisman_ampi::api::{Error, Strides, Universe, View, ViewMut, traits::*};
//!
//! const ONE: Strides = Strides { count: 1, length: 1, stride: 1 };
//!
//! /// Each sends a value to each, and has what comes in the first column of a matrix.
//! fn program(universe: Universe) -> Result<(), Error> {
//!     let (world, size) = (universe.world(), universe.world().size() as usize);
//!     let mine: Vec<u64> = (0..size as u64).map(|row| row * 10 + world.rank() as u64).collect();
//!     let mut matrix = vec![0; size * size];
//!     let rows = mine.iter().map(|value| View::new(std::slice::from_ref(value), ONE));
//!     let rows = rows.collect::<Result<Vec<_>, _>>()?;
//!     let columns = matrix.chunks_mut(size).map(|row| ViewMut::new(row, ONE));
//!     let mut columns = columns.collect::<Result<Vec<_>, _>>()?;
//!     world.all_to_all_views(&rows, &mut columns)?;
//!     for (member, row) in matrix.chunks(size).enumerate() {
//!         assert_eq!(row[0], (world.rank() as usize * 10 + member) as u64);
//!     }
//!     Ok(())
//! }
//! # talisman_ampi::api::run_alone(4, program);
//! ```

use super::super::Error;
use super::super::communicator::Communicator;
use super::super::datatype::Equivalence;
use super::super::view::{View, ViewMut};
use super::begin::{Memory, begin_with, checked, members};
use super::calls::calls;
use crate::collective::{Place, Span, alltoallw};
use crate::engine::{Buffer, Token};
use crate::process::Process as State;

/// Where a view lies, by its address.
fn span(place: Place, buffer: &Buffer) -> Span {
    let Buffer { at, count, datatype, bytes, .. } = *buffer;
    Span { place, at: at as i64, count, datatype, bytes }
}

fn begin<T: Equivalence>(
    communicator: Communicator,
    send: &[View<'_, T>],
    receive: &mut [ViewMut<'_, T>],
) -> Result<Token, Error> {
    let members = members(communicator)?;
    checked("list of views to send as a", send.len(), members)?;
    checked("list of views to receive as a", receive.len(), members)?;
    begin_with(communicator, Memory::default(), |process, me| {
        let (send, receive) = spans(process, send, receive)?;
        Ok(alltoallw(me, Some(&send), &receive))
    })
}

fn begin_in_place<T: Equivalence>(
    communicator: Communicator,
    views: &mut [ViewMut<'_, T>],
) -> Result<Token, Error> {
    checked("list of views as a", views.len(), members(communicator)?)?;
    begin_with(communicator, Memory::default(), |process, me| {
        let (_, views) = spans(process, &[], views)?;
        Ok(alltoallw(me, None, &views))
    })
}

/// Where views lie. Their datatypes stay as long as something is under way that may have them.
pub(super) fn spans<T: Equivalence>(
    process: &mut State,
    send: &[View<'_, T>],
    receive: &mut [ViewMut<'_, T>],
) -> Result<(Vec<Span>, Vec<Span>), Error> {
    process.sweep_datatypes();
    let send = send.iter().map(|view| view.describe(process)).collect();
    let receive = receive.iter_mut().map(|view| view.describe(process)).collect();
    let send = described(process, Place::Send, send);
    let receive = described(process, Place::Receive, receive);
    Ok((send?, receive?))
}

/// The spans of what was described. All of the datatypes are released, also if one could not be made.
fn described(process: &mut State, place: Place, buffers: Vec<Option<Buffer>>) -> Result<Vec<Span>, Error> {
    for buffer in buffers.iter().flatten() {
        process.datatypes.release(buffer.datatype).map_err(|_| Error::Request)?;
    }
    buffers
        .iter()
        .map(|buffer| Some(span(place, buffer.as_ref()?)))
        .collect::<Option<_>>()
        .ok_or(Error::Request)
}

calls! { Communicator:
    /// Each gives each the values of a view (`MPI_Alltoallw`): there is one for each member, to send and to receive.
    ///
    /// # Errors
    /// If there is not a view for each, or what comes is longer than its view.
    fn all_to_all_views, immediate_all_to_all_views [T: Equivalence]
        (send: &'a [View<'a, T>], receive: &'a mut [ViewMut<'a, T>]) = begin, "all_to_all_views";

    /// The same where what comes takes the places of what is sent, and is as long.
    ///
    /// # Errors
    /// If there is not a view for each, or what comes is longer than its view.
    fn all_to_all_views_in_place, immediate_all_to_all_views_in_place [T: Equivalence]
        (views: &'a mut [ViewMut<'a, T>]) = begin_in_place, "all_to_all_views";
}
