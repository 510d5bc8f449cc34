//! Entries of another node's log that a node holds until they are stable: as they came, on several ways, maybe with gaps.

use std::collections::BTreeMap;

use super::entries::Entries;

/// Parts of less than so many bytes grow by what follows them.
const PART: usize = 2048;

/// Entries of one log by number. No two parts have the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows(BTreeMap<u64, Entries>);

impl Rows {
    /// Entries from this number on. What is there already stays.
    pub(super) fn insert(&mut self, mut first: u64, mut entries: Entries) {
        while !entries.is_empty() {
            let there = self.end_of_part_with(first);
            let skipped = there.saturating_sub(first).min(entries.len() as u64);
            if skipped > 0 {
                entries = entries.after(skipped as usize);
                first += skipped;
                continue;
            }
            let next = self.0.range(first..).next().map_or(u64::MAX, |(next, _)| *next);
            let fits = (next - first).min(entries.len() as u64);
            if fits == entries.len() as u64 {
                return self.put(first, entries);
            }
            self.put(first, entries.first(fits as usize));
            entries = entries.after(fits as usize);
            first += fits;
        }
    }

    /// The same of entries that take these bytes, if they follow the last that is there, and its part grows yet. Whether that is so.
    pub(super) fn append(&mut self, first: u64, count: usize, bytes: &[u8]) -> bool {
        let Some(mut newest) = self.0.last_entry() else { return false };
        let follows = newest.key() + newest.get().len() as u64 == first && newest.get().bytes() < PART;
        if follows {
            newest.get_mut().extend(count, bytes);
        }
        follows
    }

    /// Where the part ends that begins here or before.
    fn end_of_part_with(&self, number: u64) -> u64 {
        self.0.range(..=number).next_back().map_or(0, |(first, part)| first + part.len() as u64)
    }

    fn put(&mut self, first: u64, entries: Entries) {
        if let Some((before, part)) = self.0.range_mut(..first).next_back()
            && before + part.len() as u64 == first
            && part.bytes() < PART
        {
            return part.append(&entries);
        }
        self.0.insert(first, entries);
    }

    /// The number behind the last.
    pub(super) fn end(&self) -> Option<u64> {
        self.0.last_key_value().map(|(first, part)| first + part.len() as u64)
    }

    /// Those from this number on, one row for all that follow each other, with the number of its first.
    pub(super) fn from(&self, from: u64) -> Vec<(u64, Entries)> {
        let begin = self.0.range(..=from).next_back().map_or(from, |(first, _)| *first);
        let mut rows: Vec<(u64, Entries)> = Vec::new();
        for (first, part) in self.0.range(begin..) {
            let skipped = from.saturating_sub(*first);
            let (first, part) = match skipped {
                0 => (*first, part.clone()),
                _ if skipped >= part.len() as u64 => continue,
                _ => (from, part.after(skipped as usize)),
            };
            match rows.last_mut() {
                Some((row, entries)) if *row + entries.len() as u64 == first => entries.append(&part),
                _ => rows.push((first, part)),
            }
        }
        rows
    }

    /// Those before this number go.
    pub(super) fn forget(&mut self, before: u64) {
        while let Some(oldest) = self.0.first_entry().filter(|oldest| *oldest.key() < before) {
            let (first, part) = oldest.remove_entry();
            if first + part.len() as u64 > before {
                self.0.insert(before, part.after((before - first) as usize));
            }
        }
    }

    /// Those from this number on go.
    pub(super) fn truncate(&mut self, end: u64) {
        self.0.split_off(&end);
        if let Some(mut newest) = self.0.last_entry()
            && newest.key() + newest.get().len() as u64 > end
        {
            let kept = (end - newest.key()) as usize;
            *newest.get_mut() = newest.get().first(kept);
        }
    }
}
