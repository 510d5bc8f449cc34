//! Values that do not follow each other in memory: columns of a matrix, faces of a box (`MPI_Type_vector`).

use std::panic::Location;

use super::datatype::{Equivalence, address_of, address_of_mut};
use super::point_to_point::finish;
use super::{Error, Process, Status, Tag};
use crate::datatype::{Basic, Datatype};
use crate::engine::{Area, Begun, Buffer, Mode};
use crate::process::Process as State;
use crate::rank::call;

/// Blocks of values at even distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    /// How many blocks there are.
    pub count: usize,
    /// Values of a block.
    pub length: usize,
    /// From the beginning of one block to that of the next, in values.
    pub stride: usize,
}

/// Values of a slice, to be sent.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T> {
    values: &'a [T],
    strides: Strides,
}

/// Values of a slice, to be received into.
#[derive(Debug)]
pub struct ViewMut<'a, T> {
    values: &'a mut [T],
    strides: Strides,
}

impl Strides {
    /// Values from the beginning of the first block to the end of the last.
    fn reach(&self) -> usize {
        match self.count {
            0 => 0,
            count => (count - 1).saturating_mul(self.stride).saturating_add(self.length),
        }
    }

    fn check(&self, here: usize) -> Result<(), Error> {
        let wanted = self.reach();
        if wanted <= here { Ok(()) } else { Err(Error::Count { buffer: "strided", here, wanted }) }
    }

    /// A datatype of all blocks, and the buffer that is one of it.
    fn describe<T>(&self, process: &mut State, at: u64) -> Option<Buffer> {
        let (count, length, stride) = (self.count as u64, self.length as u64, self.stride as i64);
        let value = Datatype::of(Basic::Byte).contiguous(size_of::<T>() as u64).ok()?;
        let blocks = value.vector(count, length, stride).ok()?;
        let bytes = blocks.size();
        let datatype = process.datatypes.insert(blocks);
        Some(Buffer { area: Area::Memory, at, count: 1, datatype, bytes })
    }
}

impl<'a, T: Equivalence> View<'a, T> {
    /// Blocks of these values, from the first value on.
    ///
    /// # Errors
    /// If they reach beyond the values.
    pub fn new(values: &'a [T], strides: Strides) -> Result<Self, Error> {
        strides.check(values.len())?;
        Ok(View { values, strides })
    }

    /// A datatype of the blocks, and the buffer that is one of it.
    pub(super) fn describe(&self, process: &mut State) -> Option<Buffer> {
        self.strides.describe::<T>(process, address_of(self.values))
    }

    /// Sends the blocks, one after the other: they may be received as a view or as they follow each other.
    ///
    /// # Errors
    /// If there is no such rank, or the tag is negative.
    #[track_caller]
    pub fn send(&self, to: &Process, tag: Tag) -> Result<(), Error> {
        let (to, at, strides) = (*to, address_of(self.values), self.strides);
        // SAFETY: the values are borrowed until the request has ended.
        let begun = unsafe {
            call(|process, out| {
                let envelope = to.envelope(process, tag)?;
                let buffer = strides.describe::<T>(process, at).ok_or(Error::Request)?;
                let begun = process.engine.begin_blocking_send(Mode::Standard, envelope, buffer, out);
                Ok::<_, Error>((begun, buffer.datatype))
            })
        }??;
        end(Some(begun), "send").map(|_| ())
    }
}

impl<'a, T: Equivalence> ViewMut<'a, T> {
    /// Blocks of these values, from the first value on.
    ///
    /// # Errors
    /// If they reach beyond the values.
    pub fn new(values: &'a mut [T], strides: Strides) -> Result<Self, Error> {
        strides.check(values.len())?;
        Ok(ViewMut { values, strides })
    }

    /// A datatype of the blocks, and the buffer that is one of it.
    pub(super) fn describe(&mut self, process: &mut State) -> Option<Buffer> {
        self.strides.describe::<T>(process, address_of_mut(self.values))
    }

    /// Receives into the blocks, one after the other. Values between them stay as they are.
    ///
    /// # Errors
    /// If there is no such rank, the tag is negative, or the message is longer than the blocks.
    #[track_caller]
    pub fn receive(&mut self, from: &impl super::traits::Source, tag: Option<Tag>) -> Result<Status, Error> {
        let (pattern, communicator) = (from.accepts(tag)?, from.of_communicator());
        let (at, strides) = (address_of_mut(self.values), self.strides);
        // SAFETY: the values are borrowed until the request has ended.
        let begun = unsafe {
            call(|process, out| {
                let buffer = strides.describe::<T>(process, at)?;
                Some((process.engine.begin_blocking_receive(pattern, buffer, out), buffer.datatype))
            })
        }?;
        Status::of(&end(begun, "receive")?, communicator)
    }
}

/// Waits, and frees the datatype.
#[track_caller]
fn end(begun: Option<(Begun, u32)>, name: &'static str) -> Result<crate::engine::Status, Error> {
    let (begun, datatype) = begun.ok_or(Error::Request)?;
    let status = finish(begun, name, Location::caller());
    // SAFETY: no buffer is given.
    unsafe { call(|process, _| process.datatypes.free(datatype).is_ok()) }?;
    status
}
