//! What has to be remembered of an open file.

use std::ffi::{CStr, c_char, c_int};
use std::io::Write;
use std::ptr::null_mut;

use ::libc::{F_GETFD, F_GETFL, F_SETFD, FD_CLOEXEC, O_ACCMODE, O_CLOEXEC, O_RDONLY};

use super::appended::appends;
use super::stand_ins::{StandIns, stand_in, stands_in_again};
use super::{FilesError, gone, stream};
use crate::libc::outcome::may_run_again;
use crate::libc::set_errno;

pub const PATH: usize = ::libc::PATH_MAX as usize;
const NONE: c_int = -1;

/// A descriptor or a stream that was closed for a move, or noted for a copy: plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Departed {
    /// Where the stream is; zero if it is a descriptor.
    file: usize,
    /// Its number, if it has to be the same again.
    descriptor: c_int,
    /// A descriptor before this one that has the same position, or one of the process's own.
    shared: c_int,
    flags: c_int,
    /// How it is locked (`flock`); 0 if it is not.
    lock: c_int,
    position: i64,
    /// What is behind this length was written after a copy was made; -1 if it was none.
    length: i64,
    /// What is in a file without a name that is this rank's alone, in the rank's memory, and how long that is; -1 if it has a name.
    content: *mut u8,
    content_length: i64,
    /// The number of the file: others may have it open under the same path on another host, where it is another file.
    inode: u64,
    /// Empty if nothing is to be opened.
    path: [c_char; PATH],
}

impl Departed {
    const EMPTY: Departed = Departed {
        file: 0,
        descriptor: NONE,
        shared: NONE,
        flags: 0,
        lock: 0,
        position: 0,
        length: -1,
        content: null_mut(),
        content_length: -1,
        inode: 0,
        path: [0; PATH],
    };

    /// A stream whose descriptor is remembered by itself.
    pub(super) fn of_stream(file: usize) -> Departed {
        Departed { file, descriptor: stream::descriptor(file), ..Departed::EMPTY }
    }

    /// A stream, and the file behind it.
    pub(super) fn stream_and_file(file: usize) -> Result<Departed, FilesError> {
        Ok(Departed { file, ..Departed::of_file(stream::descriptor(file), false)? })
    }

    /// A descriptor of a file; of one that has no name any more only if it is the rank's alone.
    pub(super) fn of_file(descriptor: c_int, is_own: bool) -> Result<Departed, FilesError> {
        // SAFETY: asks about a descriptor.
        let (position, flags, on_exec) = unsafe {
            let flags = ::libc::fcntl(descriptor, F_GETFL);
            // One that is a path alone has no position.
            let is_path = flags >= 0 && flags & ::libc::O_PATH != 0;
            let position = if is_path { 0 } else { ::libc::lseek(descriptor, 0, ::libc::SEEK_CUR) };
            (position, flags, ::libc::fcntl(descriptor, F_GETFD))
        };
        let none = FilesError::NoFile { descriptor };
        if position < 0 || flags < 0 {
            return Err(none);
        }
        let mut entry = Departed { descriptor, position, ..Departed::EMPTY };
        entry.flags = flags | if on_exec & FD_CLOEXEC != 0 { O_CLOEXEC } else { 0 };
        if !has_name(descriptor) {
            entry.content_length = nameless(descriptor).filter(|_| is_own).ok_or(none)?;
            entry.inode = meta(descriptor).map_or(0, |meta| meta.st_ino);
            return Ok(entry);
        }
        if read_link(descriptor, &mut entry.path) == 0 || entry.path[0] != b'/' as c_char {
            return Err(FilesError::NoFile { descriptor });
        }
        Ok(entry)
    }

    /// A file that is not open, of which only the length is remembered; none if there is another one of that path, or none.
    pub(super) fn of_closed(path: [c_char; PATH], inode: u64) -> Option<Departed> {
        let entry = Departed { path, inode, ..Departed::EMPTY };
        let length = entry.meta_of_path()?.st_size;
        Some(Departed { length, ..entry })
    }

    fn is_closed(&self) -> bool {
        self.file == 0 && self.descriptor == NONE
    }

    /// What is there now, if it is that file.
    fn meta_of_path(&self) -> Option<::libc::stat> {
        // SAFETY: numbers, of which zero is a value, and a place for them; a string of C.
        unsafe {
            let mut meta: ::libc::stat = std::mem::zeroed();
            let seen = ::libc::stat(self.path.as_ptr(), &raw mut meta) == 0;
            (seen && meta.st_ino == self.inode).then_some(meta)
        }
    }

    /// A descriptor that is another one of the same file, with one position.
    pub(super) fn of_shared(descriptor: c_int, first: c_int) -> Departed {
        // SAFETY: asks about a descriptor.
        let on_exec = unsafe { ::libc::fcntl(descriptor, F_GETFD) } & FD_CLOEXEC != 0;
        let flags = if on_exec { O_CLOEXEC } else { 0 };
        Departed { descriptor, shared: first, flags, ..Departed::EMPTY }
    }

