//! Streams of the C library that call functions here, and move.
//!
//! The library keeps the addresses of the functions mixed with a number of the process. So they are written anew where a
//! stream arrives: as a stream of the process itself has them.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// What a stream calls (`fopencookie(3)`).
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Functions {
    pub read: Option<unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> isize>,
    pub write: Option<unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> isize>,
    pub seek: Option<unsafe extern "C" fn(*mut c_void, *mut i64, c_int) -> c_int>,
    pub close: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

unsafe extern "C" {
    fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: Functions) -> *mut libc::FILE;
    fn _IO_un_link(stream: *mut libc::FILE);
}

/// Where a stream has its cookie, and behind it the functions (glibc, `struct _IO_cookie_file`): the same since glibc
/// 2.2, and looked at once in a process.
const COOKIE: usize = 0xe0;

/// The functions as a stream has them.
type Mixed = [usize; 4];

/// A kind of streams: what it calls, and that as this process's streams have it.
pub struct Kind {
    functions: Functions,
    mode: &'static CStr,
    mixed: OnceLock<Option<Mixed>>,
}

impl Kind {
    /// Streams that are opened in this mode.
    pub const fn new(functions: Functions, mode: &'static CStr) -> Kind {
        Kind { functions, mode, mixed: OnceLock::new() }
    }

    /// Opens a stream that is in none of the C library's lists.
    ///
    /// # Safety
    /// The functions take the cookie, which is there as long as the stream.
    ///
    /// # Errors
    /// If the C library refuses.
    pub unsafe fn open(&self, cookie: *mut c_void, buffering: c_int) -> io::Result<*mut libc::FILE> {
        // SAFETY: the caller's promise.
        let file = unsafe { fopencookie(cookie, self.mode.as_ptr(), self.functions) };
        if file.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a stream that was opened just now. Its buffer is made at its first use.
        unsafe {
            libc::setvbuf(file, null_mut(), buffering, 0);
            _IO_un_link(file);
        }
        Ok(file)
    }

    /// Looks how streams of this process have the functions. To be called on the process's heap.
    ///
    /// # Errors
    /// If this version of the C library has streams that are not known.
    pub fn prepare(&self) -> Result<(), String> {
        let unknown = "this version of the C library has streams (fopencookie) that are not known";
        self.mixed.get_or_init(|| self.look()).map(|_| ()).ok_or_else(|| unknown.to_owned())
    }

    fn look(&self) -> Option<Mixed> {
        let cookie = std::ptr::from_ref(self).cast_mut().cast::<c_void>();
        // SAFETY: the stream is never used, and stays for good.
        let file = unsafe { self.open(cookie, libc::_IONBF) }.ok()?;
        // SAFETY: a stream of this kind is longer than that in all versions.
        unsafe {
            let words = file.byte_add(COOKIE).cast::<usize>();
            (words.read() == cookie.addr()).then(|| words.add(1).cast::<Mixed>().read())
        }
    }

    /// A stream of this kind has arrived in this process.
    ///
    /// # Safety
    /// The stream is one of this kind, and open.
    pub unsafe fn renew(&self, file: *mut libc::FILE) {
        if let Some(Some(mixed)) = self.mixed.get() {
            // SAFETY: the caller's promise.
            unsafe { file.byte_add(COOKIE).cast::<usize>().add(1).cast::<Mixed>().write(*mixed) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn count(cookie: *mut c_void, _: *const c_char, count: usize) -> isize {
        // SAFETY: the test's own cookie.
        unsafe { *cookie.cast::<usize>() += count };
        count as isize
    }

    #[test]
    fn a_stream_is_renewed() {
        let functions = Functions { read: None, write: Some(count), seek: None, close: None };
        let kind = Kind::new(functions, c"w");
        kind.prepare().expect("this C library is known");
        let mut written = 0usize;
        // SAFETY: the cookie is there until the test ends; what is broken is renewed before it is used.
        unsafe {
            let file = kind.open((&raw mut written).cast(), libc::_IONBF).expect("there is memory");
            file.byte_add(COOKIE).cast::<usize>().add(1).cast::<Mixed>().write([1; 4]);
            kind.renew(file);
            libc::fputs(c"four".as_ptr(), file);
            libc::fclose(file);
        }
        assert_eq!(written, 4);
    }
}
