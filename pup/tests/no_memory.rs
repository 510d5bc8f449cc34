//! What becomes of a value for which the system gives no memory.

#![allow(missing_docs)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use talisman_pup::{Packed, PupError, SEGMENT_MIN};

thread_local! {
    /// What is at least as large is refused on this thread.
    static REFUSED_FROM: Cell<usize> = const { Cell::new(usize::MAX) };
}

struct Refusing;

fn is_refused(bytes: usize) -> bool {
    REFUSED_FROM.try_with(|from| bytes >= from.get()).unwrap_or(false)
}

// SAFETY: it refuses, or does what the system's does.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        if is_refused(layout.size()) { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise; all that there is comes from the system's.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        if is_refused(size) { std::ptr::null_mut() } else { unsafe { System.realloc(at, layout, size) } }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

fn refusing<R>(from: usize, f: impl FnOnce() -> R) -> R {
    REFUSED_FROM.set(from);
    let done = f();
    REFUSED_FROM.set(usize::MAX);
    done
}

fn is_refused_for_memory(packed: &Packed) -> bool {
    packed.refusal().is_some_and(PupError::is_memory)
}

#[test]
fn a_large_slice_that_cannot_be_copied_is_refused_whatever_packs_it() {
    let value = (1_u32, vec![7_u64; SEGMENT_MIN]);
    assert!(is_refused_for_memory(&refusing(SEGMENT_MIN, || Packed::of(&value))));
    let packed = Packed::of(&value);
    assert!(packed.refusal().is_none(), "there is memory again");
    assert_eq!(packed.into_value::<(u32, Vec<u64>)>(), Ok(value));
}

#[test]
fn whatever_a_refused_value_is_packed_into_is_refused_as_well() {
    let value = vec![7_u64; SEGMENT_MIN];
    let refused = refusing(SEGMENT_MIN, || Packed::of(&value));
    assert!(is_refused_for_memory(&Packed::of(&vec![refused])));
}
