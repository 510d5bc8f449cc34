//! Relocations: places in an object's data whose values depend on where things are.

use super::{Bytes, Elf, Table};
use crate::Malformed;

/// Length of an entry with addend.
const ENTRY: usize = 24;
/// Words that one bitmap of the compact form covers.
const BITMAP: usize = 63;

/// One place and what it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Address in the object.
    pub at: usize,
    pub kind: Kind,
    /// Index in the table of symbols; 0 for none.
    pub symbol: usize,
    pub addend: usize,
}

/// What a place becomes (System V ABI for x86-64, table 4.10). S: a symbol, A: the addend, B: where the object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    None,
    /// S + A.
    Symbol,
    /// S, which is only called: a jump to it in the executable does not stand in for it.
    Call,
    /// B + A.
    Relative,
    /// The bytes at S.
    Copy,
    /// What the function at B + A returns.
    Indirect,
    /// The block of thread-locals that S is in.
    Module,
    /// Where S is in that block.
    ModuleOffset,
    /// Where S is from the thread pointer.
    ThreadOffset,
    /// A function for that, and its argument.
    ThreadDescriptor,
    /// Not done.
    Other(u32),
}

impl Kind {
    fn of(number: u32) -> Kind {
        match number {
            0 => Kind::None,
            // R_X86_64_64, GLOB_DAT; JUMP_SLOT: for the latter two the addend is zero.
            1 | 6 => Kind::Symbol,
            7 => Kind::Call,
            5 => Kind::Copy,
            // RELATIVE, and RELATIVE64, which is the same where addresses have 64 bits.
            8 | 38 => Kind::Relative,
            16 => Kind::Module,
            17 => Kind::ModuleOffset,
            18 => Kind::ThreadOffset,
            36 => Kind::ThreadDescriptor,
            37 => Kind::Indirect,
            other => Kind::Other(other),
        }
    }

    /// Bytes that are written; those of a copy are the symbol's.
    pub fn len(self) -> usize {
        match self {
            Kind::None | Kind::Copy => 0,
            Kind::ThreadDescriptor => 16,
            _ => 8,
        }
    }
}

impl Elf {
    /// All relocations with addends.
    pub fn relocations(&self) -> Result<impl Iterator<Item = Relocation> + '_, Malformed> {
        let entries = self.entries(self.dynamic.relocations)?;
        Ok(entries.chain(self.entries(self.dynamic.plt_relocations)?))
    }

    fn entries(&self, table: Table) -> Result<impl Iterator<Item = Relocation> + '_, Malformed> {
        let bytes = if table.len == 0 { &[][..] } else { self.bytes_at(table.at, table.len)?.0 };
        let start = self.segments.start;
        let read = move |entry| relocation(Bytes(entry)).ok().map(|relocation| relocation.begin_at(start));
        Ok(bytes.chunks_exact(ENTRY).filter_map(read))
    }

    /// The words whose values are addresses in the object itself, by the compact table (`DT_RELR`): place and value.
    pub fn compact_relocations(&self) -> Result<Vec<(usize, usize)>, Malformed> {
        let table = self.dynamic.relative;
        let mut words = Vec::new();
        if table.len == 0 {
            return Ok(words);
        }
        let mut next = 0;
        for entry in self.bytes_at(table.at, table.len)?.0.chunks_exact(8) {
            let entry = Bytes(entry).word(0)?;
            if entry & 1 == 0 {
                self.add_word(entry, &mut words)?;
                next = entry + 8;
                continue;
            }
            for bit in (0..BITMAP).filter(|bit| entry >> (bit + 1) & 1 == 1) {
                self.add_word(next + bit * 8, &mut words)?;
            }
            next += BITMAP * 8;
        }
        Ok(words)
    }

    /// Places only go up, so there are no more of them than words in the file.
    fn add_word(&self, at: usize, words: &mut Vec<(usize, usize)>) -> Result<(), Malformed> {
        if words.last().is_some_and(|(last, _)| at <= *last) {
            return Err(Malformed { what: "compact relocations are not in order", at });
        }
        words.push((at, self.bytes_at(at, 8)?.word(0)?));
        Ok(())
    }
}

impl Relocation {
    /// The same, relative to where its executable has to be.
    fn begin_at(mut self, start: usize) -> Relocation {
        self.at = self.at.wrapping_sub(start);
        if matches!(self.kind, Kind::Relative | Kind::Indirect) {
            self.addend = self.addend.wrapping_sub(start);
        }
        self
    }
}

fn relocation(entry: Bytes<'_>) -> Result<Relocation, Malformed> {
    let info = entry.word(8)?;
    Ok(Relocation {
        at: entry.word(0)?,
        kind: Kind::of(info as u32),
        symbol: info >> 32,
        addend: entry.word(16)?,
    })
}
