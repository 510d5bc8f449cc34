//! Memory that a rank maps itself. It is not in the slot, so it does not move: as long as there is some, the rank is
//! held where it is ([`State::held`](super::State::held)).

use std::ffi::{c_int, c_void};

use ::libc::off_t;

use super::{current, functions};
use crate::PAGE;

/// Bytes that are mapped: plain data.
#[repr(C)]
pub struct Mappings(usize);

impl Mappings {
    pub const fn new() -> Mappings {
        Mappings(0)
    }

    /// How many bytes are mapped.
    pub fn bytes(&self) -> usize {
        self.0
    }

    fn add(&mut self, len: usize) {
        self.0 = self.0.saturating_add(len.next_multiple_of(PAGE));
    }

    fn remove(&mut self, len: usize) {
        self.0 = self.0.saturating_sub(len.next_multiple_of(PAGE));
    }
}

functions! {
    "mmap" => map,
    "mmap64" => map,
    "__mmap" => map,
    "munmap" => unmap,
    "__munmap" => unmap,
    "mremap" => map_elsewhere,
}

fn mappings<'a>() -> &'a mut Mappings {
    // SAFETY: the running rank's state; nobody else looks at it.
    unsafe { &mut (*current()).mappings }
}

unsafe extern "C" fn map(
    place: *mut c_void,
    len: usize,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: called as C's function is.
    let mapped = unsafe { ::libc::mmap(place, len, access, flags, file, offset) };
    // In a place that the rank has mapped before, nothing is added.
    if mapped != ::libc::MAP_FAILED && flags & ::libc::MAP_FIXED == 0 {
        mappings().add(len);
    }
    mapped
}

unsafe extern "C" fn unmap(place: *mut c_void, len: usize) -> c_int {
    // SAFETY: called as C's function is.
    let result = unsafe { ::libc::munmap(place, len) };
    if result == 0 {
        mappings().remove(len);
    }
    result
}

unsafe extern "C" fn map_elsewhere(
    place: *mut c_void,
    old: usize,
    new: usize,
    flags: c_int,
    wanted: *mut c_void,
) -> *mut c_void {
    // SAFETY: called as C's function is.
    let mapped = unsafe { ::libc::mremap(place, old, new, flags, wanted) };
    if mapped != ::libc::MAP_FAILED {
        mappings().remove(old);
        mappings().add(new);
    }
    mapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_pages_are_counted() {
        let mut mappings = Mappings::new();
        mappings.add(1);
        mappings.add(2 * PAGE);
        assert_eq!(mappings.bytes(), 3 * PAGE);
        mappings.remove(PAGE + 1);
        assert_eq!(mappings.bytes(), PAGE);
        mappings.remove(usize::MAX / 2);
        assert_eq!(mappings.bytes(), 0);
    }
}
