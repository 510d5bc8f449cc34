//! Files and folders that ranks of this process have made again, when they did again what they had done.
//!
//! A rank that has made a file and removed it does both again. One that has removed a file of others must not do so again:
//! there may be a new one of that name since. So a rank that does again what it did removes only what was made so.

use std::collections::{HashMap, HashSet};
use std::ffi::{c_char, c_int};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::zeroed;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::with_process_memory;

static MADE: Mutex<Option<HashSet<Identity>>> = Mutex::new(None);

/// Marks of files that are no more where they were, and of those that were made in their place.
static REPLACED: Mutex<Option<HashMap<u64, u64>>> = Mutex::new(None);

/// A file is this one and no other, also of one whose number it has got after its end.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    device: (u32, u32),
    number: u64,
    born: (i64, u32),
    is_file: bool,
}

/// A path as the C library's functions take it.
#[derive(Clone, Copy)]
pub struct Place {
    /// The folder that it begins in.
    pub folder: c_int,
    pub path: *const c_char,
}

impl Place {
    /// From the rank's folder on.
    pub fn at(path: *const c_char) -> Self {
        Place { folder: ::libc::AT_FDCWD, path }
    }

    /// What is there, if anything is; a symbolic link itself.
    pub fn identity(self) -> Option<Identity> {
        self.look(::libc::AT_SYMLINK_NOFOLLOW)
    }

    /// What is opened there, if anything is.
    pub fn target(self) -> Option<Identity> {
        self.look(0)
    }

    fn look(self, flags: c_int) -> Option<Identity> {
        // SAFETY: zero is a value of it.
        let mut seen: ::libc::statx = unsafe { zeroed() };
        let flags = flags | ::libc::AT_EMPTY_PATH;
        let wanted = ::libc::STATX_INO | ::libc::STATX_BTIME | ::libc::STATX_TYPE;
        // SAFETY: a path as the caller of the C library's function has it: the system refuses one that is none.
        let result = unsafe { ::libc::statx(self.folder, self.path, flags, wanted, &raw mut seen) };
        (result == 0).then_some(Identity {
            device: (seen.stx_dev_major, seen.stx_dev_minor),
            number: seen.stx_ino,
            born: (seen.stx_btime.tv_sec, seen.stx_btime.tv_nsec),
            is_file: u32::from(seen.stx_mode) & ::libc::S_IFMT == ::libc::S_IFREG,
        })
    }
}

impl Identity {
    /// Of a file that is open.
    pub fn of(descriptor: c_int) -> Option<Identity> {
        Place { folder: descriptor, path: c"".as_ptr() }.identity()
    }

    pub fn is_file(self) -> bool {
        self.is_file
    }

    /// An even number for a file; 0 for what is none, such as a terminal, which may be another one in another process.
    pub fn mark(self) -> u64 {
        if !self.is_file {
            return 0;
        }
        self.mark_of_any()
    }

    /// The same of whatever it is.
    pub fn mark_of_any(self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        (hasher.finish() & !1).max(2)
    }
}

/// What [`host`] gives where the system does not say which one it is.
const UNKNOWN: u64 = 0;

/// A number for this host, as long as its system runs. To be called with memory of the process.
pub fn host() -> u64 {
    static HOST: OnceLock<u64> = OnceLock::new();
    *HOST.get_or_init(|| {
        std::fs::read("/proc/sys/kernel/random/boot_id").map_or(UNKNOWN, |boot| {
            let mut hasher = DefaultHasher::new();
            boot.hash(&mut hasher);
            hasher.finish().max(1)
        })
    })
}

/// Whether a number is that of this host. To be called with memory of the process.
pub fn is_here(number: u64) -> bool {
    number != UNKNOWN && number == host()
}

/// It was made again.
pub fn note_made(made: Option<Identity>) {
    let Some(made) = made else { return };
    with_process_memory(|| {
        MADE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(made);
    });
}

/// It was made again in the place of the file with this mark.
pub fn note_replaced(then: u64, made: Option<Identity>) {
    note_made(made);
    if let (Some(made), true) = (made, then != 0) {
        with_process_memory(|| {
            let mut replaced = REPLACED.lock().unwrap_or_else(PoisonError::into_inner);
            replaced.get_or_insert_default().insert(then, made.mark());
        });
    }
}

/// Whether it is the file with this mark, or one that was made in its place.
pub fn is_that(then: u64, now: Identity) -> bool {
    let replaced = REPLACED.lock().unwrap_or_else(PoisonError::into_inner);
    let again = replaced.as_ref().and_then(|replaced| replaced.get(&then).copied());
    now.mark() == then || again == Some(now.mark())
}

/// Whether what is there was made again.
pub fn is_made_again(place: Place) -> bool {
    let Some(found) = place.identity() else { return false };
    MADE.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|made| made.contains(&found))
}
