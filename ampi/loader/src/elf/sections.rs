//! The full table of symbols, which files have that were not stripped. It is not loaded: sections say where it is.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::{Bytes, Symbol};
use crate::Malformed;

/// Length of a section header.
const SECTION: usize = 64;
const SYMBOLS: u32 = 2;
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
                let table = |section| read(file, sections.word(section + 24)?, sections.word(section + 32)?);
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
