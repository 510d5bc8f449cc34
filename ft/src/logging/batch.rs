//! Entries of one log in a row, as they go from node to node: to the keeper, on frames, to whoever replays.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::entries::{self, Entries};
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
    pub entries: Entries,
}

impl Batch {
    /// The number of the first one after them.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.first.saturating_add(self.entries.len() as u64)
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        write_front(bytes, self.log, self.incarnation, self.first);
        self.entries.write(bytes);
    }

    pub(super) fn read(reader: &mut Reader<'_>, pes_per_node: Option<u32>) -> Result<Self, Malformed> {
        Row::read_for(reader, pes_per_node).map(|row| row.batch())
    }
}

/// What stands before the entries of a batch.
pub(super) fn write_front(bytes: &mut Vec<u8>, log: LogId, incarnation: Incarnation, first: u64) {
    put(bytes, u64::from(log.node));
    put(bytes, u64::from(log.rank));
    put(bytes, u64::from(incarnation));
    put(bytes, first);
}

/// A batch where it is written: it was looked at, and nothing is copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) log: LogId,
    pub(super) incarnation: Incarnation,
    pub(super) first: u64,
    pub(super) count: usize,
    /// The entries.
    pub(super) bytes: &'a [u8],
}

impl<'a> Row<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, pes_per_node: u32) -> Result<Self, Malformed> {
        Row::read_for(reader, Some(pes_per_node))
    }

    fn read_for(reader: &mut Reader<'a>, pes_per_node: Option<u32>) -> Result<Self, Malformed> {
        let log = LogId { node: reader.number_u32()?, rank: reader.number_u32()? };
        let (incarnation, first) = (reader.number_u32()?, reader.number()?);
        let (count, bytes) = entries::look_at(reader, pes_per_node)?;
        first.checked_add(count as u64).ok_or(Malformed::TooLarge)?;
        Ok(Row { log, incarnation, first, count, bytes })
    }

    pub(super) fn batch(&self) -> Batch {
        let Row { log, incarnation, first, count, bytes } = *self;
        Batch { log, incarnation, first, entries: Entries::of_row(count, bytes) }
    }
}

/// As bytes, entries as compact as they ride on frames: a log since the job's beginning goes to the leader, and to whoever replays.
impl Serialize for Batch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Batch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Written)
    }
}

/// Reads a batch from its bytes.
struct Written;

impl Visitor<'_> for Written {
    type Value = Batch;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a batch of entries")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Batch, E> {
        let read = || {
            let mut reader = Reader::new(bytes);
            let batch = Batch::read(&mut reader, None)?;
            reader.end().map(|()| batch)
        };
        read().map_err(E::custom)
    }
}
