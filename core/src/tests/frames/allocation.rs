//! Writing and reading a small message takes no memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use super::Main;
use crate::lab::Lab;
use talisman_kernel::pe::Here;
use talisman_kernel::wire::{COMPACT, pack, receive};

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Counts what each thread takes.
struct Counting;

// SAFETY: the system's allocator does it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.set(TAKEN.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_small_message_takes_no_memory() {
    let mut lab = Lab::new::<Main>();
    lab.run(60);
    let frame = lab.frames().iter().find(|frame| frame.head[0] == COMPACT && frame.segments.is_empty());
    let frame = frame.expect("the program sends some").clone();
    let pe = &lab.pes[frame.to as usize];
    let _here = Here::enter(pe);
    let again = || {
        let envelope = receive(pe, &frame.head, Vec::new()).unwrap();
        pack(pe, envelope, |head, segments| assert!(head == frame.head && segments.is_empty()));
    };
    // The scratch buffer and the pool have what they need after the first.
    again();
    let before = TAKEN.get();
    (0..100).for_each(|_| again());
    assert_eq!(TAKEN.get() - before, 0);
}
