//! The dynamic section: where the tables are that a dynamic linker needs.

use super::Bytes;
use crate::Malformed;

/// A table: its address in the object, and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Table {
    pub at: usize,
    pub len: usize,
}

/// Addresses are those in the object; names are offsets in the table of strings.
#[derive(Debug, Default)]
pub struct Dynamic {
    pub needed: Vec<usize>,
    pub soname: Option<usize>,
    pub rpath: Option<usize>,
    pub runpath: Option<usize>,
    pub strings: Table,
    pub symbols: Option<usize>,
    pub hash: Option<usize>,
    pub gnu_hash: Option<usize>,
    pub symbol_versions: Option<usize>,
    pub versions_needed: Option<usize>,
    pub versions_defined: Option<usize>,
    pub relocations: Table,
    pub plt_relocations: Table,
    pub relative: Table,
    pub init: Option<usize>,
    pub fini: Option<usize>,
    pub preinit_array: Table,
    pub init_array: Table,
    pub fini_array: Table,
    /// References are looked for in the object itself first.
    pub symbolic: bool,
    /// Linked as an executable (`DF_1_PIE`).
    pub executable: bool,
    /// Something that is not done.
    pub unsupported: Option<&'static str>,
}

const SYMBOLIC: usize = 2;
const TEXT_RELOCATIONS: usize = 4;
const PIE: usize = 0x0800_0000;
const RELA: usize = 7;

impl Dynamic {
    /// Reads entries up to the one that ends them.
    pub fn read(bytes: Bytes<'_>) -> Result<Dynamic, Malformed> {
        let mut dynamic = Dynamic::default();
        let mut at = 0;
        loop {
            match (bytes.word(at)?, bytes.word(at + 8)?) {
                (0, _) => return Ok(dynamic),
                (tag, value) => dynamic.add(tag, value),
            }
            at += 16;
        }
    }

    /// Makes addresses relative to where the executable has to be.
    pub fn begin_at(&mut self, start: usize) {
        let less = |at: &mut usize| *at = at.wrapping_sub(start);
        [
            &mut self.symbols,
            &mut self.hash,
            &mut self.gnu_hash,
            &mut self.symbol_versions,
            &mut self.versions_needed,
            &mut self.versions_defined,
            &mut self.init,
            &mut self.fini,
        ]
        .into_iter()
        .flatten()
        .for_each(less);
        [
            &mut self.strings,
            &mut self.relocations,
            &mut self.plt_relocations,
            &mut self.relative,
            &mut self.preinit_array,
            &mut self.init_array,
            &mut self.fini_array,
        ]
        .into_iter()
        .for_each(|table| less(&mut table.at));
    }

    /// Tags: System V ABI, figure 5-10; those of GNU: `elf.h` of the C library.
    fn add(&mut self, tag: usize, value: usize) {
        match tag {
            1 => self.needed.push(value),
            2 => self.plt_relocations.len = value,
            4 => self.hash = Some(value),
            5 => self.strings.at = value,
            6 => self.symbols = Some(value),
            7 => self.relocations.at = value,
            8 => self.relocations.len = value,
            10 => self.strings.len = value,
            12 => self.init = Some(value),
            13 => self.fini = Some(value),
            14 => self.soname = Some(value),
            15 => self.rpath = Some(value),
            16 => self.symbolic = true,
            17 => self.unsupported = Some("relocations without addends"),
            20 if value != RELA => self.unsupported = Some("relocations without addends"),
            22 => self.unsupported = Some("relocations in its code"),
            23 => self.plt_relocations.at = value,
            25 => self.init_array.at = value,
            26 => self.fini_array.at = value,
            27 => self.init_array.len = value,
            28 => self.fini_array.len = value,
            29 => self.runpath = Some(value),
            30 => self.add_flags(value),
            32 => self.preinit_array.at = value,
            33 => self.preinit_array.len = value,
            35 => self.relative.len = value,
            36 => self.relative.at = value,
            0x6fff_fef5 => self.gnu_hash = Some(value),
            0x6fff_fff0 => self.symbol_versions = Some(value),
            0x6fff_fffb => self.executable = value & PIE != 0,
            0x6fff_fffc => self.versions_defined = Some(value),
            0x6fff_fffe => self.versions_needed = Some(value),
            _ => {}
        }
    }

    fn add_flags(&mut self, flags: usize) {
        self.symbolic |= flags & SYMBOLIC != 0;
        if flags & TEXT_RELOCATIONS != 0 {
            self.unsupported = Some("relocations in its code");
        }
    }
}
