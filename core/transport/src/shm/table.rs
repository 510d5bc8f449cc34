//! The table before the head of a message that has segments: for each, its length and its alignment.

use super::{SEGMENT_BYTES_MAX, Segment};

/// Bytes of one entry: two words, in the order of the machine.
pub(super) const ENTRY: usize = 16;

/// Appends the entry of a segment.
pub(super) fn push(table: &mut Vec<u8>, segment: &Segment) {
    table.extend_from_slice(&(segment.bytes().len() as u64).to_ne_bytes());
    table.extend_from_slice(&(segment.align() as u64).to_ne_bytes());
}

/// Length and alignment of a segment, by its number.
pub(super) fn entry(table: &[u8], number: usize) -> (u64, u64) {
    let word = |at: usize| u64::from_ne_bytes(table[at..][..8].try_into().expect("eight bytes"));
    (word(number * ENTRY), word(number * ENTRY + 8))
}

/// Whether the segments of a table are, all together, no longer than they may be.
pub(super) fn is_bounded(table: &[u8]) -> bool {
    let mut sum = 0u64;
    (0..table.len() / ENTRY).all(|number| {
        sum = sum.saturating_add(entry(table, number).0);
        sum <= SEGMENT_BYTES_MAX
    })
}
