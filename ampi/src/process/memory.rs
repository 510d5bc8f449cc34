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
            copy(packed, memory);
            return Ok(());
        }
        let extent = Extent::of(buffer, datatype);
        let memory = write(&mut self.scratch, host, extent.area, extent.at, extent.len)?;
        Ok(datatype.unpack(buffer.count, packed, memory, extent.origin)?)
    }
}

/// Copies bytes to as many others. A few are copied without calling anybody.
#[inline]
pub(super) fn copy(from: &[u8], to: &mut [u8]) {
    const WORD: usize = size_of::<u64>();
    if from.len() != to.len() || from.len() > 2 * WORD {
        return to.copy_from_slice(from);
    }
    let (Some(start), Some(end)) = (from.first_chunk::<WORD>(), from.last_chunk::<WORD>()) else {
        return to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    };
    if let Some(to) = to.first_chunk_mut() {
        *to = *start;
    }
    if let Some(to) = to.last_chunk_mut() {
        *to = *end;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, Head, Owner, Pattern};
    use crate::testing::{BASE, Memory};

    #[test]
    fn as_many_bytes_are_copied_as_there_are() {
        for len in 0..40 {
            let from: Vec<u8> = (1..=len).collect();
            let mut to = vec![0; from.len() + 1];
            copy(&from, &mut to[..from.len()]);
            assert_eq!((&to[..from.len()], to[from.len()]), (&from[..], 0));
        }
    }

    const PATTERN: Pattern = Pattern { context: 0, source: Some(1), tag: Some(3) };
    const HEAD: Head = Head { context: 0, source: 1, tag: 3, number: 0, bytes: 3 };

    /// What a rank that waits for up to four bytes has of three that come; none if they are to be received otherwise.
    fn awaited(prepare: impl FnOnce(&mut Process, &mut Buffer), head: Head) -> Option<Vec<u8>> {
        let mut process = Process::new(Engine::new(0), &crate::comm::World::at_start(2));
        let mut into = Buffer::of_bytes(BASE, 4);
        prepare(&mut process, &mut into);
        process.engine.await_message(PATTERN, into);
        let mut memory = Memory { bytes: vec![0; 5], function: |_| {} };
        let is_received = process.receive_awaited(&head, &[7, 8, 9], &mut memory).unwrap();
        assert_eq!(is_received, process.engine.received().is_some());
        assert_eq!(is_received, process.engine.waits_for().is_none());
        if let Some(status) = process.engine.received() {
            assert_eq!((status.source, status.tag, status.bytes), (Some(1), Some(3), 3));
            // The next one has its turn.
            process.engine.forget_received();
            assert!(process.engine.end_awaited().is_err());
            process.engine.await_message(PATTERN, into);
            assert!(process.engine.meet(&Head { number: head.number + 1, ..head }, 3).is_some());
        }
        is_received.then_some(memory.bytes)
    }

    #[test]
    fn what_a_rank_waits_for_goes_where_it_wants_it() {
        assert_eq!(awaited(|_, _| {}, HEAD), Some(vec![7, 8, 9, 0, 0]));
    }

    #[test]
    fn all_else_is_received_otherwise() {
        assert_eq!(awaited(|_, _| {}, Head { tag: 4, ..HEAD }), None, "it waits for another one");
        assert_eq!(awaited(|_, _| {}, Head { number: 1, ..HEAD }), None, "its turn is later");
        assert_eq!(awaited(|_, _| {}, Head { bytes: 4, ..HEAD }), None, "there are more bytes");
        assert_eq!(awaited(|_, into| into.bytes = 2, HEAD), None, "there is no room");
        let post = |process: &mut Process, into: &mut Buffer| {
            process.engine.receive(PATTERN, *into, Owner::User, &mut Vec::new());
        };
        assert_eq!(awaited(post, HEAD), None, "a receive was posted before");
        let gaps = |process: &mut Process, into: &mut Buffer| {
            let byte = Datatype::of(crate::datatype::Basic::Byte);
            let spread = byte.vector(2, 1, 2).expect("two bytes of three");
            (into.datatype, into.count) = (process.datatypes.insert(spread), 2);
        };
        assert_eq!(awaited(gaps, HEAD), None, "they do not go there in one piece");
    }
}
