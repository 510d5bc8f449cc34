//! What programs ask the dynamic linker for: the process's own knows nothing of what is in slots.

mod find;
mod handles;
mod late;
pub mod loaded;
pub mod tls;

use std::ffi::{c_char, c_int, c_void};

pub(crate) use find::name_of_address;
pub use handles::answer_names;
pub use late::{answer_later, late_imports};

/// The address of a function of the dynamic linker that programs are given.
pub fn symbol(name: &str) -> Option<usize> {
    let address = match name {
        "__tls_get_addr" => tls::get_address as *const () as usize,
        "_dl_find_object" => find::find_object as *const () as usize,
        "dl_iterate_phdr" => find::iterate as *const () as usize,
        "dladdr" => find::name_of_address as *const () as usize,
        "dlopen" => handles::open as *const () as usize,
        "dlsym" => handles::symbol as *const () as usize,
        "dlvsym" => handles::versioned_symbol as *const () as usize,
        "dlclose" => handles::close as *const () as usize,
        "dlinfo" => handles::info as *const () as usize,
        "dlerror" => handles::error as *const () as usize,
        _ => return None,
    };
    Some(address)
}

/// Types of the C library's functions that are asked when an address is not in a slot.
type IterateCallback = unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int;
type Text = *const c_char;
