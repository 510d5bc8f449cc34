//! Entries in bytes: four to six for a usual one.
//!
//! | bytes | are |
//! |---|---|
//! | 1 | the kind in the low four bits, its first number in the high four: 15 stands for a number that follows |
//! | 1 – 10 | messages run since the entry before |
//! | … | what else the kind has: counts, how much longer the logs are that it tells of, bytes with their length |
//!
//! A log's length is told as its difference to what was told of it last, so whoever reads has to have read from the
//! beginning: of a segment, of a batch. Both begin with a fresh [`Coder`].

use std::collections::BTreeMap;

use super::entry::{Entry, Input};
use super::varint::{Malformed, Reader, put, put_bytes};
use crate::NodeId;

const LANE: u8 = 0;
const RING: u8 = 1;
const ASIDE: u8 = 2;
const TIMER: u8 = 3;
const DUE: u8 = 4;
const CHORE: u8 = 5;
const COMMAND: u8 = 6;
const VALUE: u8 = 7;
const CUT: u8 = 8;

/// The first number of an entry follows.
const FOLLOWS: u8 = 15;

/// Fewest bytes of an entry.
pub(super) const ENTRY_MIN: usize = 2;

/// What both sides remember of the entries before.
#[derive(Clone, Debug, Default)]
pub(super) struct Coder {
    pes_per_node: usize,
    at: u64,
    lanes: BTreeMap<NodeId, Vec<u64>>,
    rings: BTreeMap<u32, u64>,
}

impl Coder {
    /// For entries of a PE whose node has so many, as all nodes have.
    pub(super) fn new(pes_per_node: u32) -> Self {
        Coder { pes_per_node: pes_per_node as usize, ..Coder::default() }
    }

    pub(super) fn write(&mut self, bytes: &mut Vec<u8>, entry: &Entry) {
        let since = entry.at.wrapping_sub(std::mem::replace(&mut self.at, entry.at));
        let mut head = |kind: u8, number: u64| put_head(bytes, kind, number, since);
        match &entry.input {
            Input::Lane { from, frames, told } => {
                head(LANE, u64::from(*from));
                put(bytes, u64::from(*frames));
                self.write_told(bytes, *from, told);
            }
            Input::Ring { rank, slots, told } => {
                head(RING, u64::from(*rank));
                put(bytes, u64::from(*slots));
                let before = self.rings.insert(*rank, *told).unwrap_or(0);
                put(bytes, told.wrapping_sub(before));
            }
            Input::Aside(messages) => head(ASIDE, u64::from(*messages)),
            Input::Timer(serial) => head(TIMER, *serial),
            Input::Due(which) => head(DUE, u64::from(*which)),
            Input::Chore(which) => head(CHORE, u64::from(*which)),
            Input::Command(packed) => {
                head(COMMAND, 0);
                put_bytes(bytes, packed);
            }
            Input::Value { kind, bytes: packed } => {
                head(VALUE, u64::from(*kind));
                put_bytes(bytes, packed);
            }
            Input::Cut => head(CUT, 0),
        }
    }

    fn write_told(&mut self, bytes: &mut Vec<u8>, from: NodeId, told: &[u64]) {
        let pes = self.pes_per_node;
        let before = self.lanes.entry(from).or_insert_with(|| vec![0; pes]);
        debug_assert_eq!(told.len(), pes, "one length for each PE of a node");
        for (before, length) in before.iter_mut().zip(told) {
            put(bytes, length.wrapping_sub(std::mem::replace(before, *length)));
        }
    }

    pub(super) fn read(&mut self, reader: &mut Reader<'_>) -> Result<Entry, Malformed> {
        let head = reader.byte()?;
        let (kind, number) = (head & 0x0f, head >> 4);
        let number = if number == FOLLOWS { reader.number()? } else { u64::from(number) };
        self.at = self.at.checked_add(reader.number()?).ok_or(Malformed::TooLarge)?;
        let input = self.read_input(kind, number, reader)?;
        Ok(Entry { at: self.at, input })
    }

    fn read_input(&mut self, kind: u8, number: u64, reader: &mut Reader<'_>) -> Result<Input, Malformed> {
        let small = || u32::try_from(number).map_err(|_| Malformed::TooLarge);
        Ok(match kind {
            LANE => {
                let (from, frames) = (small()?, reader.number_u32()?);
                Input::Lane { from, frames, told: self.read_told(from, reader)? }
            }
            RING => {
                let (rank, slots) = (small()?, reader.number_u32()?);
                let told = self.rings.entry(rank).or_default();
                *told = told.wrapping_add(reader.number()?);
                Input::Ring { rank, slots, told: *told }
            }
            ASIDE => Input::Aside(small()?),
            TIMER => Input::Timer(number),
            DUE => Input::Due(small()?),
            CHORE => Input::Chore(small()?),
            COMMAND => Input::Command(reader.bytes()?.to_vec()),
            VALUE => Input::Value { kind: small()?, bytes: reader.bytes()?.to_vec() },
            CUT => Input::Cut,
            _ => return Err(Malformed::UnknownKind(kind)),
        })
    }

    fn read_told(&mut self, from: NodeId, reader: &mut Reader<'_>) -> Result<Vec<u64>, Malformed> {
        if reader.left() < self.pes_per_node {
            return Err(Malformed::Short);
        }
        let pes = self.pes_per_node;
        let told = self.lanes.entry(from).or_insert_with(|| vec![0; pes]);
        for length in told.iter_mut() {
            *length = length.wrapping_add(reader.number()?);
        }
        Ok(told.clone())
    }
}

fn put_head(bytes: &mut Vec<u8>, kind: u8, number: u64, since: u64) {
    let small = u8::try_from(number).unwrap_or(FOLLOWS).min(FOLLOWS);
    bytes.push(kind | small << 4);
    if small == FOLLOWS {
        put(bytes, number);
    }
    put(bytes, since);
}
