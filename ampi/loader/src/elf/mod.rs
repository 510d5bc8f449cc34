//! Files in the Executable and Linkable Format, of 64-bit x86-64 alone. Nothing in them is trusted: each number is
//! checked before it is used, and no list can make us allocate more than the file has bytes.

mod build;
mod bytes;
mod dynamic;
mod header;
mod relocations;
mod sections;
mod segments;
mod symbols;
mod versions;

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

pub use bytes::Bytes;
pub use dynamic::{Dynamic, Table};
pub use header::{Header, Identity, PROGRAM_HEADER, identify};
pub use relocations::{Kind, Relocation};
pub use sections::{FullTable, Sections};
pub use segments::{OBJECT_MAX, Segment, Segments};
pub use symbols::Symbol;
pub use versions::{Version, Versions};

use crate::{LoadError, Malformed};

/// A file that was read: an executable or a library.
#[derive(Debug)]
pub struct Elf {
    pub path: PathBuf,
    pub file: File,
    /// Device and inode: the same file may have several paths.
    pub identity: (u64, u64),
    pub header: Header,
    pub segments: Segments,
    pub dynamic: Dynamic,
    pub versions: Versions,
    /// Symbols that others may refer to, with their indices.
    pub exports: Vec<(u32, Symbol)>,
    /// The beginning of the file, up to the last byte that is loaded.
    data: Vec<u8>,
}

/// What a file has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Program,
    /// The same, and it may have to be at an address of its own.
    FixedProgram,
    Library,
}

impl Elf {
    /// Reads a file and checks that it can be loaded.
    pub fn open(path: &Path, role: Role) -> Result<Elf, LoadError> {
        let read = |error| LoadError::Read { path: path.to_owned(), error };
        let damaged = |fault| LoadError::Damaged { path: path.to_owned(), fault };
        // Opening a pipe would wait for who writes to it.
        let is_file = std::fs::metadata(path).map_err(read)?.is_file();
        if !is_file {
            return Err(LoadError::NotElf { path: path.to_owned() });
        }
        let file = File::open(path).map_err(read)?;
        let meta = file.metadata().map_err(read)?;
        let len = usize::try_from(meta.len()).unwrap_or(usize::MAX);
        let header = header_of(&file, path, len)?;
        let table = header.count * PROGRAM_HEADER;
        let table = read_part(&file, header.headers, table, len).map_err(read)?;
        let segments = Segments::read(Bytes(&table), &header, len).map_err(damaged)?;
        check_role(path, &header, &segments, role)?;
        let data = read_part(&file, 0, segments.file_end(), len).map_err(read)?;
        let mut elf = Elf {
            path: path.to_owned(),
            file,
            identity: (meta.dev(), meta.ino()),
            header: Header { entry: header.entry.wrapping_sub(segments.start), ..header },
            segments,
            dynamic: Dynamic::default(),
            versions: Versions::default(),
            exports: Vec::new(),
            data,
        };
        elf.read_dynamic(role)?;
        Ok(elf)
    }

    fn read_dynamic(&mut self, role: Role) -> Result<(), LoadError> {
        let Some(section) = self.segments.dynamic else {
            return Err(LoadError::Static { path: self.path.clone() });
        };
        let bytes = self.bytes_at(section.at, section.file_len);
        self.dynamic = bytes.and_then(Dynamic::read).map_err(|fault| self.damaged(fault))?;
        self.dynamic.begin_at(self.segments.start);
        if role != Role::Library && !self.segments.interpreter {
            let path = self.path.clone();
            let alone = self.dynamic.executable;
            return Err(if alone { LoadError::Static { path } } else { LoadError::Library { path } });
        }
        if let Some(feature) = self.dynamic.unsupported {
            return Err(self.unsupported(feature, "compile all of it with -fPIC or -fPIE"));
        }
        self.versions = Versions::read(self).map_err(|fault| self.damaged(fault))?;
        self.exports = symbols::exports(self).map_err(|fault| self.damaged(fault))?;
        Ok(())
    }

