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

use std::panic::Location;

use super::super::Error;
use super::super::communicator::Communicator;
use super::super::datatype::Equivalence;
use super::super::request::{Request, Scope};
use super::super::view::{View, ViewMut};
use super::begin::{Memory, begin_with, checked, members};
use super::end;
use crate::collective::{Place, Span, alltoallw};
use crate::engine::{Buffer, Token};

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
        process.sweep_datatypes();
        let mut made = Vec::new();
        let mut describe = |buffer: Option<Buffer>, place| {
            let buffer = buffer.ok_or(Error::Request)?;
            made.push(buffer.datatype);
            Ok(span(place, &buffer))
        };
        let sent = send.iter().map(|view| describe(view.describe(process), Place::Send));
        let sent = sent.collect::<Result<Vec<Span>, Error>>()?;
        let received = receive.iter_mut().map(|view| describe(view.describe(process), Place::Receive));
        let received = received.collect::<Result<Vec<Span>, Error>>()?;
        // They stay as long as something is under way that may have them.
        for datatype in made {
            process.datatypes.release(datatype).map_err(|_| Error::Request)?;
        }
        Ok(alltoallw(me, Some(&sent), &received))
    })
}

impl Communicator {
    /// Each gives each the values of a view (`MPI_Alltoallw`): there is one for each member, to send and to receive.
    ///
    /// # Errors
    /// If there is not a view for each, or what comes is longer than its view.
    #[track_caller]
    pub fn all_to_all_views<T: Equivalence>(
        &self,
        send: &[View<'_, T>],
        receive: &mut [ViewMut<'_, T>],
    ) -> Result<(), Error> {
        end(begin(*self, send, receive)?, "all_to_all_views", Location::caller())
    }

    /// The same, begun in a [scope](super::super::scope) (`MPI_Ialltoallw`).
    ///
    /// # Errors
    /// The same.
    pub fn immediate_all_to_all_views<'a, 's, T: Equivalence>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a [View<'a, T>],
        receive: &'a mut [ViewMut<'a, T>],
    ) -> Result<Request<'s>, Error> {
        Ok(scope.add(begin(*self, send, receive)?, *self))
    }
}
