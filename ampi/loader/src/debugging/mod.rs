//! Where a copy of a program is that does not run: function, file and line, by what its files have for debuggers.
//!
//! Its stack is walked by the tables for unwinding of all files that have a frame on it, the process's own too. Then
//! the frames of the program are looked up. Nothing in a file is trusted: one that is not as it should be says nothing.

mod files;
mod frames;
mod lines;
mod walk;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use files::DebugFile;
pub(crate) use walk::returns;
pub use walk::{Registers, Stack};

use crate::linker::loaded;

/// Files that were read, for the time of the process.
static READ: Mutex<BTreeMap<PathBuf, Arc<DebugFile>>> = Mutex::new(BTreeMap::new());

/// What a file has for debuggers.
fn debug_file(path: &Path) -> Arc<DebugFile> {
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    read.entry(path.to_owned()).or_insert_with(|| Arc::new(DebugFile::read(path))).clone()
}

/// Where the copy at `base` is that does not run, and whose registers and stack are these: its function that has called
/// out of it, with file and line; where those are not known, the nearest name, and the first caller whose line is known.
/// None if no frame of the copy is found. Not to be called by a handler of a signal.
pub fn place_of(base: usize, registers: &Registers, stack: &Stack<'_>) -> Option<String> {
    let addresses = walk::calls(base, registers, stack);
    let (first, callers) = addresses.split_first()?;
    let own = Frame::at(*first)?;
    if own.line.is_some() {
        return Some(own.to_string());
    }
    let mut callers = callers.iter().filter_map(|at| Frame::at(*at));
    match callers.find(|caller| caller.line.is_some()) {
        Some(caller) => Some(format!("{own}, called by {caller}")),
        None => Some(own.to_string()),
    }
}

/// A frame of a program.
struct Frame {
    function: String,
    line: Option<(String, u32)>,
    object: String,
}

impl Frame {
    /// Of code at this address.
    fn at(address: usize) -> Option<Frame> {
        let copy = loaded::at(address)?;
        let object = copy.object_at(address)?;
        let at = address - copy.base - object.offset;
        let known = debug_file(&object.path).line_at((at + object.start) as u64);
        let nearest = || object.name_at(at).map_or("?".to_owned(), |(name, _)| lines::readable(name));
        let (function, line) = known.map_or((None, None), |found| (found.function, found.line));
        Some(Frame { function: function.unwrap_or_else(nearest), line, object: object.name.clone() })
    }
}

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.line {
            Some((file, line)) => write!(f, "{}, {file}:{line}", self.function),
            None => write!(f, "{} in {}", self.function, self.object),
        }
    }
}
