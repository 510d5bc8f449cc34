//! What the program that embeds the interfaces does at the calls that are not only MPI's.

use std::ffi::{c_char, c_int, c_void};
use std::io::Write;
use std::ops::Range;
use std::sync::OnceLock;

/// Functions that are called by the rank that calls MPI, on its own thread.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// `MPI_Init` was called: may wait.
    pub init: fn(),
    /// `MPI_Finalize` was called, by all ranks: may wait.
    pub finalize: fn(),
    /// A session begins, or the last one that is open ends: may not wait.
    pub session: fn(is_open: bool),
    /// The job ends with this status: `MPI_Abort`, or an error that is fatal, with a message for people. Does not
    /// return.
    pub abort: fn(status: c_int, message: &str) -> !,
    /// Opens a file as C's function does, for the rank that calls: path, flags, mode.
    pub open: unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int,
    /// Closes such a descriptor.
    pub close: unsafe extern "C" fn(c_int) -> c_int,
    /// Deletes a file.
    pub delete: unsafe extern "C" fn(*const c_char) -> c_int,
    /// Maps memory for the rank that calls, as C's `mmap` does.
    pub map: unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void,
    /// Unmaps it.
    pub unmap: unsafe extern "C" fn(*mut c_void, usize) -> c_int,
    /// The rank reads two words from outside of the job. If it does again what it did, it gets what it got then, and nothing is read.
    pub world: fn(read: &mut dyn FnMut() -> [u64; 2]) -> [u64; 2],
    /// The same of bytes: how many it gets, or a negative number where there are none.
    pub world_bytes: fn(place: &mut [u8], read: &mut ReadBytes<'_>) -> isize,
    /// Bytes of an open file are about to be written, or cut off.
    pub before_write: fn(descriptor: c_int, bytes: Range<u64>),
    /// All ranks go back to a checkpoint together when a node is lost. What they have made since is still there then.
    pub goes_back: bool,
}

/// Fills a place as far as it can; how far, or a negative number.
pub type ReadBytes<'a> = dyn FnMut(&mut [u8]) -> isize + 'a;

static HOOKS: OnceLock<Hooks> = OnceLock::new();

/// Without an embedder: only the process ends, with a message.
pub(crate) const ALONE: Hooks = Hooks {
    init: nothing,
    finalize: nothing,
    session: |_| {},
    abort: end_the_process,
    open: open_for_the_process,
    close: libc::close,
    delete: libc::unlink,
    map: libc::mmap,
    unmap: libc::munmap,
    world: |read| read(),
    world_bytes: |place, read| read(place),
    before_write: |_, _| {},
    goes_back: false,
};

/// Says what is done at these calls. Once in a process, before the first rank runs; later calls change nothing.
pub fn set_hooks(hooks: Hooks) {
    let _first = HOOKS.set(hooks);
}

/// What is done at them.
pub(crate) fn hooks() -> Hooks {
    *HOOKS.get().unwrap_or(&ALONE)
}

fn nothing() {}

unsafe extern "C" fn open_for_the_process(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    // SAFETY: called as C's function is.
    unsafe { libc::open(path, flags, mode) }
}

fn end_the_process(status: c_int, message: &str) -> ! {
    let _unwritten = writeln!(std::io::stderr(), "{message}");
    std::process::exit(if status == 0 { 1 } else { status })
}