    /// The same with the length of the file, if it can be written to: also if it was not yet, since it may be from now on.
    /// Others may have more in their buffers, which is written when they are copied: the greatest length counts.
    pub(super) fn with_length(self) -> Departed {
        let writes = self.flags & O_ACCMODE != O_RDONLY;
        let regular = |meta: &::libc::stat| meta.st_mode & ::libc::S_IFMT == ::libc::S_IFREG;
        match meta(self.descriptor).filter(regular) {
            Some(meta) if writes && self.content_length < 0 => {
                Departed { length: meta.st_size, inode: meta.st_ino, ..self }
            }
            _ => self,
        }
    }

    /// The same of a file that is locked so.
    pub(super) fn with_lock(self, lock: u8) -> Departed {
        Departed { lock: lock.into(), ..self }
    }

    /// The same with what is in a file that has no name.
    ///
    /// # Errors
    /// If it cannot be read, or there is no memory for it.
    pub(super) fn with_content(mut self) -> Result<Departed, FilesError> {
        let Ok(len) = usize::try_from(self.content_length) else { return Ok(self) };
        // SAFETY: memory of the rank.
        self.content = unsafe { ::libc::malloc(len.max(1)) }.cast();
        if self.content.is_null() {
            return Err(FilesError::Memory);
        }
        let mut read = 0;
        while read < len {
            // SAFETY: as many bytes as there is room for.
            let more = unsafe {
                ::libc::pread(self.descriptor, self.content.add(read).cast(), len - read, read as i64)
            };
            match usize::try_from(more) {
                Ok(0) | Err(_) => {
                    self.forget_content();
                    return Err(FilesError::NoFile { descriptor: self.descriptor });
                }
                Ok(more) => read += more,
            }
        }
        Ok(self)
    }

    pub(super) fn has_content(&self) -> bool {
        !self.content.is_null()
    }

    /// Gives the memory back.
    pub(super) fn forget_content(&self) {
        // SAFETY: it came from `malloc`, or is null.
        unsafe { ::libc::free(self.content.cast()) };
    }

    pub(super) fn length(&self) -> i64 {
        self.length
    }

    pub(super) fn has_length(&self) -> bool {
        self.length >= 0 && !self.has_stand_in()
    }

    /// Whether its rank, when it does again what it did, writes to a file in memory instead: nothing is cut.
    pub(super) fn has_stand_in(&self) -> bool {
        self.length >= 0 && may_run_again() && appends(self.flags)
    }

    /// A name of the file, the same for all that have it open, and its length, if it has one.
    pub(super) fn noted(&self) -> Option<(Vec<u8>, u64)> {
        let length = u64::try_from(self.length).ok().filter(|_| self.has_length())?;
        Some(([&self.inode.to_le_bytes(), self.path().to_bytes()].concat(), length))
    }

    /// Whether it can be written to where it has something.
    pub(super) fn is_amid(&self) -> bool {
        self.flags & O_ACCMODE != O_RDONLY
            && !appends(self.flags)
            && (0..self.length).contains(&self.position)
    }

    pub(super) fn stream(&self) -> usize {
        self.file
    }

    pub(super) fn descriptor(&self) -> c_int {
        self.descriptor
    }

    fn path(&self) -> &CStr {
        // SAFETY: it ends with a zero: `of_file`.
        unsafe { CStr::from_ptr(self.path.as_ptr()) }
    }

    /// Cuts the file to this length, if it is longer.
    pub(super) fn cut(&self, length: u64) -> Result<(), FilesError> {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        if self.is_closed() && self.meta_of_path().is_none() {
            return Ok(());
        }
        // SAFETY: numbers, of which zero is a value, and a place for them; strings of C.
        let cut = unsafe {
            let mut meta: ::libc::stat = std::mem::zeroed();
            ::libc::stat(self.path.as_ptr(), &raw mut meta) == 0
                && (meta.st_size <= length || ::libc::truncate(self.path.as_ptr(), length) == 0)
        };
        if cut { Ok(()) } else { Err(gone(self.path())) }
    }

