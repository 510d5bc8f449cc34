//! Bytes of buffers, in the program's memory or in scratch.

use std::borrow::Cow;

use super::{Host, PerformError, Process, Scratch};
use crate::datatype::Datatype;
use crate::engine::{Area, Buffer};

/// The part of a memory in which the values of a buffer lie.
pub(super) struct Extent {
    pub area: Area,
    /// Its first byte.
    pub at: u64,
    pub len: u64,
    /// Where in it displacement 0 is. That may be before it, by a negative number that has wrapped around: displacements
    /// are addresses if a buffer begins at address 0 (`MPI_BOTTOM`).
    pub origin: usize,
}

impl Extent {
    pub fn of(buffer: &Buffer, datatype: &Datatype) -> Extent {
        let (low, high) = datatype.span(buffer.count).unwrap_or_default();
        let at = buffer.at.wrapping_add_signed(low);
        Extent { area: buffer.area, at, len: (high - low) as u64, origin: low.wrapping_neg() as usize }
    }
}

impl Process {
    /// The packed bytes of a buffer; lent if they lie in one piece.
    pub(super) fn packed<'a>(
        &'a self,
        buffer: &Buffer,
        host: &'a impl Host,
    ) -> Result<Cow<'a, [u8]>, PerformError> {
        let datatype = self.datatypes.get(buffer.datatype)?;
        if datatype.is_contiguous() {
            return Ok(Cow::Borrowed(read(self, host, buffer.area, buffer.at, buffer.bytes)?));
        }
        let extent = Extent::of(buffer, datatype);
        let memory = read(self, host, extent.area, extent.at, extent.len)?;
        let mut packed = Vec::new();
        datatype.pack(buffer.count, memory, extent.origin, &mut packed)?;
        Ok(Cow::Owned(packed))
    }

    /// Writes packed bytes into a buffer: as many as there are, and as it has room for.
    pub(super) fn unpack(
        &mut self,
        packed: &[u8],
        buffer: &Buffer,
        host: &mut impl Host,
    ) -> Result<(), PerformError> {
        let packed = &packed[..packed.len().min(buffer.bytes as usize)];
        let datatype = self.datatypes.get(buffer.datatype)?;
        if datatype.is_contiguous() {
            let memory = write(&mut self.scratch, host, buffer.area, buffer.at, packed.len() as u64)?;
            memory.copy_from_slice(packed);
            return Ok(());
        }
        let extent = Extent::of(buffer, datatype);
        let memory = write(&mut self.scratch, host, extent.area, extent.at, extent.len)?;
        Ok(datatype.unpack(buffer.count, packed, memory, extent.origin)?)
    }
}

/// Bytes of an area.
pub(super) fn read<'a>(
    process: &'a Process,
    host: &'a impl Host,
    area: Area,
    at: u64,
    len: u64,
) -> Result<&'a [u8], PerformError> {
    match area {
        Area::Memory => host.read(at, len),
        Area::Scratch(number) => {
            let all = process.scratch.get(&number).ok_or(PerformError::NoScratch { scratch: number })?;
            range(at, len, all.len()).map(|range| &all[range])
        }
    }
}

/// Bytes of an area, to be written to.
pub(super) fn write<'a>(
    scratch: &'a mut Scratch,
    host: &'a mut impl Host,
    area: Area,
    at: u64,
    len: u64,
) -> Result<&'a mut [u8], PerformError> {
    match area {
        Area::Memory => host.write(at, len),
        Area::Scratch(number) => {
            let all = scratch.get_mut(&number).ok_or(PerformError::NoScratch { scratch: number })?;
            range(at, len, all.len()).map(|range| &mut all[range])
        }
    }
}

fn range(at: u64, len: u64, of: usize) -> Result<std::ops::Range<usize>, PerformError> {
    let end = at.checked_add(len).filter(|end| *end <= of as u64);
    end.map(|end| at as usize..end as usize).ok_or(PerformError::NoMemory { at, len })
}
