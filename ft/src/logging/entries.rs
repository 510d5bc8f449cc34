//! Entries in a row, packed: some of them, or more, are copies of bytes.

use std::fmt::{self, Debug, Formatter};

use super::coder::{self, ENTRY_MIN};
use super::entry::Entry;
use super::varint::{Malformed, Reader, put};

/// Consecutive entries of a log, as they were written here, or read and found well-formed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Entries {
    count: usize,
    bytes: Vec<u8>,
}

impl Entries {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// One by one.
    pub fn iter(&self) -> impl Iterator<Item = Entry> + '_ {
        let mut reader = Reader::new(&self.bytes);
        (0..self.count).map(move |_| coder::read(&mut reader).expect(CHECKED))
    }

    /// One more.
    pub fn push(&mut self, entry: &Entry) {
        coder::write(&mut self.bytes, entry);
        self.count += 1;
    }

    /// The bytes of each.
    pub(super) fn packed(&self) -> impl Iterator<Item = &[u8]> + '_ {
        let mut left = &self.bytes[..];
        (0..self.count).map(move |_| {
            let (first, rest) = left.split_at(after(left, 1));
            left = rest;
            first
        })
    }

    /// More of them, which take these bytes.
    pub(super) fn extend(&mut self, count: usize, bytes: &[u8]) {
        self.count += count;
        self.bytes.extend_from_slice(bytes);
    }

    /// More of them.
    pub(super) fn append(&mut self, others: &Entries) {
        self.extend(others.count, &others.bytes);
    }

    /// So many bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Those from the one on that so many precede.
    pub(super) fn after(&self, count: usize) -> Entries {
        let count = count.min(self.count);
        Entries { count: self.count - count, bytes: self.bytes[after(&self.bytes, count)..].to_vec() }
    }

    /// The first so many, at most.
    pub(super) fn first(&self, count: usize) -> Entries {
        let count = count.min(self.count);
        Entries { count, bytes: self.bytes[..after(&self.bytes, count)].to_vec() }
    }

    /// With their number before them.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.count as u64);
        bytes.extend_from_slice(&self.bytes);
    }

    /// So many that were written, or looked at, before.
    pub(super) fn of_row(count: usize, bytes: &[u8]) -> Self {
        Entries { count, bytes: bytes.to_vec() }
    }
}

/// Goes past what somebody has written, who is told of logs by nodes with so many PEs if that is known: how many entries there are, and
/// their bytes.
pub(super) fn look_at<'a>(
    reader: &mut Reader<'a>,
    pes_per_node: Option<u32>,
) -> Result<(usize, &'a [u8]), Malformed> {
    let count = reader.count(ENTRY_MIN)?;
    let all = reader.rest();
    (0..count).try_for_each(|_| coder::skip(reader, pes_per_node))?;
    Ok((count, &all[..all.len() - reader.left()]))
}

const CHECKED: &str = "what is here was written here, or looked at when it was read";

/// How many bytes the first so many entries take.
fn after(bytes: &[u8], count: usize) -> usize {
    let mut reader = Reader::new(bytes);
    (0..count).for_each(|_| coder::skip(&mut reader, None).expect(CHECKED));
    bytes.len() - reader.left()
}

impl FromIterator<Entry> for Entries {
    fn from_iter<I: IntoIterator<Item = Entry>>(all: I) -> Self {
        let mut entries = Entries::default();
        all.into_iter().for_each(|entry| entries.push(&entry));
        entries
    }
}

impl Debug for Entries {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
