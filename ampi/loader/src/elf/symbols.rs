//! Symbols of the dynamic symbol table.

use super::{Bytes, Elf};
use crate::Malformed;

/// Length of an entry.
const SYMBOL: usize = 24;
/// Bytes that all names of an object may have.
const NAMES_MAX: usize = 1 << 30;

/// An entry of a symbol table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Offset of its name in the table of strings.
    pub name: usize,
    info: u8,
    other: u8,
    section: u16,
    /// An address in the object, or an offset in its thread-locals.
    pub value: usize,
    /// Bytes.
    pub size: usize,
}

impl Symbol {
    pub fn read(table: Bytes<'_>, index: usize) -> Result<Symbol, Malformed> {
        let at = index.saturating_mul(SYMBOL);
        let entry = Bytes(table.slice(at, SYMBOL)?);
        let ident = entry.slice(4, 2)?;
        Ok(Symbol {
            name: entry.u32(0)? as usize,
            info: ident[0],
            other: ident[1],
            section: entry.u16(6)?,
            value: entry.word(8)?,
            size: entry.word(16)?,
        })
    }

    /// The same, relative to where its executable has to be.
    pub fn begin_at(mut self, start: usize) -> Symbol {
        let is_here = self.is_defined() || self.is_stand_in();
        if is_here && !self.is_absolute() && !self.is_thread_local() {
            self.value = self.value.wrapping_sub(start);
        }
        self
    }

    /// Seen by nobody but its own object.
    pub fn is_local(&self) -> bool {
        self.info >> 4 == 0
    }

    /// A reference that may stay without a definition.
    pub fn is_weak(&self) -> bool {
        self.info >> 4 == 2
    }

    pub fn is_thread_local(&self) -> bool {
        self.info & 15 == 6
    }

    /// A function that says which function it is.
    pub fn is_indirect(&self) -> bool {
        self.info & 15 == 10
    }

    pub fn is_function(&self) -> bool {
        self.is_defined() && matches!(self.info & 15, 2 | 10)
    }

    /// A function or a variable, whose name helps to say where somebody is.
    pub fn is_place(&self) -> bool {
        matches!(self.info & 15, 0 | 1 | 2 | 10)
    }

    /// Its value is no address.
    pub fn is_absolute(&self) -> bool {
        self.section == 0xfff1
    }

    pub fn is_defined(&self) -> bool {
        self.section != 0
    }

    /// A function of a library that has an address in the executable, where a jump to it is: all that take its address
    /// take this one (System V ABI for x86-64, "Function Addresses").
    pub fn is_stand_in(&self) -> bool {
        !self.is_defined() && self.value != 0 && self.info & 15 == 2
    }

    /// References of its own object mean this definition, whoever else defines the name.
    pub fn is_bound_here(&self) -> bool {
        self.is_defined() && (self.is_local() || self.other & 3 != 0)
    }

    /// Whether others may refer to it: global, weak or unique, and neither hidden nor internal.
    pub fn is_exported(&self) -> bool {
        (self.is_defined() || self.is_stand_in())
            && matches!(self.info >> 4, 1 | 2 | 10)
            && matches!(self.other & 3, 0 | 3)
            && matches!(self.info & 15, 0 | 1 | 2 | 5 | 6 | 10)
            && (self.value != 0 || self.is_thread_local() || self.is_absolute())
    }
}

/// All symbols that others may refer to, with their indices.
pub fn exports(elf: &Elf) -> Result<Vec<(u32, Symbol)>, Malformed> {
    let mut exports = Vec::new();
    // Names may share their ends, but that many do not.
    let room = elf.dynamic.strings.len.saturating_mul(8).min(NAMES_MAX);
    let mut names = 0;
    for index in 1..count(elf)? {
        let symbol = elf.symbol(index)?;
        if !symbol.is_exported() {
            continue;
        }
        names += elf.string(symbol.name)?.len();
        if names > room {
            return Err(Malformed { what: "names of symbols overlap", at: symbol.name });
        }
        exports.push((index as u32, symbol));
    }
    Ok(exports)
}

/// Indices of all symbols that others have to define.
pub fn imports(elf: &Elf) -> Result<Vec<usize>, Malformed> {
    let mut imports = Vec::new();
    for index in 1..count(elf)? {
        let symbol = elf.symbol(index)?;
        if !symbol.is_defined() && !symbol.is_local() && symbol.name != 0 {
            imports.push(index);
        }
    }
    Ok(imports)
}

/// How many symbols there are at most that are definitions. The table itself has no length: tables of hashes know.
fn count(elf: &Elf) -> Result<usize, Malformed> {
    if let Some(at) = elf.dynamic.hash {
        return Ok(elf.rest(at)?.u32(4)? as usize);
    }
    elf.dynamic.gnu_hash.map_or(Ok(0), |at| count_hashed(elf.rest(at)?))
}

/// The chain that begins last ends last.
fn count_hashed(table: Bytes<'_>) -> Result<usize, Malformed> {
    let (buckets, first, bloom) = (table.u32(0)? as usize, table.u32(4)? as usize, table.u32(8)? as usize);
    let heads = 16 + bloom * 8;
    let chains = heads + buckets * 4;
    let heads = table.slice(heads, buckets * 4)?;
    let head = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes) as usize;
    let Some(last) = heads.chunks_exact(4).map(head).max().filter(|last| *last >= first) else {
        return Ok(first);
    };
    let mut index = last;
    while table.u32(chains + (index - first) * 4)? & 1 == 0 {
        index += 1;
    }
    Ok(index + 1)
}
