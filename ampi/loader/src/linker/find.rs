//! Finding code by its address: for exceptions, backtraces and names.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

use super::loaded::{self, Copy};
use super::{IterateCallback, Text};
use crate::object::Object;

/// What `_dl_find_object` fills (`struct dl_find_object` of the C library since 2.35).
#[repr(C)]
pub struct Found {
    flags: u64,
    start: *mut c_void,
    end: *mut c_void,
    link_map: *mut c_void,
    frames: *mut c_void,
    reserved: [u64; 7],
}

type FindObject = unsafe extern "C" fn(*mut c_void, *mut Found) -> c_int;

/// `_dl_find_object`: the object that has code at an address, and its table for unwinding. It allocates nothing.
///
/// # Safety
/// `found` can be written to.
pub unsafe extern "C" fn find_object(address: *mut c_void, found: *mut Found) -> c_int {
    if let Some(copy) = loaded::at(address as usize) {
        let Some(object) = copy.object_at(address as usize) else { return -1 };
        let start = copy.base + object.offset;
        let frames = object.frames.map_or(null_mut(), |at| (start + at) as *mut c_void);
        let (start, end) = (start as *mut c_void, (start + object.span) as *mut c_void);
        // SAFETY: the caller's promise.
        unsafe {
            found.write(Found { flags: 0, start, end, link_map: null_mut(), frames, reserved: [0; 7] })
        };
        return 0;
    }
    match *process_find_object() {
        // SAFETY: the C library's own function of this type.
        Some(find) => unsafe { find(address, found) },
        None => -1,
    }
}

/// None before 2.35: then nobody was built to call it.
fn process_find_object() -> &'static Option<FindObject> {
    static FIND: OnceLock<Option<FindObject>> = OnceLock::new();
    FIND.get_or_init(|| {
        // SAFETY: a string that lives.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_dl_find_object".as_ptr()) };
        // SAFETY: the C library's function of this name has this type.
        unsafe { std::mem::transmute::<*mut c_void, Option<FindObject>>(found) }
    })
}

/// `dl_iterate_phdr`: the objects of the copy that asks, which is the one that has the callback, then the process's.
///
/// # Safety
/// `callback` can be called with `data`.
pub unsafe extern "C" fn iterate(callback: IterateCallback, data: *mut c_void) -> c_int {
    if let Some(copy) = loaded::at(callback as usize) {
        for object in copy.objects() {
            // SAFETY: the caller's promise.
            let result = unsafe { visit(&copy, object, callback, data) };
            if result != 0 {
                return result;
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe { libc::dl_iterate_phdr(Some(callback), data) }
}

/// # Safety
/// As for [`iterate`].
unsafe fn visit(copy: &Copy, object: &Object, callback: IterateCallback, data: *mut c_void) -> c_int {
    let Some((headers, count)) = object.headers else { return 0 };
    let start = copy.base + object.offset;
    // The program itself has no name in this list.
    let name = if object.offset == 0 { c"" } else { object.path_text() };
    let mut info = libc::dl_phdr_info {
        // Addresses in its headers are relative to this.
        dlpi_addr: (start - object.start) as u64,
        dlpi_name: name.as_ptr(),
        dlpi_phdr: (start + headers) as *const libc::Elf64_Phdr,
        dlpi_phnum: count as u16,
        // Libraries come, but do not go.
        dlpi_adds: 1 + copy.late.len() as u64,
        dlpi_subs: 0,
        dlpi_tls_modid: 0,
        dlpi_tls_data: null_mut(),
    };
    // SAFETY: the caller's promise.
    unsafe { callback(&raw mut info, size_of::<libc::dl_phdr_info>(), data) }
}

/// `dladdr`: object and symbol of an address.
///
/// # Safety
/// `info` can be written to.
pub unsafe extern "C" fn name_of_address(address: *const c_void, info: *mut libc::Dl_info) -> c_int {
    let Some(copy) = loaded::at(address as usize) else {
        // SAFETY: the caller's promise.
        return unsafe { libc::dladdr(address, info) };
    };
    let Some(object) = copy.object_at(address as usize) else { return 0 };
    let start = copy.base + object.offset;
    let (symbol, at) = match object.names.text_before(address as usize - start) {
        Some((name, value)) => (name.as_ptr(), (start + value) as *mut c_void),
        None => (std::ptr::null(), null_mut()),
    };
    let found = libc::Dl_info {
        dli_fname: object.path_text().as_ptr(),
        dli_fbase: start as *mut c_void,
        dli_sname: symbol,
        dli_saddr: at,
    };
    // SAFETY: the caller's promise.
    unsafe { info.write(found) };
    1
}

/// A name as Rust's text.
///
/// # Safety
/// `text` is null or a string of C.
pub(super) unsafe fn text<'a>(text: Text) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}
