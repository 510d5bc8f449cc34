//! How much memory a thread has, counted as it is asked for: a run is played in a thread of its own.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

use talisman_ampi::slot::{RankAllocator, SlotSpace};
use talisman_ampi::thread::running;

/// Bytes of a thread: those that it has asked for and not given back, and the most there ever were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Now; negative if it gave back what another had asked for.
    pub now: i64,
    /// At the most.
    pub most: i64,
}

thread_local! {
    static BYTES: Cell<Bytes> = const { Cell::new(Bytes { now: 0, most: 0 }) };
}

/// Those of this thread.
pub fn bytes() -> Bytes {
    BYTES.get()
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count(more: i64) {
    // A thread that ends frees after its locals are gone.
    let _ = BYTES.try_with(|bytes| {
        let now = bytes.get().now + more;
        bytes.set(Bytes { now, most: bytes.get().most.max(now) });
    });
}

/// What a rank has in its slot goes with that: it is not counted.
fn is_of_rank(block: *mut u8) -> bool {
    SlotSpace::get().is_ok_and(|space| space.slot_of(block as usize).is_some())
}

// SAFETY: the allocator of ranks does everything; counting neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if running().is_none() {
            count(layout.size() as i64);
        }
        // SAFETY: the caller's layout, passed on.
        unsafe { RankAllocator.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if running().is_none() {
            count(layout.size() as i64);
        }
        // SAFETY: as above.
        unsafe { RankAllocator.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        if !is_of_rank(ptr) {
            count(-(layout.size() as i64));
        }
        // SAFETY: the caller's pointer came from `RankAllocator` with this layout.
        unsafe { RankAllocator.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !is_of_rank(ptr) {
            count(new_size as i64 - layout.size() as i64);
        }
        // SAFETY: as above.
        unsafe { RankAllocator.realloc(ptr, layout, new_size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_and_given_back_is_counted() {
        let before = bytes();
        let kept = vec![0u8; 1 << 20];
        let with = bytes();
        assert_eq!(with.now - before.now, 1 << 20);
        assert!(with.most >= with.now);
        drop(kept);
        assert_eq!(bytes().now, before.now);
        assert_eq!(bytes().most, with.most);
    }
}
