//! Functions that list folders. A rank that does again what it did finds the entries that it found then: others may have made and
//! removed files since.

use std::ffi::{c_char, c_int, c_void};
use std::mem::size_of;
use std::ptr::{copy_nonoverlapping, null_mut};

use ::libc::{DIR, dirent64};

use super::makers::adopt_folder;
use crate::libc::outcome::{Outcome, told};
use crate::libc::pause::{give_way, world_bytes};
use crate::libc::process_number::own_path;
use crate::libc::{errno, functions, paths, set_errno};

/// A string of C.
type Path = *const c_char;
/// What `scandir` leaves out, and its order.
type Filter = Option<unsafe extern "C" fn(*const dirent64) -> c_int>;
type Order = Option<unsafe extern "C" fn(*const c_void, *const c_void) -> c_int>;

functions! {
    "opendir" => open,
    "readdir" => read,
    "readdir64" => read,
    "readdir_r" => read_to,
    "readdir64_r" => read_to,
    "scandir" => scan,
    "scandir64" => scan,
    "glob" => find,
    "glob64" => find,
}

/// A folder that has been opened, or not, as it was when that was first done.
fn opened(folder: *mut DIR) -> *mut DIR {
    let is_open = !folder.is_null();
    let now = || Outcome {
        result: if is_open { 0 } else { -1 },
        error: if is_open { 0 } else { errno() },
        mark: 0,
    };
    let then = told(now).then;
    // SAFETY: a folder that is open; a string of C.
    unsafe {
        match (then.is_done(), is_open) {
            (true, true) => return folder,
            // It has gone since: it has the entries that it had, in the place of this one's.
            (true, false) => return ::libc::opendir(c"/".as_ptr()),
            (false, true) => _ = ::libc::closedir(folder),
            (false, false) => {}
        }
    }
    then.give();
    null_mut()
}

unsafe extern "C" fn open(path: Path) -> *mut DIR {
    // SAFETY: called as C's function is, as all that follow.
    let folder = unsafe {
        give_way();
        ::libc::opendir(own_path(path))
    };
    adopt_folder(opened(folder).addr()) as *mut DIR
}

/// The next entry, in memory of the folder's; null behind the last one.
unsafe extern "C" fn read(folder: *mut DIR) -> *mut dirent64 {
    let mut bytes = [0u8; size_of::<dirent64>()];
    let mut entry = null_mut();
    // SAFETY: a folder that is open, and entries of it, which are not longer than their type.
    let size = world_bytes(&mut bytes, &mut |bytes| unsafe {
        let before = errno();
        set_errno(0);
        entry = ::libc::readdir64(folder);
        if entry.is_null() {
            let error = errno();
            set_errno(if error == 0 { before } else { error });
            return -(error as isize);
        }
        let size = usize::from((*entry).d_reclen).min(bytes.len());
        copy_nonoverlapping(entry.cast(), bytes.as_mut_ptr(), size);
        size.cast_signed()
    });
    match usize::try_from(size) {
        Ok(0) => null_mut(),
        Ok(_) if !entry.is_null() => entry,
        // SAFETY: as above.
        Ok(size) => unsafe { read_again(folder, &bytes[..size]) },
        Err(_) => {
            set_errno(-size as c_int);
            null_mut()
        }
    }
}

/// Gives an entry that the folder had then, where its first one now is, and goes on behind it.
unsafe fn read_again(folder: *mut DIR, then: &[u8]) -> *mut dirent64 {
    // SAFETY: a folder that is open; its memory has room for many entries, and is read anew when a place in it is sought.
    unsafe {
        ::libc::rewinddir(folder);
        let entry = ::libc::readdir64(folder);
        if !entry.is_null() {
            copy_nonoverlapping(then.as_ptr(), entry.cast(), then.len());
            ::libc::seekdir(folder, (*entry).d_off);
        }
        entry
    }
}

unsafe extern "C" fn read_to(folder: *mut DIR, place: *mut dirent64, to: *mut *mut dirent64) -> c_int {
    let before = errno();
    set_errno(0);
    // SAFETY: as above; an entry has its length in front.
    unsafe {
        let entry = read(folder);
        let error = errno();
        set_errno(before);
        *to = null_mut();
        if !entry.is_null() {
            copy_nonoverlapping(entry.cast::<u8>(), place.cast(), usize::from((*entry).d_reclen));
            *to = place;
            return 0;
        }
        error
    }
}

