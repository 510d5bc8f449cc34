//! An entry in bytes: six to ten for a usual one. Each is read by itself, so that any row of entries in a log is a slice of its bytes.
//!
//! | bytes | are |
//! |---|---|
//! | 1 | the kind in the low four bits, its first number in the high four: 15 stands for a number that follows |
//! | 1 – 10 | messages run before it |
//! | … | what else the kind has: counts, how long the logs are that it tells of with how many these are, bytes with their length |

use super::entry::{Entry, Input};
use super::varint::{Malformed, Reader, put, put_bytes};

const LANE: u8 = 0;
const RING: u8 = 1;
const IN_ORDER: u8 = 2;
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

pub(super) fn write(bytes: &mut Vec<u8>, entry: &Entry) {
    let mut head = |kind: u8, number: u64| put_head(bytes, kind, number, entry.at);
    match &entry.input {
        Input::Lane { from, frames, told } => {
            head(LANE, u64::from(*from));
            put(bytes, u64::from(*frames));
            put(bytes, told.len() as u64);
            told.iter().for_each(|length| put(bytes, *length));
        }
        Input::Ring { rank, slots, told } => {
            head(RING, u64::from(*rank));
            put(bytes, u64::from(*slots));
            put(bytes, *told);
        }
        Input::InOrder(frames) => head(IN_ORDER, u64::from(*frames)),
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

fn put_head(bytes: &mut Vec<u8>, kind: u8, number: u64, at: u64) {
    let small = u8::try_from(number).unwrap_or(FOLLOWS).min(FOLLOWS);
    bytes.push(kind | small << 4);
    if small == FOLLOWS {
        put(bytes, number);
    }
    put(bytes, at);
}

pub(super) fn read(reader: &mut Reader<'_>) -> Result<Entry, Malformed> {
    let (kind, number, at) = read_head(reader)?;
    let small = || u32::try_from(number).map_err(|_| Malformed::TooLarge);
    let input = match kind {
        LANE => {
            let (from, frames) = (small()?, reader.number_u32()?);
            let told = reader.count(1)?;
            let told = (0..told).map(|_| reader.number()).collect::<Result<_, _>>()?;
            Input::Lane { from, frames, told }
        }
        RING => Input::Ring { rank: small()?, slots: reader.number_u32()?, told: reader.number()? },
        IN_ORDER => Input::InOrder(small()?),
        TIMER => Input::Timer(number),
        DUE => Input::Due(small()?),
        CHORE => Input::Chore(small()?),
        COMMAND => Input::Command(reader.bytes()?.to_vec()),
        VALUE => Input::Value { kind: small()?, bytes: reader.bytes()?.to_vec() },
        CUT => Input::Cut,
        _ => return Err(Malformed::UnknownKind(kind)),
    };
    Ok(Entry { at, input })
}

/// Goes past an entry, which is refused as [`read`] does it; of no more logs of a sender's than its PEs, if it is said how many those are.
pub(super) fn skip(reader: &mut Reader<'_>, pes_per_node: Option<u32>) -> Result<(), Malformed> {
    let (kind, number, _) = read_head(reader)?;
    if kind != TIMER && u32::try_from(number).is_err() {
        return Err(Malformed::TooLarge);
    }
    match kind {
        LANE => {
            reader.number_u32()?;
            let told = reader.count(1)?;
            if pes_per_node.is_some_and(|pes| pes as usize != told) {
                return Err(Malformed::TooLarge);
            }
            (0..told).try_for_each(|_| reader.number().map(drop))
        }
        RING => reader.number_u32().and(reader.number()).map(drop),
        COMMAND | VALUE => reader.bytes().map(drop),
        IN_ORDER | TIMER | DUE | CHORE | CUT => Ok(()),
        _ => Err(Malformed::UnknownKind(kind)),
    }
}

/// Kind, its first number, and messages run.
fn read_head(reader: &mut Reader<'_>) -> Result<(u8, u64, u64), Malformed> {
    let head = reader.byte()?;
    let (kind, number) = (head & 0x0f, head >> 4);
    let number = if number == FOLLOWS { reader.number()? } else { u64::from(number) };
    Ok((kind, number, reader.number()?))
}
