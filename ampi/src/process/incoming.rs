//! A whole message that comes, whose last bytes may still be where they came in.

use talisman_core::cx::Rest;

use super::{Host, PerformError, Process, memory};
use crate::engine::{Buffer, Head, Whole};

/// The start of a message, and the rest of it.
#[derive(Clone, Copy)]
pub struct Incoming<'a> {
    /// With those of its bytes that come first.
    pub whole: Whole<'a>,
    /// The others.
    pub rest: &'a Rest<'a>,
}

impl<'a> Incoming<'a> {
    /// One whose bytes are all here.
    pub fn of(head: &Head, bytes: &'a [u8]) -> Incoming<'a> {
        Incoming { whole: Whole { head: *head, bytes }, rest: &Rest::NOTHING }
    }

    /// How many bytes.
    pub fn len(&self) -> u64 {
        (self.whole.bytes.len() + self.rest.len()) as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies them to where there is room for all.
    fn copy_to(&self, to: &mut [u8]) {
        let (start, end) = to.split_at_mut(self.whole.bytes.len());
        start.copy_from_slice(self.whole.bytes);
        self.rest.copy_to(end);
    }
}

impl Process {
    /// Writes the bytes of a message into a buffer: as many as that has room for. Those that may go there as they are go once.
    pub(super) fn unpack_incoming(
        &mut self,
        incoming: &Incoming<'_>,
        into: &Buffer,
        host: &mut impl Host,
    ) -> Result<(), PerformError> {
        if incoming.rest.is_empty() {
            return self.unpack(incoming.whole.bytes, into, host);
        }
        if incoming.len() <= into.bytes && self.datatypes.get(into.datatype)?.is_contiguous() {
            incoming.copy_to(memory::write(&mut self.scratch, host, into.area, into.at, incoming.len())?);
            return Ok(());
        }
        let mut bytes = vec![0; incoming.len() as usize];
        incoming.copy_to(&mut bytes);
        self.unpack(&bytes, into, host)
    }
}