unsafe extern "C" fn scan(path: Path, to: *mut *mut *mut dirent64, filter: Filter, order: Order) -> c_int {
    // SAFETY: as above; memory for what is put there.
    unsafe {
        give_way();
        let folder = opened(::libc::opendir(path));
        if folder.is_null() {
            return -1;
        }
        let before = errno();
        let mut found = Found { entries: null_mut(), count: 0 };
        let error = loop {
            set_errno(0);
            let entry = read(folder);
            if entry.is_null() {
                break errno();
            }
            if filter.is_none_or(|filter| filter(entry) != 0) && !found.add(&*entry) {
                break ::libc::ENOMEM;
            }
        };
        ::libc::closedir(folder);
        if error != 0 {
            found.free();
            set_errno(error);
            return -1;
        }
        set_errno(before);
        if let Some(order) = order.filter(|_| found.count > 1) {
            ::libc::qsort(found.entries.cast(), found.count, size_of::<*mut dirent64>(), Some(order));
        }
        *to = found.entries;
        c_int::try_from(found.count).unwrap_or(c_int::MAX)
    }
}

/// Entries, each of which the program frees, and then all of them.
struct Found {
    entries: *mut *mut dirent64,
    count: usize,
}

impl Found {
    /// # Safety
    /// The program's `free` can be called, and it has not heard of them.
    unsafe fn free(self) {
        // SAFETY: they came from `malloc`.
        unsafe {
            (0..self.count).for_each(|at| ::libc::free((*self.entries.add(at)).cast()));
            ::libc::free(self.entries.cast());
        }
    }

    /// Whether there was memory for one more.
    ///
    /// # Safety
    /// The program's `malloc` can be called.
    unsafe fn add(&mut self, entry: &dirent64) -> bool {
        const MORE: usize = 32;
        let size = usize::from(entry.d_reclen);
        // SAFETY: as many bytes as are asked for.
        unsafe {
            if self.count.is_multiple_of(MORE) {
                let bytes = (self.count + MORE) * size_of::<*mut dirent64>();
                let more = ::libc::realloc(self.entries.cast(), bytes);
                if more.is_null() {
                    return false;
                }
                self.entries = more.cast();
            }
            let copy = ::libc::malloc(size);
            if copy.is_null() {
                return false;
            }
            copy_nonoverlapping((&raw const *entry).cast::<u8>(), copy.cast(), size);
            *self.entries.add(self.count) = copy.cast();
        }
        self.count += 1;
        true
    }
}

/// `glob_t`, with the functions that it looks with.
#[repr(C)]
struct Glob {
    count: usize,
    paths: *mut *mut c_char,
    offset: usize,
    flags: c_int,
    close: usize,
    read: usize,
    open: usize,
    lstat: usize,
    stat: usize,
}

/// It looks with functions of the program's.
const GLOB_ALTDIRFUNC: c_int = 1 << 9;

unsafe extern "C" fn find(
    pattern: Path,
    flags: c_int,
    on_error: Option<extern "C" fn(Path, c_int) -> c_int>,
    to: *mut Glob,
) -> c_int {
    // SAFETY: as above; it is the C library's own type.
    unsafe {
        give_way();
        if flags & GLOB_ALTDIRFUNC != 0 {
            return ::libc::glob(pattern, flags, on_error, to.cast());
        }
        let of_path = |name| paths::symbol(name).unwrap_or(0);
        (*to).close = ::libc::closedir as *const () as usize;
        (*to).read = read as *const () as usize;
        (*to).open = open_to_find as *const () as usize;
        ((*to).lstat, (*to).stat) = (of_path("lstat"), of_path("stat"));
        let result = ::libc::glob(pattern, flags | GLOB_ALTDIRFUNC, on_error, to.cast());
        (*to).flags &= !GLOB_ALTDIRFUNC;
        result
    }
}

/// As [`open`], for as long as the call lasts.
unsafe extern "C" fn open_to_find(path: Path) -> *mut DIR {
    // SAFETY: as above.
    opened(unsafe { ::libc::opendir(path) })
}
