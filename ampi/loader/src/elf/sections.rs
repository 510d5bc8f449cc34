//! Sections, which are not loaded: the full table of symbols, which files have that were not stripped, and what they have
//! for debuggers.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::{Bytes, Symbol};
use crate::Malformed;

/// Length of a section header.
const SECTION: usize = 64;
/// Where in it a section's place in the file is, and its length.
const OFFSET: usize = 24;
const LENGTH: usize = 32;
/// Types of sections.
const SYMBOLS: u32 = 2;
const NO_BYTES: u32 = 8;
/// A flag of sections.
const COMPRESSED: usize = 1 << 11;
/// Longer tables are not read: they are for messages only.
const TABLE_MAX: usize = 256 << 20;

/// A table of symbols, and its strings.
pub struct FullTable {
    symbols: Vec<u8>,
    strings: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub enum SectionsError {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

impl FullTable {
    /// None if the file was stripped.
    pub fn read(file: &File) -> Result<Option<FullTable>, SectionsError> {
        let header = read(file, 0, SECTION)?;
        let header = Bytes(&header);
        let (at, count) = (header.word(40)?, usize::from(header.u16(60)?));
        let sections = read(file, at, count * SECTION)?;
        let sections = Bytes(&sections);
        for number in 0..count {
            let section = number * SECTION;
            if sections.u32(section + 4)? == SYMBOLS {
                let strings = sections.u32(section + 40)? as usize;
                let table =
                    |section| read(file, sections.word(section + OFFSET)?, sections.word(section + LENGTH)?);
                let (symbols, strings) = (table(section)?, table(strings.saturating_mul(SECTION))?);
                return Ok(Some(FullTable { symbols, strings }));
            }
        }
        Ok(None)
    }

    /// Functions and their names.
    pub fn functions(&self) -> impl Iterator<Item = (Symbol, &[u8])> {
        let (symbols, strings) = (Bytes(&self.symbols), Bytes(&self.strings));
        (1..)
            .map_while(move |index| Symbol::read(symbols, index).ok())
            .filter(Symbol::is_function)
            .filter_map(move |symbol| Some((symbol, strings.name(symbol.name).ok()?)))
    }

    /// Bytes of all names.
    pub fn names_len(&self) -> usize {
        self.strings.len()
    }
}

/// The sections of a file, by their names.
pub struct Sections {
    file: File,
    headers: Vec<u8>,
    names: Vec<u8>,
}

impl Sections {
    /// Reads where they are.
    pub fn read(file: File) -> Result<Sections, SectionsError> {
        let header = read(&file, 0, SECTION)?;
        let header = Bytes(&header);
        let (at, count) = (header.word(40)?, usize::from(header.u16(60)?));
        let headers = read(&file, at, count * SECTION)?;
        let names = usize::from(header.u16(62)?) * SECTION;
        let names =
            read(&file, Bytes(&headers).word(names + OFFSET)?, Bytes(&headers).word(names + LENGTH)?)?;
        Ok(Sections { file, headers, names })
    }

    /// Where a section is when the file is loaded, as the file has addresses; zero if it is not loaded.
    pub fn address(&self, name: &str) -> Option<u64> {
        self.headers().word(self.find(name)? + 16).ok().map(|address| address as u64)
    }

    /// Its bytes. None if it is not there, is compressed, or has none in the file.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let (at, headers) = (self.find(name)?, self.headers());
        let is_plain = headers.word(at + 8).ok()? & COMPRESSED == 0 && headers.u32(at + 4).ok()? != NO_BYTES;
        let place = (headers.word(at + OFFSET).ok()?, headers.word(at + LENGTH).ok()?);
        is_plain.then(|| read(&self.file, place.0, place.1).ok()).flatten()
    }

    fn headers(&self) -> Bytes<'_> {
        Bytes(&self.headers)
    }

    /// Where its header is among all.
    fn find(&self, name: &str) -> Option<usize> {
        let is_it = |at: &usize| {
            let found = self.headers().u32(*at).and_then(|at| Bytes(&self.names).name(at as usize));
            found == Ok(name.as_bytes())
        };
        (0..self.headers.len()).step_by(SECTION).find(is_it)
    }
}

/// At most as much as the file has.
fn read(file: &File, at: usize, len: usize) -> Result<Vec<u8>, SectionsError> {
    let file_len = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    if len > TABLE_MAX || at.checked_add(len).is_none_or(|end| end > file_len) {
        return Err(Malformed { what: "a section lies outside of the file", at }.into());
    }
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, at as u64)?;
    Ok(bytes)
}