    /// # Safety
    /// The stream, if it is one, has departed, and its memory is there again.
    pub(super) unsafe fn open_again(&self, stand_ins: &mut StandIns) -> Result<(), FilesError> {
        if self.is_closed() {
            return Ok(());
        }
        let closes_on_exec = self.flags & O_CLOEXEC != 0;
        if self.shared != NONE {
            return give_number(another(self.shared)?, self.descriptor, closes_on_exec);
        }
        if self.has_content() {
            let new = self.make_again()?;
            stands_in_again(stand_ins, self.inode, new);
            return give_number(new, self.descriptor, closes_on_exec);
        }
        if self.path[0] == 0 {
            // SAFETY: the caller's promise; its descriptor was opened before.
            unsafe { stream::put_into_list(self.file, self.descriptor) };
            return Ok(());
        }
        let opened = self.open();
        if self.file != 0 {
            let descriptor = *opened.as_ref().unwrap_or(&NONE);
            // SAFETY: the caller's promise. Without its file it fails, but nobody else's is touched.
            unsafe { stream::put_into_list(self.file, descriptor) };
            return opened.map(|_| ());
        }
        let opened = match self.has_stand_in() {
            true => stand_in(opened?, self.length.unsigned_abs(), self.flags, stand_ins),
            false => opened?,
        };
        give_number(opened, self.descriptor, closes_on_exec)
    }

    /// A file in memory, with what was in the one that had no name. It is nobody's but the rank's, as that was.
    fn make_again(&self) -> Result<c_int, FilesError> {
        let len = self.content_length.max(0).unsigned_abs() as usize;
        // SAFETY: a string of C; then a file of our own, and as many bytes as are there.
        unsafe {
            let new = ::libc::memfd_create(c"nameless".as_ptr(), 0);
            let mut written = 0;
            while new >= 0 && written < len {
                let more =
                    ::libc::pwrite(new, self.content.add(written).cast(), len - written, written as i64);
                match usize::try_from(more) {
                    Ok(more) => written += more,
                    Err(_) => {
                        ::libc::close(new);
                        return Err(FilesError::Memory);
                    }
                }
            }
            if new < 0 {
                return Err(FilesError::Memory);
            }
            ::libc::fcntl(new, ::libc::F_SETFL, self.flags & (::libc::O_APPEND | ::libc::O_NONBLOCK));
            ::libc::lseek(new, self.position, ::libc::SEEK_SET);
            Ok(new)
        }
    }

    /// It exists, and has what was written; or nothing was, and it was removed since.
    fn open(&self) -> Result<c_int, FilesError> {
        const MODE: ::libc::mode_t = 0o666;
        let flags = self.flags & !(::libc::O_CREAT | ::libc::O_TRUNC | ::libc::O_EXCL);
        let made = if self.length == 0 { ::libc::O_CREAT } else { 0 };
        // SAFETY: a string of C.
        let descriptor = unsafe { ::libc::open(self.path.as_ptr(), flags | made, MODE) };
        if descriptor < 0 {
            return Err(gone(self.path()));
        }
        // SAFETY: a descriptor that was opened here.
        unsafe {
            begin_folder(descriptor);
            ::libc::lseek(descriptor, self.position, ::libc::SEEK_SET);
            if matches!(self.lock, ::libc::LOCK_SH | ::libc::LOCK_EX) {
                // Only a copy had to give it up. Whoever has it now goes back as well, or is no rank.
                ::libc::flock(descriptor, self.lock | ::libc::LOCK_NB);
            }
        }
        Ok(descriptor)
    }
}

/// A folder that is set to its end before it was ever read has no beginning any more in ext4: so it is read first.
fn begin_folder(descriptor: c_int) {
    if meta(descriptor).is_some_and(|meta| meta.st_mode & ::libc::S_IFMT == ::libc::S_IFDIR) {
        let mut entries = [0u64; 64];
        let len = size_of_val(&entries);
        // SAFETY: as many bytes as are said.
        unsafe { ::libc::syscall(::libc::SYS_getdents64, descriptor, entries.as_mut_ptr(), len) };
    }
}

/// Whether a descriptor is that of a file, and can be written to. `errno` stays as it is.
pub fn writes_to_file(descriptor: c_int) -> bool {
    // SAFETY: the thread's number, and a question about a descriptor.
    let (before, flags) = unsafe { (*::libc::__errno_location(), ::libc::fcntl(descriptor, F_GETFL)) };
    let is_regular = |meta: ::libc::stat| meta.st_mode & ::libc::S_IFMT == ::libc::S_IFREG;
    let writes = flags >= 0 && flags & O_ACCMODE != O_RDONLY && meta(descriptor).is_some_and(is_regular);
    set_errno(before);
    writes
}

/// Whether it is a file or a folder.
pub fn is_file(descriptor: c_int) -> bool {
    // SAFETY: the thread's number.
    let before = unsafe { *::libc::__errno_location() };
    let kind = meta(descriptor).map_or(0, |meta| meta.st_mode & ::libc::S_IFMT);
    set_errno(before);
    matches!(kind, ::libc::S_IFREG | ::libc::S_IFDIR)
}

