//! The hash table of a program (`hsearch`): each rank has one.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use super::{current, functions};

/// What the C library has of a table (`struct hsearch_data`), which is in the rank's memory.
#[repr(C)]
pub struct HashTable {
    table: *mut c_void,
    size: u32,
    filled: u32,
}

impl HashTable {
    pub const fn new() -> HashTable {
        HashTable { table: null_mut(), size: 0, filled: 0 }
    }
}

#[repr(C)]
struct Entry {
    key: *mut c_char,
    data: *mut c_void,
}

functions! {
    "hcreate" => create,
    "hdestroy" => destroy,
    "hsearch" => search,
}

unsafe extern "C" {
    fn hcreate_r(entries: usize, table: *mut HashTable) -> c_int;
    fn hdestroy_r(table: *mut HashTable);
    fn hsearch_r(entry: Entry, action: c_int, found: *mut *mut Entry, table: *mut HashTable) -> c_int;
}

fn own() -> *mut HashTable {
    // SAFETY: the running rank's state.
    unsafe { &raw mut (*current()).hash_table }
}

unsafe extern "C" fn create(entries: usize) -> c_int {
    // SAFETY: called as C's function is, as all that follow.
    unsafe { hcreate_r(entries, own()) }
}

unsafe extern "C" fn destroy() {
    // SAFETY: as above.
    unsafe { hdestroy_r(own()) }
}

unsafe extern "C" fn search(entry: Entry, action: c_int) -> *mut Entry {
    let mut found = null_mut();
    // SAFETY: as above; null is what it leaves where it finds nothing.
    unsafe { hsearch_r(entry, action, &raw mut found, own()) };
    found
}