    /// Bytes of the file that are loaded to these addresses of the object.
    pub fn bytes_at(&self, at: usize, len: usize) -> Result<Bytes<'_>, Malformed> {
        self.rest(at)?.slice(0, len).map(Bytes).map_err(|fault| Malformed { at, ..fault })
    }

    /// The same, up to the end of the segment.
    pub fn rest(&self, at: usize) -> Result<Bytes<'_>, Malformed> {
        let outside = Malformed { what: "an address lies in no segment", at };
        let holds = |s: &&Segment| at >= s.at && at - s.at < s.file_len;
        let segment = self.segments.loads.iter().find(holds).ok_or(outside)?;
        let start = segment.offset + (at - segment.at);
        self.data.get(start..segment.offset + segment.file_len).map(Bytes).ok_or(outside)
    }

    /// A name of the table of strings.
    pub fn string(&self, offset: usize) -> Result<&[u8], Malformed> {
        let Table { at, len } = self.dynamic.strings;
        let table = self.rest(at)?.0;
        Bytes(&table[..len.min(table.len())]).name(offset)
    }

    /// The same as text.
    pub fn text(&self, offset: usize) -> Result<String, Malformed> {
        self.string(offset).map(|name| String::from_utf8_lossy(name).into_owned())
    }

    /// Indices of all symbols that others have to define.
    pub fn imports(&self) -> Result<Vec<usize>, LoadError> {
        symbols::imports(self).map_err(|fault| self.damaged(fault))
    }

    /// A symbol by its index, which need not be that of a definition.
    pub fn symbol(&self, index: usize) -> Result<Symbol, Malformed> {
        let table = self.dynamic.symbols;
        let table = table.ok_or(Malformed { what: "it has no table of symbols, but uses it", at: index })?;
        Symbol::read(self.rest(table)?, index).map(|symbol| symbol.begin_at(self.segments.start))
    }

    /// Its own name, else that of its file.
    pub fn name(&self) -> String {
        let soname = self.dynamic.soname.and_then(|offset| self.text(offset).ok());
        let file = || self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        soname.unwrap_or_else(file)
    }

    pub fn damaged(&self, fault: Malformed) -> LoadError {
        LoadError::Damaged { path: self.path.clone(), fault }
    }

    pub fn unsupported(&self, feature: impl Into<String>, advice: &'static str) -> LoadError {
        LoadError::Unsupported { path: self.path.clone(), feature: feature.into(), advice }
    }
}

fn header_of(file: &File, path: &Path, len: usize) -> Result<Header, LoadError> {
    /// Enough for the first line of a script, too.
    const START: usize = 256;
    let start = read_part(file, 0, START.min(len), len)
        .map_err(|error| LoadError::Read { path: path.to_owned(), error })?;
    let path = || path.to_owned();
    match identify(&start) {
        Ok(Identity::Elf(header)) => Ok(header),
        Ok(Identity::Script(interpreter)) => Err(LoadError::Script { path: path(), interpreter }),
        Ok(Identity::Foreign(machine)) => Err(LoadError::Foreign { path: path(), machine }),
        Ok(Identity::Other) => Err(LoadError::NotElf { path: path() }),
        Err(fault) => Err(LoadError::Damaged { path: path(), fault }),
    }
}

fn check_role(path: &Path, header: &Header, segments: &Segments, role: Role) -> Result<(), LoadError> {
    let path = || path.to_owned();
    match (header.movable, segments.interpreter) {
        (false, false) => Err(LoadError::Static { path: path() }),
        (false, true) if role == Role::FixedProgram => Ok(()),
        (false, true) => Err(LoadError::FixedAddress { path: path() }),
        (true, _) if role != Role::Library && header.entry == 0 => Err(LoadError::Library { path: path() }),
        (true, _) => Ok(()),
    }
}

/// At most as much as the file has.
fn read_part(file: &File, at: usize, len: usize, file_len: usize) -> io::Result<Vec<u8>> {
    if at.checked_add(len).is_none_or(|end| end > file_len) {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends too early"));
    }
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, at as u64)?;
    Ok(bytes)
}
