//! Users and groups. What the C library finds is the process's; a rank keeps it, and may come to another process.

use std::ffi::{CStr, c_char};
use std::mem::size_of;
use std::ptr::{copy_nonoverlapping, null_mut};

use ::libc::{gid_t, group, passwd, uid_t};

use super::{current, functions, with_process_memory};

/// What a rank was given last of each kind, in memory of `malloc`.
#[repr(C)]
pub struct Accounts {
    user: *mut passwd,
    group: *mut group,
}

impl Accounts {
    pub const fn new() -> Accounts {
        Accounts { user: null_mut(), group: null_mut() }
    }
}

functions! {
    "getpwnam" => user_of_name,
    "getpwuid" => user,
    "getpwent" => next_user,
    "getgrnam" => group_of_name,
    "getgrgid" => group_by_number,
    "getgrent" => next_group,
}

fn own<'a>() -> &'a mut Accounts {
    // SAFETY: the running rank's state; nobody else looks at it.
    unsafe { &mut (*current()).accounts }
}

/// Bytes of a string with its zero; 0 of null.
///
/// # Safety
/// A string, or null.
unsafe fn len(text: *const c_char) -> usize {
    // SAFETY: the caller's promise.
    if text.is_null() { 0 } else { unsafe { CStr::from_ptr(text) }.to_bytes_with_nul().len() }
}

/// Copies a string to where `at` is, which goes behind it.
///
/// # Safety
/// A string, or null; there is room.
unsafe fn moved(text: &mut *mut c_char, at: &mut *mut c_char) {
    // SAFETY: the caller's promise.
    unsafe {
        let bytes = len(*text);
        if bytes > 0 {
            copy_nonoverlapping(*text, *at, bytes);
            *text = *at;
            *at = at.add(bytes);
        }
    }
}

/// The rank's memory for what it is given next, of so many bytes; null if there is none.
fn room<T>(kept: &mut *mut T, bytes: usize) -> *mut T {
    // SAFETY: what is freed came from `malloc`, or is null.
    unsafe {
        ::libc::free(kept.cast());
        *kept = ::libc::malloc(bytes).cast();
    }
    *kept
}

/// # Safety
/// What the C library has found, or null.
unsafe fn keep_user(found: *const passwd) -> *mut passwd {
    // SAFETY: the caller's promise; there is room for each text.
    unsafe {
        let Some(user) = found.as_ref() else { return null_mut() };
        let texts = [user.pw_name, user.pw_passwd, user.pw_gecos, user.pw_dir, user.pw_shell];
        let bytes: usize = texts.iter().map(|text| len(*text)).sum();
        let kept = room(&mut own().user, size_of::<passwd>() + bytes);
        if let Some(kept) = kept.as_mut() {
            let mut at = (&raw mut *kept).add(1).cast();
            *kept = *user;
            for text in [
                &mut kept.pw_name,
                &mut kept.pw_passwd,
                &mut kept.pw_gecos,
                &mut kept.pw_dir,
                &mut kept.pw_shell,
            ] {
                moved(text, &mut at);
            }
        }
        kept
    }
}

/// # Safety
/// As [`keep_user`].
unsafe fn keep_group(found: *const group) -> *mut group {
    // SAFETY: the caller's promise: a list of members that ends with null; there is room for it and each text.
    unsafe {
        let Some(group) = found.as_ref() else { return null_mut() };
        let mut members = 0;
        while !(*group.gr_mem.add(members)).is_null() {
            members += 1;
        }
        let list = std::slice::from_raw_parts(group.gr_mem, members);
        let texts: usize = list.iter().map(|member| len(*member)).sum();
        let bytes = size_of::<::libc::group>() + (members + 1) * size_of::<*mut c_char>();
        let kept = room(&mut own().group, bytes + texts + len(group.gr_name) + len(group.gr_passwd));
        if let Some(kept) = kept.as_mut() {
            let places: *mut *mut c_char = (&raw mut *kept).add(1).cast();
            let mut at = places.add(members + 1).cast();
            *kept = *group;
            kept.gr_mem = places;
            moved(&mut kept.gr_name, &mut at);
            moved(&mut kept.gr_passwd, &mut at);
            for (member, text) in list.iter().enumerate() {
                places.add(member).write(*text);
                moved(&mut *places.add(member), &mut at);
            }
            places.add(members).write(null_mut());
        }
        kept
    }
}

unsafe extern "C" fn user_of_name(name: *const c_char) -> *mut passwd {
    // SAFETY: called as C's function is, as all that follow.
    unsafe { keep_user(with_process_memory(|| ::libc::getpwnam(name))) }
}

unsafe extern "C" fn user(number: uid_t) -> *mut passwd {
    // SAFETY: as above.
    unsafe { keep_user(with_process_memory(|| ::libc::getpwuid(number))) }
}

unsafe extern "C" fn next_user() -> *mut passwd {
    // SAFETY: as above.
    unsafe { keep_user(with_process_memory(|| ::libc::getpwent())) }
}

unsafe extern "C" fn group_of_name(name: *const c_char) -> *mut group {
    // SAFETY: as above.
    unsafe { keep_group(with_process_memory(|| ::libc::getgrnam(name))) }
}

unsafe extern "C" fn group_by_number(number: gid_t) -> *mut group {
    // SAFETY: as above.
    unsafe { keep_group(with_process_memory(|| ::libc::getgrgid(number))) }
}

unsafe extern "C" fn next_group() -> *mut group {
    // SAFETY: as above.
    unsafe { keep_group(with_process_memory(|| ::libc::getgrent())) }
}
