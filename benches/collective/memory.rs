//! How much memory is in use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// The system's allocator, counting where it is asked to.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static ON: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicI64 = AtomicI64::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout, 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(layout, -1);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[inline(always)]
fn count(layout: Layout, sign: i64) {
    if ON.load(Ordering::Relaxed) {
        BYTES.fetch_add(sign * taken(layout.size()), Ordering::Relaxed);
    }
}

/// What glibc takes for so many bytes: a header of 8, in steps of 16, at least 32.
fn taken(size: usize) -> i64 {
    ((size + 8).next_multiple_of(16)).max(32) as i64
}

pub fn start_counting() {
    BYTES.store(0, Ordering::Relaxed);
    ON.store(true, Ordering::Relaxed);
}

/// Bytes since the start.
pub fn stop_counting() -> i64 {
    ON.store(false, Ordering::Relaxed);
    BYTES.load(Ordering::Relaxed)
}

/// Mebibytes of this process in memory.
pub fn resident_mib() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let pages: f64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("pages in memory");
    pages * 4096.0 / f64::from(1 << 20)
}