/// How long a file is that cannot be found by a path; none if it is no file, or too long to be taken along.
fn nameless(descriptor: c_int) -> Option<i64> {
    /// As much is in the rank's memory meanwhile.
    const MOST: i64 = 64 << 20;
    let meta = meta(descriptor)?;
    let is_regular = meta.st_mode & ::libc::S_IFMT == ::libc::S_IFREG;
    (is_regular && meta.st_nlink == 0 && meta.st_size <= MOST).then_some(meta.st_size)
}

/// Whether it is a file without a name.
pub fn is_nameless(descriptor: c_int) -> bool {
    // SAFETY: the thread's number.
    let before = unsafe { *::libc::__errno_location() };
    let found = nameless(descriptor);
    set_errno(before);
    found.is_some()
}

/// Whether it can be found by its path.
fn has_name(descriptor: c_int) -> bool {
    meta(descriptor).is_some_and(|meta| meta.st_nlink > 0)
}

pub fn meta(descriptor: c_int) -> Option<::libc::stat> {
    // SAFETY: numbers, of which zero is a value, and a place for them.
    unsafe {
        let mut meta = std::mem::zeroed();
        (::libc::fstat(descriptor, &raw mut meta) == 0).then_some(meta)
    }
}

/// A descriptor of a file that has lost its name to another one is that one's from now on, at the same place.
pub fn open_replaced(descriptor: c_int) {
    const LOST: &[u8] = b" (deleted)";
    let mut path = [0; PATH];
    if has_name(descriptor) {
        return;
    }
    let len = read_link(descriptor, &mut path);
    // SAFETY: bytes of a string of C.
    let bytes = unsafe { std::slice::from_raw_parts(path.as_ptr().cast::<u8>(), len) };
    let Some(named) = bytes.strip_suffix(LOST).map(<[u8]>::len) else { return };
    path[named] = 0;
    // SAFETY: asks about a descriptor; a string of C; then what was opened here.
    unsafe {
        let flags = ::libc::fcntl(descriptor, F_GETFL);
        let position = ::libc::lseek(descriptor, 0, ::libc::SEEK_CUR);
        let on_exec = if ::libc::fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0 { O_CLOEXEC } else { 0 };
        let new = ::libc::open(path.as_ptr(), flags & !(::libc::O_CREAT | ::libc::O_TRUNC | ::libc::O_EXCL));
        if new >= 0 {
            ::libc::lseek(new, position, ::libc::SEEK_SET);
            ::libc::dup3(new, descriptor, on_exec);
            ::libc::close(new);
        }
    }
}

/// Makes a new descriptor that of this number.
fn give_number(new: c_int, number: c_int, closes_on_exec: bool) -> Result<(), FilesError> {
    if new == number {
        return Ok(());
    }
    // SAFETY: the new one is ours, and the number is that of nobody.
    unsafe {
        let free = ::libc::fcntl(number, F_GETFD) < 0;
        if free && ::libc::dup2(new, number) == number && closes_on_exec {
            ::libc::fcntl(number, F_SETFD, FD_CLOEXEC);
        }
        ::libc::close(new);
        if free && ::libc::fcntl(number, F_GETFD) >= 0 {
            return Ok(());
        }
    }
    Err(FilesError::Taken { descriptor: number })
}

/// Another descriptor of the same file.
fn another(descriptor: c_int) -> Result<c_int, FilesError> {
    // SAFETY: duplicates a descriptor.
    let new = unsafe { ::libc::fcntl(descriptor, ::libc::F_DUPFD, 0) };
    if new < 0 { Err(FilesError::NoFile { descriptor }) } else { Ok(new) }
}

/// The system's name for what a descriptor is: a path, or something else. How many bytes. Allocates nothing.
pub fn read_link(descriptor: c_int, name: &mut [c_char; PATH]) -> usize {
    let mut link = [0u8; 32];
    if write!(&mut link[..], "/proc/self/fd/{descriptor}").is_err() {
        return 0;
    }
    // SAFETY: a string of C, and one byte less than there is room for, so that a zero is left.
    let len = unsafe { ::libc::readlink(link.as_ptr().cast(), name.as_mut_ptr(), PATH - 1) };
    usize::try_from(len).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn an_empty_file_that_was_removed_since_is_there_again() {
        let path = std::env::temp_dir().join(format!("talisman-departed-{}", std::process::id()));
        for (content, comes_back) in [("", true), ("line", false)] {
            let mut file = std::fs::File::create(&path).unwrap();
            file.write_all(content.as_bytes()).unwrap();
            let noted = Departed::of_file(file.as_raw_fd(), false).unwrap().with_length();
            std::fs::remove_file(&path).unwrap();
            let opened = noted.open();
            assert_eq!((opened.is_ok(), path.exists()), (comes_back, comes_back), "{content:?}");
            if let Ok(opened) = opened {
                // SAFETY: it was opened just now.
                unsafe { ::libc::close(opened) };
                std::fs::remove_file(&path).unwrap();
            }
        }
    }
}
