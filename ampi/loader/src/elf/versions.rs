//! Versions of symbols (the Linux Standard Base, "Symbol Versioning").

use std::collections::HashMap;

use super::{Bytes, Elf};
use crate::Malformed;

/// Set in the version of a definition that is not the default one.
const HIDDEN: u16 = 0x8000;
/// Symbols without a version of their own have a number up to this.
const GLOBAL: u16 = 1;
/// The object's own name, which is no version of a symbol.
const BASE: u16 = 1;
/// Numbers have 15 bits.
const VERSIONS_MAX: usize = 1 << 15;
/// The longest in use have 20.
const NAME_MAX: usize = 1024;

/// A version that somebody wants, or defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub name: Vec<u8>,
    /// The library that is expected to have it.
    pub library: Option<Vec<u8>>,
}

/// The version of one definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defined<'a> {
    pub number: u16,
    pub hidden: bool,
    pub name: Option<&'a [u8]>,
}

/// Versions by their numbers.
#[derive(Debug, Default)]
pub struct Versions {
    of_symbols: Option<usize>,
    by_number: HashMap<u16, Version>,
    /// Entries so far: a list that overlaps itself ends here.
    read: usize,
}

impl Versions {
    pub fn read(elf: &Elf) -> Result<Versions, Malformed> {
        let mut versions = Versions { of_symbols: elf.dynamic.symbol_versions, ..Versions::default() };
        if let Some(at) = elf.dynamic.versions_needed {
            versions.read_needed(elf, elf.rest(at)?)?;
        }
        if let Some(at) = elf.dynamic.versions_defined {
            versions.read_defined(elf, elf.rest(at)?)?;
        }
        Ok(versions)
    }

    /// A list of libraries, each with a list of versions.
    fn read_needed(&mut self, elf: &Elf, table: Bytes<'_>) -> Result<(), Malformed> {
        for library in List::new(table, 0, 12) {
            let library = library?;
            let name = elf.string(table.u32(library + 4)? as usize)?;
            let name = &name[..name.len().min(NAME_MAX)];
            let first = library + table.u32(library + 8)? as usize;
            let count = table.u16(library + 2)?;
            for version in List::new(table, first, 12).take(usize::from(count)) {
                let version = version?;
                let wanted = Version {
                    name: elf.string(table.u32(version + 8)? as usize)?.to_vec(),
                    library: Some(name.to_vec()),
                };
                self.add(table.u16(version + 6)?, wanted, version)?;
            }
        }
        Ok(())
    }

    fn read_defined(&mut self, elf: &Elf, table: Bytes<'_>) -> Result<(), Malformed> {
        for version in List::new(table, 0, 16) {
            let version = version?;
            if table.u16(version + 2)? & BASE != 0 {
                continue;
            }
            let name = version + table.u32(version + 12)? as usize;
            let name = elf.string(table.u32(name)? as usize)?.to_vec();
            self.add(table.u16(version + 4)?, Version { name, library: None }, version)?;
        }
        Ok(())
    }

    fn add(&mut self, number: u16, version: Version, at: usize) -> Result<(), Malformed> {
        self.read += 1;
        if self.read > VERSIONS_MAX || version.name.len() > NAME_MAX {
            return Err(Malformed { what: "it has more versions of symbols than there can be", at });
        }
        self.by_number.insert(number & !HIDDEN, version);
        Ok(())
    }

    /// The version that a reference wants.
    pub fn wanted(&self, elf: &Elf, symbol: usize) -> Result<Option<&Version>, Malformed> {
        let Some(number) = self.number(elf, symbol)? else { return Ok(None) };
        Ok(self.by_number.get(&(number & !HIDDEN)))
    }

    /// The version of a definition; none if the object has no versions at all.
    pub fn defined(&self, elf: &Elf, symbol: usize) -> Result<Option<Defined<'_>>, Malformed> {
        let Some(number) = self.number(elf, symbol)? else { return Ok(None) };
        let hidden = number & HIDDEN != 0;
        let number = number & !HIDDEN;
        let named = self.by_number.get(&number).filter(|_| number > GLOBAL);
        Ok(Some(Defined { number, hidden, name: named.map(|version| &version.name[..]) }))
    }

    fn number(&self, elf: &Elf, symbol: usize) -> Result<Option<u16>, Malformed> {
        let Some(at) = self.of_symbols else { return Ok(None) };
        elf.rest(at)?.u16(symbol.saturating_mul(2)).map(Some)
    }
}

/// A list whose entries have the distance to the next one. It only goes up, so it ends.
struct List<'a> {
    table: Bytes<'a>,
    at: Option<usize>,
    /// Where in an entry the distance is.
    next: usize,
}

impl<'a> List<'a> {
    fn new(table: Bytes<'a>, at: usize, next: usize) -> List<'a> {
        List { table, at: Some(at), next }
    }
}

impl Iterator for List<'_> {
    type Item = Result<usize, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at.take()?;
        match self.table.u32(at + self.next) {
            Ok(distance) => {
                self.at = (distance != 0).then(|| at + distance as usize);
                Some(Ok(at))
            }
            Err(fault) => Some(Err(fault)),
        }
    }
}
