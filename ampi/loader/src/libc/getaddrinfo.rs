//! Addresses of hosts (`getaddrinfo`). What knows hosts is the process's, and so is what it gives: a rank has a copy, in memory that
//! moves with it.

use std::ffi::{c_char, c_int};
use std::mem::size_of;
use std::ptr::null_mut;

use ::libc::{EAI_MEMORY, addrinfo};

use super::{functions, with_process_memory};

functions! {
    "getaddrinfo" => find,
    "freeaddrinfo" => free,
}

unsafe extern "C" fn find(
    host: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
    found: *mut *mut addrinfo,
) -> c_int {
    let mut theirs = null_mut();
    // SAFETY: called as C's function is, with another place for the result.
    let result =
        with_process_memory(|| unsafe { ::libc::getaddrinfo(host, service, hints, &raw mut theirs) });
    if result != 0 {
        return result;
    }
    // SAFETY: a list that the C library has made.
    let copied = unsafe { copied(theirs) };
    // SAFETY: the same, which is not used any more.
    with_process_memory(|| unsafe { ::libc::freeaddrinfo(theirs) });
    let Some(copied) = copied else { return EAI_MEMORY };
    // SAFETY: called as C's function is.
    unsafe { found.write(copied) };
    0
}

/// None if there is no memory.
///
/// # Safety
/// It is a list of the C library's.
unsafe fn copied(mut list: *const addrinfo) -> Option<*mut addrinfo> {
    let mut first = null_mut();
    let mut end: *mut *mut addrinfo = &raw mut first;
    // SAFETY: the caller's promise, and places in the copy, which ends with null.
    unsafe {
        while let Some(one) = list.as_ref() {
            let Some(copy) = copied_alone(one) else {
                free(first);
                return None;
            };
            end.write(copy);
            end = &raw mut (*copy).ai_next;
            list = one.ai_next;
        }
    }
    Some(first)
}

/// One without those behind it, in one piece of memory: itself, its address, its name.
///
/// # Safety
/// It is one of the C library's.
unsafe fn copied_alone(one: &addrinfo) -> Option<*mut addrinfo> {
    // SAFETY: the caller's promise, and places within what was allocated.
    unsafe {
        let address_len = one.ai_addrlen as usize;
        let name_len = if one.ai_canonname.is_null() { 0 } else { ::libc::strlen(one.ai_canonname) + 1 };
        let copy = ::libc::malloc(size_of::<addrinfo>() + address_len + name_len).cast::<addrinfo>();
        if copy.is_null() {
            return None;
        }
        let address = copy.add(1).cast::<c_char>();
        let name = address.add(address_len);
        copy.write(*one);
        (*copy).ai_next = null_mut();
        if !one.ai_addr.is_null() {
            address.copy_from_nonoverlapping(one.ai_addr.cast(), address_len);
            (*copy).ai_addr = address.cast();
        }
        if name_len > 0 {
            name.copy_from_nonoverlapping(one.ai_canonname, name_len);
            (*copy).ai_canonname = name;
        }
        Some(copy)
    }
}

unsafe extern "C" fn free(mut list: *mut addrinfo) {
    while !list.is_null() {
        // SAFETY: it was copied above, each of them by itself.
        unsafe {
            let next = (*list).ai_next;
            ::libc::free(list.cast());
            list = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_all_of_a_list() {
        // SAFETY: numbers and addresses, of which zero is a value.
        let mut hints: addrinfo = unsafe { std::mem::zeroed() };
        (hints.ai_flags, hints.ai_socktype) =
            (::libc::AI_CANONNAME | ::libc::AI_NUMERICHOST, ::libc::SOCK_STREAM);
        let mut list = null_mut();
        // SAFETY: texts, and a place for the list.
        let (found, refused) = unsafe {
            let find = |host: *const c_char, list| find(host, c"80".as_ptr(), &raw const hints, list);
            (find(c"127.0.0.1".as_ptr(), &raw mut list), find(c"none of them".as_ptr(), null_mut()))
        };
        assert_eq!((found, refused), (0, ::libc::EAI_NONAME));
        // SAFETY: there is one.
        unsafe {
            let one = &*list;
            let address = &*one.ai_addr.cast::<::libc::sockaddr_in>();
            assert_eq!(
                (address.sin_port, address.sin_addr.s_addr),
                (80_u16.to_be(), 0x7f00_0001_u32.to_be())
            );
            assert_eq!(std::ffi::CStr::from_ptr(one.ai_canonname), c"127.0.0.1");
            assert!(one.ai_next.is_null());
            free(list);
        }
    }
}
