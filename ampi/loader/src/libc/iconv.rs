//! Conversions between character sets (`iconv`). What converts is the process's; a rank has the names of the two, and each process in which
//! it converts makes what it needs. Where a text has a state, as in ISO 2022, it begins anew there.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::size_of;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::libc::{EBADF, ENOMEM};

use super::{functions, set_errno, with_process_memory};

functions! {
    "iconv_open" => open,
    "iconv" => convert,
    "iconv_close" => close,
}

/// What a rank has, in memory of its own: this, and behind it both names.
#[repr(C)]
struct Conversion {
    from: *const c_char,
}

/// What this process has for a rank's conversion.
struct Converter {
    to: CString,
    from: CString,
    handle: *mut c_void,
}

// SAFETY: a handle is used by one thread at a time: that of its rank.
unsafe impl Send for Converter {}

/// By the addresses of what ranks have, which are no two ranks' at once.
static CONVERTERS: Mutex<Option<HashMap<usize, Converter>>> = Mutex::new(None);

/// What the C library returns in place of a conversion.
fn none() -> *mut c_void {
    std::ptr::without_provenance_mut(usize::MAX)
}

fn converters() -> MutexGuard<'static, Option<HashMap<usize, Converter>>> {
    // Nobody panics with it.
    CONVERTERS.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn open(to: *const c_char, from: *const c_char) -> *mut c_void {
    // SAFETY: called as C's function is: two strings.
    let (to, from) = unsafe { (CStr::from_ptr(to), CStr::from_ptr(from)) };
    let Some(made) = with_process_memory(|| Converter::open(to, from)) else { return none() };
    let (to_len, from_len) = (to.count_bytes() + 1, from.count_bytes() + 1);
    // SAFETY: takes a size; then places within what was allocated.
    unsafe {
        let own = ::libc::malloc(size_of::<Conversion>() + to_len + from_len).cast::<Conversion>();
        if own.is_null() {
            with_process_memory(|| drop(made));
            set_errno(ENOMEM);
            return none();
        }
        let own_to = own.add(1).cast::<c_char>();
        let own_from = own_to.add(to_len);
        own_to.copy_from_nonoverlapping(to.as_ptr(), to_len);
        own_from.copy_from_nonoverlapping(from.as_ptr(), from_len);
        own.write(Conversion { from: own_from });
        with_process_memory(|| converters().get_or_insert_default().insert(own.addr(), made));
        own.cast()
    }
}

impl Converter {
    /// None if the system has no such conversion, which it says in its own way.
    fn open(to: &CStr, from: &CStr) -> Option<Converter> {
        // SAFETY: two strings of C.
        let handle = unsafe { ::libc::iconv_open(to.as_ptr(), from.as_ptr()) };
        (handle != none()).then(|| Converter { to: to.to_owned(), from: from.to_owned(), handle })
    }

    /// Of a rank's conversion: what there is, or a new one if it was of another conversion before, or of none.
    ///
    /// # Safety
    /// The conversion was opened by a rank, and is not closed.
    unsafe fn of(own: *mut Conversion) -> Option<*mut c_void> {
        // SAFETY: the caller's promise.
        let (to, from) = unsafe { (CStr::from_ptr(own.add(1).cast()), CStr::from_ptr((*own).from)) };
        let mut all = converters();
        let all = all.get_or_insert_default();
        let known = all.get(&own.addr()).filter(|known| *known.to == *to && *known.from == *from);
        if let Some(known) = known {
            return Some(known.handle);
        }
        let made = Converter::open(to, from)?;
        let handle = made.handle;
        all.insert(own.addr(), made);
        Some(handle)
    }
}

impl Drop for Converter {
    fn drop(&mut self) {
        // SAFETY: it was opened here.
        unsafe { ::libc::iconv_close(self.handle) };
    }
}

unsafe extern "C" fn convert(
    conversion: *mut c_void,
    from: *mut *mut c_char,
    from_left: *mut usize,
    to: *mut *mut c_char,
    to_left: *mut usize,
) -> usize {
    let own = conversion.cast::<Conversion>();
    if conversion == none() || own.is_null() {
        set_errno(EBADF);
        return usize::MAX;
    }
    with_process_memory(|| {
        // SAFETY: called as C's function is.
        match unsafe { Converter::of(own) } {
            // SAFETY: the same.
            Some(handle) => unsafe { ::libc::iconv(handle, from, from_left, to, to_left) },
            None => usize::MAX,
        }
    })
}

unsafe extern "C" fn close(conversion: *mut c_void) -> c_int {
    if conversion == none() || conversion.is_null() {
        set_errno(EBADF);
        return -1;
    }
    with_process_memory(|| {
        let gone = converters().as_mut().and_then(|all| all.remove(&conversion.addr()));
        drop(gone);
    });
    // SAFETY: it was allocated when it was opened.
    unsafe { ::libc::free(conversion) };
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(conversion: *mut c_void) -> Vec<u8> {
        let (mut text, mut room) = (*b"\xe4b", [0_u8; 8]);
        let (mut from, mut to): (*mut c_char, *mut c_char) =
            (text.as_mut_ptr().cast(), room.as_mut_ptr().cast());
        let (mut from_left, mut to_left) = (text.len(), room.len());
        // SAFETY: places for all of it.
        let result =
            unsafe { convert(conversion, &raw mut from, &raw mut from_left, &raw mut to, &raw mut to_left) };
        assert_eq!((result, from_left), (0, 0));
        room[..room.len() - to_left].to_vec()
    }

    #[test]
    fn a_conversion_is_made_again_where_there_is_none() {
        // SAFETY: strings, and what is opened here.
        unsafe {
            assert_eq!(open(c"no such set".as_ptr(), c"UTF-8".as_ptr()), none());
            let own = open(c"UTF-8".as_ptr(), c"ISO-8859-1".as_ptr());
            assert_eq!(converted(own), "äb".as_bytes());
            // As in another process, and where another rank had something else at this address.
            drop(converters().as_mut().and_then(|all| all.remove(&own.addr())));
            assert_eq!(converted(own), "äb".as_bytes());
            let other = Converter::open(c"UTF-16LE", c"ISO-8859-1").expect("there is one");
            converters().get_or_insert_default().insert(own.addr(), other);
            assert_eq!(converted(own), "äb".as_bytes());
            assert_eq!((close(own), close(none())), (0, -1));
            assert!(!converters().as_ref().is_some_and(|all| all.contains_key(&own.addr())));
        }
    }
}
