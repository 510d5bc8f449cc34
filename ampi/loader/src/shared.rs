//! Libraries that programs share with the process: the C library's own, which exist once in a process.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_int, c_void};
use std::path::Path;
use std::ptr::NonNull;

use crate::LoadError;
use crate::elf::Version;

/// All parts of the GNU C library.
const NAMES: &[&str] = &[
    "libc.so.6",
    "libm.so.6",
    "libmvec.so.1",
    "ld-linux-x86-64.so.2",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "libutil.so.1",
    "libanl.so.1",
    "libresolv.so.2",
];

/// Whether this library is the process's own, too.
pub fn is_shared(soname: &str) -> bool {
    number(soname).is_some()
}

/// Opens all of them that the system has. Ranks hold their addresses, which have to be the same in all processes of a
/// job: so this is done when a process begins, before anything is mapped that others have not. What a program needs that
/// the process itself does not (`libmvec.so.1`) would else be wherever there is room when the program is prepared.
pub fn open_shared_libraries() {
    (0..NAMES.len()).for_each(|number| {
        handle(number, libc::RTLD_NOW);
    });
}

/// Which of them this is.
pub fn number(soname: &str) -> Option<usize> {
    NAMES.iter().position(|name| *name == soname)
}

/// The process's handle of one of them: another number in each process, so no rank has it.
pub fn handle(number: usize, flags: c_int) -> Option<NonNull<c_void>> {
    let name = CString::new(*NAMES.get(number)?).ok()?;
    // SAFETY: a string that lives. What these libraries do when they are opened is the C library's own.
    NonNull::new(unsafe { libc::dlopen(name.as_ptr(), flags) })
}

/// Libraries of the process that a program uses. They stay open: their addresses are in ranks.
#[derive(Debug, Default)]
pub struct Shared {
    libraries: Vec<(String, NonNull<c_void>)>,
    known: HashMap<(Vec<u8>, Vec<u8>), usize>,
}

impl Shared {
    /// Opens a library, if it is not yet.
    pub fn open(&mut self, name: &str, wanted_by: &Path) -> Result<(), LoadError> {
        if self.libraries.iter().any(|(known, _)| known == name) {
            return Ok(());
        }
        let Some(handle) = number(name).and_then(|number| handle(number, libc::RTLD_NOW)) else {
            let (name, wanted_by) = (name.to_owned(), wanted_by.to_owned());
            return Err(LoadError::SharedLibrary { name, wanted_by, error: last_error() });
        };
        self.libraries.push((name.to_owned(), handle));
        Ok(())
    }

    /// The address of a symbol of this version.
    pub fn find(&mut self, name: &[u8], version: Option<&Version>) -> Option<usize> {
        let key = (name.to_vec(), version.map_or(Vec::new(), |version| version.name.clone()));
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let found = self.look_up(&CString::new(name).ok()?, version)?;
        self.known.insert(key, found);
        Some(found)
    }

    fn look_up(&self, name: &CStr, version: Option<&Version>) -> Option<usize> {
        let wanted = match version {
            Some(version) => Some(CString::new(&version.name[..]).ok()?),
            None => None,
        };
        let library = version.and_then(|version| version.library.as_deref());
        // The library that is said to have it first: the others are asked since functions have moved between them.
        let named = |(own, _): &&(String, _)| library.is_some_and(|name| own.as_bytes() == name);
        let first = self.libraries.iter().filter(named);
        let others = self.libraries.iter().filter(|library| !named(library));
        first.chain(others).find_map(|(_, handle)| symbol(*handle, name, wanted.as_deref()))
    }
}

fn symbol(library: NonNull<c_void>, name: &CStr, version: Option<&CStr>) -> Option<usize> {
    // SAFETY: an open library, and strings that live.
    let found = unsafe {
        match version {
            Some(version) => libc::dlvsym(library.as_ptr(), name.as_ptr(), version.as_ptr()),
            None => libc::dlsym(library.as_ptr(), name.as_ptr()),
        }
    };
    (!found.is_null()).then_some(found as usize)
}

fn last_error() -> String {
    // SAFETY: returns null or a string that lives until the next call on this thread.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "for no reason that it gives".into();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
