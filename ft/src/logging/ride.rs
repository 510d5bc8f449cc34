//! What goes in front of a frame: what its receiver will depend on and may not know.

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::ids::{Incarnation, LogId, Shape};
use super::varint::{Malformed, Reader, put};

/// So much of a log is held by the node's keeper, which has said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stable {
    /// Which log.
    pub log: LogId,
    /// The newest incarnation of that node that is known to who tells.
    pub incarnation: Incarnation,
    /// So many entries.
    pub length: u64,
}

/// What rides on a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ride {
    /// How long the logs of the sender's PEs were, by rank.
    pub lengths: Vec<u64>,
    /// Entries, one's own and others', that are not known to be stable and have not been on this lane before.
    pub batches: Vec<Batch>,
    /// What has become stable since the frame before.
    pub stable: Vec<Stable>,
}

impl Ride {
    /// Whether it has nothing to tell but lengths.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty() && self.stable.is_empty()
    }

    /// Appends it to a frame's bytes.
    pub fn write(&self, bytes: &mut Vec<u8>, pes_per_node: u32) {
        debug_assert_eq!(self.lengths.len(), pes_per_node as usize, "one length for each PE");
        self.lengths.iter().for_each(|length| put(bytes, *length));
        put(bytes, self.batches.len() as u64);
        self.batches.iter().for_each(|batch| batch.write(bytes));
        put(bytes, self.stable.len() as u64);
        self.stable.iter().for_each(|stable| stable.write(bytes));
    }

    /// Reads what another node of the same job has written.
    ///
    /// # Errors
    /// If the bytes are anything else, or name a log that there is not.
    pub fn read(bytes: &[u8], shape: Shape) -> Result<Self, Malformed> {
        let (mut reader, pes) = (Reader::new(bytes), shape.pes_per_node);
        let lengths = (0..pes).map(|_| reader.number()).collect::<Result<_, _>>()?;
        let batches = reader.count(BATCH_MIN)?;
        let batches =
            (0..batches).map(|_| Batch::read(&mut reader, Some(pes))).collect::<Result<Vec<_>, _>>()?;
        let stable = reader.count(STABLE_MIN)?;
        let stable = (0..stable).map(|_| Stable::read(&mut reader)).collect::<Result<Vec<_>, _>>()?;
        reader.end()?;
        let mut logs = batches.iter().map(|batch| batch.log).chain(stable.iter().map(|stable| stable.log));
        if logs.any(|log| !shape.has(log)) {
            return Err(Malformed::TooLarge);
        }
        Ok(Ride { lengths, batches, stable })
    }
}

/// Fewest bytes of a batch: five numbers.
pub(super) const BATCH_MIN: usize = 5;
/// And of a length that is stable.
pub(super) const STABLE_MIN: usize = 4;

impl Stable {
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        put(bytes, u64::from(self.log.node));
        put(bytes, u64::from(self.log.rank));
        put(bytes, u64::from(self.incarnation));
        put(bytes, self.length);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let log = LogId { node: reader.number_u32()?, rank: reader.number_u32()? };
        Ok(Stable { log, incarnation: reader.number_u32()?, length: reader.number()? })
    }
}
