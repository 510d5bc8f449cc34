//! Combining values of any datatype.

use talisman_pup::Pup;

use super::memory::{Extent, read, write};
use super::pairs::pairs;
use super::{Host, PerformError, Process, UserCombine};
use crate::datatype::{Datatype, Map};
use crate::engine::{Area, Buffer, Payload};
use crate::op::{Op, Predefined};

/// Operands of an operation of the program: copies, as the program has its memory while it is called.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Operands {
    /// Names the operation.
    pub function: u64,
    /// What the operation was made with besides.
    pub argument: u64,
    /// The left operands.
    pub left: Vec<u8>,
    /// The right operands.
    pub right: Vec<u8>,
    /// Where in both displacement 0 is, as in [`UserCombine`].
    pub origin: u64,
    /// How many values.
    pub count: u64,
    /// The datatype, by its handle.
    pub datatype: u32,
    /// Where the result goes.
    pub into: Place,
}

/// Bytes of a memory of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Place {
    area: Area,
    at: u64,
}

impl Operands {
    /// The call, with the operands where they are: the result is then in `right`.
    pub fn call(&mut self) -> UserCombine<'_> {
        let Operands { function, argument, left, right, origin, count, datatype, .. } = self;
        let (function, argument, origin) = (*function, *argument, *origin as usize);
        UserCombine { function, argument, left, right, origin, count: *count, datatype: *datatype }
    }
}

impl Process {
    /// `into[i] = left[i] op into[i]`. An operation of the program is not called, but its operands are given.
    pub(super) fn combine(
        &mut self,
        op: u32,
        left: &Buffer,
        into: &Buffer,
        host: &mut impl Host,
    ) -> Result<Option<Operands>, PerformError> {
        let (op, datatype) = (self.ops.get(op)?, self.datatypes.get(into.datatype)?);
        let (from, to) = (Extent::of(left, datatype), Extent::of(into, datatype));
        // Both may be in one memory, of which only one can be lent to be written to: the left operands are copied.
        let left = Payload::of(read(self, host, from.area, from.at, from.len)?);
        if let Op::User { function: 0, .. } = op {
            return Err(PerformError::NoFunction { function: 0 });
        }
        if let Op::User { function, argument, .. } = op {
            let left = left.bytes().to_vec();
            let right = read(self, host, to.area, to.at, to.len)?.to_vec();
            let (origin, place) = (to.origin as u64, Place { area: to.area, at: to.at });
            let Buffer { count, datatype, .. } = *into;
            let operands = Operands { function, argument, left, right, origin, count, datatype, into: place };
            return Ok(Some(operands));
        }
        let right = write(&mut self.scratch, host, to.area, to.at, to.len)?;
        match op {
            Op::Predefined(op) => values(op, datatype, into.count, left.bytes(), right, to.origin)?,
            Op::Location(op) => pairs(op, datatype, into.count, left.bytes(), right, to.origin)?,
            Op::User { .. } => {}
        }
        Ok(None)
    }

    /// Writes what an operation of the program has made of its right operands.
    ///
    /// # Errors
    /// If its memory is gone.
    pub fn write_result(
        &mut self,
        into: Place,
        result: &[u8],
        host: &mut impl Host,
    ) -> Result<(), PerformError> {
        let memory = write(&mut self.scratch, host, into.area, into.at, result.len() as u64)?;
        memory.copy_from_slice(result);
        Ok(())
    }
}

pub(super) fn values(
    op: Predefined,
    datatype: &Datatype,
    count: u64,
    left: &[u8],
    right: &mut [u8],
    origin: usize,
) -> Result<(), PerformError> {
    if let (true, Map::Run(basic, _)) = (datatype.is_contiguous(), datatype.map()) {
        return Ok(op.apply(*basic, left, right)?);
    }
    let mut result = Ok(());
    for step in 0..count as i64 {
        datatype.map().each_run(step * datatype.extent().1, &mut |at, basic, n| {
            let start = origin.wrapping_add_signed(at as isize);
            let range = start..start + (n * basic.size()) as usize;
            if result.is_ok() {
                result = op.apply(basic, &left[range.clone()], &mut right[range]);
            }
        });
    }
    Ok(result?)
}
