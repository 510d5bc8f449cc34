//! A file's tables: for unwinding, and of lines. Each is read when somebody asks for it first.

use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use addr2line::gimli::{EndianSlice, LittleEndian};

use super::frames::Frames;
use super::lines::{Found, Lines};
use crate::elf::Sections;

/// Bytes of a section. They stay, as a file is read once in a process.
pub type Slice = EndianSlice<'static, LittleEndian>;

/// What a file has for debuggers; nothing if it cannot be read.
pub struct DebugFile {
    sections: Option<Sections>,
    frames: OnceLock<Option<Frames>>,
    /// Is filled while it is used.
    lines: Mutex<Option<Option<Lines>>>,
}

impl DebugFile {
    /// Of the file of this path.
    pub fn read(path: &Path) -> DebugFile {
        let sections = File::open(path).ok().and_then(|file| Sections::read(file).ok());
        DebugFile { sections, frames: OnceLock::new(), lines: Mutex::new(None) }
    }

    /// Its tables for unwinding.
    pub fn frames(&self) -> Option<&Frames> {
        self.frames.get_or_init(|| Frames::of(self.sections.as_ref()?)).as_ref()
    }

    /// Function and line of code at this address, as the file has addresses.
    pub fn line_at(&self, address: u64) -> Option<Found> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = lines.get_or_insert_with(|| Lines::of(self.sections.as_ref()?));
        lines.as_ref()?.find(address)
    }
}

/// The bytes of a section; none if there is no such section, or it is compressed.
pub fn slice(sections: &Sections, name: &str) -> Slice {
    EndianSlice::new(sections.bytes(name).unwrap_or_default().leak(), LittleEndian)
}
