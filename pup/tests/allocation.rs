//! Hostile lengths take no more memory than the bytes justify. One test, because it counts what the process allocates.
extern crate talisman_pup as talisman;

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::{BTreeMap, HashMap, HashSet, LinkedList, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use talisman::pup::{Pup, from_bytes};

/// Counts the bytes in use and their peak.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let in_use = IN_USE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(in_use, Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most that reading `bytes` as a `T` had in use at a time.
fn peak<T: Pup>(bytes: &[u8]) -> usize {
    let before = IN_USE.load(Relaxed);
    PEAK.store(before, Relaxed);
    drop(from_bytes::<T>(bytes));
    PEAK.load(Relaxed) - before
}

/// Large in memory, one byte packed: the worst ratio for room made in advance.
#[derive(Pup)]
struct Large {
    tag: u8,
    #[pup(skip = [0; 4096])]
    #[allow(dead_code, reason = "only its size matters")]
    cache: [u8; 4096],
}

#[derive(Pup)]
struct Nothing(
    #[pup(skip = [0; 4096])]
    #[allow(dead_code, reason = "only its size matters")]
    [u8; 4096],
);

/// A sequence of `len` elements of which `left` bytes are there.
fn lengths(left: usize) -> impl Iterator<Item = Vec<u8>> {
    let lens = [left as u64, left as u64 / 2, 1 << 20, 1 << 32, u64::MAX / 24, u64::MAX];
    lens.into_iter().map(move |len| [&len.to_le_bytes()[..], &vec![0xff; left]].concat())
}

fn bounded<T: Pup>(times: usize) {
    for bytes in lengths(1000) {
        let (peak, bound) = (peak::<T>(&bytes), times * bytes.len() + 4096);
        assert!(peak <= bound, "{peak} bytes for {} of {}", bytes.len(), std::any::type_name::<T>());
    }
}

#[test]
fn memory_is_bounded_by_the_bytes() {
    // Nothing of these can be read from 0xff bytes, so all that is taken is room made in advance.
    bounded::<String>(2);
    bounded::<Vec<String>>(5);
    bounded::<Vec<bool>>(5);
    bounded::<Vec<u64>>(2);
    bounded::<Vec<[[f64; 100]; 100]>>(2);
    bounded::<Vec<Vec<Vec<u8>>>>(5);
    bounded::<VecDeque<Option<[String; 9]>>>(5);
    bounded::<HashMap<String, [u64; 50]>>(12);
    bounded::<HashSet<String>>(12);
    bounded::<BTreeMap<String, Large>>(5);
    bounded::<LinkedList<String>>(5);
    // Elements without bytes are bounded too: together by 1 MiB in memory, and growth doubles it.
    for bytes in lengths(0) {
        assert!(peak::<Vec<Nothing>>(&bytes) < 4 << 20);
        assert!(peak::<LinkedList<Nothing>>(&bytes) < 4 << 20);
        assert!(peak::<Vec<Box<Nothing>>>(&bytes) < 4 << 20);
        assert!(peak::<LinkedList<()>>(&bytes) < 4 << 20);
    }
    // One byte each does justify these, whose memory then is that of a genuine value.
    assert!(peak::<Vec<Large>>(&[&200u64.to_le_bytes()[..], &[1; 100]].concat()) < 300 * 4200);
}
