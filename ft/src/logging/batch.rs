//! Entries of one log in a row, as they go from node to node: to the keeper, on frames, to whoever replays.

use super::coder::{Coder, ENTRY_MIN};
use super::entry::Entry;
use super::ids::{Incarnation, LogId};
use super::varint::{Malformed, Reader, put};

/// Entries `first ..` of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Whose.
    pub log: LogId,
    /// The newest incarnation of that node that the sender of the batch knows of: beyond the point up to which a
    /// later one was fed, they are void.
    pub incarnation: Incarnation,
    /// The number of the first one.
    pub first: u64,
    /// All of them.
    pub entries: Vec<Entry>,
}

impl Batch {
    /// The number of the first one after them.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.first.saturating_add(self.entries.len() as u64)
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>, pes_per_node: u32) {
        put(bytes, u64::from(self.log.node));
        put(bytes, u64::from(self.log.rank));
        put(bytes, u64::from(self.incarnation));
        put(bytes, self.first);
        put(bytes, self.entries.len() as u64);
        let mut coder = Coder::new(pes_per_node);
        self.entries.iter().for_each(|entry| coder.write(bytes, entry));
    }

    pub(super) fn read(reader: &mut Reader<'_>, pes_per_node: u32) -> Result<Self, Malformed> {
        let log = LogId { node: reader.number_u32()?, rank: reader.number_u32()? };
        let (incarnation, first) = (reader.number_u32()?, reader.number()?);
        let count = reader.count(ENTRY_MIN)?;
        first.checked_add(count as u64).ok_or(Malformed::TooLarge)?;
        let mut coder = Coder::new(pes_per_node);
        let entries = (0..count).map(|_| coder.read(reader)).collect::<Result<_, _>>()?;
        Ok(Batch { log, incarnation, first, entries })
    }
}
