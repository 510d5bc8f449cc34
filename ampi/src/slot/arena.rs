//! The heap of a slot, and the allocator that serves each rank from its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut, slice_from_raw_parts_mut};

use rustix::mm::{MprotectFlags, mprotect};

use super::header::Header;
use super::layout::PAGE;
use super::space::SlotSpace;

/// A heap grows by at least so much at a time: a system call each 4 KiB would cost more than allocations.
const GROWTH: usize = 256 << 10;

thread_local! {
    /// The header of the rank that runs on this thread; null while none does.
    static CURRENT: Cell<*mut Header> = const { Cell::new(null_mut()) };
    /// The same while the rank is in a call of the runtime.
    static IN_CALL: Cell<*mut Header> = const { Cell::new(null_mut()) };
    /// The same of a rank that [uses the process's heap](use_process_heap).
    static KEPT: Cell<*mut Header> = const { Cell::new(null_mut()) };
}

/// The header of the rank that runs on this thread. Not inlined: its address must not be kept over a suspension by
/// compilers that take threads to stay.
#[inline(never)]
pub(crate) fn current() -> *mut Header {
    CURRENT.get()
}

/// Says which rank runs; returns which one did.
#[inline(never)]
pub(crate) fn set_current(header: *mut Header) -> *mut Header {
    CURRENT.replace(header)
}

/// Runs something that allocates for the process, not for the rank that runs: what is made by it may outlive the
/// rank, or stay when that moves.
pub fn on_process_heap<T>(run: impl FnOnce() -> T) -> T {
    struct Back(*mut Header);
    impl Drop for Back {
        fn drop(&mut self) {
            set_current(self.0);
        }
    }
    let _back = Back(set_current(null_mut()));
    run()
}

/// The rank that runs on this thread, while what is allocated is the process's: as [`on_process_heap`], where the caller sees to it that
/// the rank allocates again, and is not inlined where ranks are suspended.
#[derive(Clone, Copy)]
pub(crate) struct Allocating(*mut Header);

impl Allocating {
    #[inline(always)]
    pub fn suspend() -> Allocating {
        let header = CURRENT.replace(null_mut());
        IN_CALL.set(header);
        Allocating(header)
    }

    #[inline(always)]
    pub fn resume(self) {
        IN_CALL.set(null_mut());
        CURRENT.set(self.0);
    }
}

/// The header of the rank that is in a call on this thread; null if none is.
#[inline(never)]
pub(crate) fn in_call() -> *mut Header {
    IN_CALL.get()
}

/// From now on what the rank that runs allocates is the process's; or its own again. For functions of the C library
/// that cannot be called by a closure, as [`on_process_heap`] does: calls come in pairs, not one inside of another, and
/// the rank does not wait in between.
pub fn use_process_heap(is_used: bool) {
    if is_used {
        KEPT.set(set_current(null_mut()));
    } else {
        set_current(KEPT.replace(null_mut()));
    }
}

/// The allocator of a program with ranks. Whoever allocates while a rank runs does so in that rank's slot; memory is
/// freed where it is.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: talisman_ampi::slot::RankAllocator = talisman_ampi::slot::RankAllocator;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RankAllocator;

// SAFETY: blocks come from the system's allocator or from one slot's heap, and go back to the one whose address they
// have. Layouts are handed on as they are.
unsafe impl GlobalAlloc for RankAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let header = current();
        if header.is_null() {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc(layout) };
        }
        // SAFETY: a header that is current is that of a slot in use, and its rank runs on this thread alone.
        unsafe { allocate(header, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if current().is_null() {
            // The system knows which of its pages are zero already.
            // SAFETY: the caller's promise.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: the caller's promise.
        let block = unsafe { self.alloc(layout) };
        if !block.is_null() {
            // SAFETY: a block of so many bytes, of nobody else.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match header_of(block as usize) {
            // SAFETY: a block at such an address came from this heap.
            Some(header) => unsafe { free(header, block, layout) },
            // SAFETY: the caller's promise.
            None => unsafe { System.dealloc(block, layout) },
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        match header_of(block as usize) {
            // SAFETY: a block at such an address came from this heap.
            Some(header) => unsafe { reallocate(header, block, layout, new_size) },
            // SAFETY: the caller's promise.
            None => unsafe { System.realloc(block, layout, new_size) },
        }
    }
}

/// The header of the slot that an address is in.
#[inline]
fn header_of(address: usize) -> Option<*mut Header> {
    let space = SlotSpace::get().ok()?;
    let (_, offset) = space.slot_of(address)?;
    Some((address - offset + space.layout().header_start()) as *mut Header)
}

/// Null if the rank has used up its memory.
///
/// # Safety
/// The header is that of a slot that is in place, and nobody else uses it.
pub(crate) unsafe fn allocate(header: *mut Header, layout: Layout) -> *mut u8 {
    // SAFETY: the caller's promise.
    let header = unsafe { &mut *header };
    loop {
        if let Some(block) = header.heap.allocate(layout) {
            header.blocks += 1;
            return block.as_ptr();
        }
        if !grow(header, layout.size().saturating_add(layout.align())) {
            refuse(header, layout.size());
            return null_mut();
        }
    }
}

/// # Safety
/// As for [`allocate`], from which the block came with this layout.
pub(crate) unsafe fn free(header: *mut Header, block: *mut u8, layout: Layout) {
    // SAFETY: the caller's promise.
    let header = unsafe { &mut *header };
    header.blocks -= 1;
    if let Some(block) = NonNull::new(block) {
        // SAFETY: the block came from this heap with this alignment.
        unsafe { header.heap.deallocate(block, layout.align()) };
    }
}

/// # Safety
/// As for [`free`]; the new size is not 0.
unsafe fn reallocate(header: *mut Header, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
    // SAFETY: the caller's promise.
    let header = unsafe { &mut *header };
    let Some(block) = NonNull::new(block) else { return null_mut() };
    let Ok(new) = Layout::from_size_align(new_size, layout.align()) else { return null_mut() };
    loop {
        // SAFETY: the block came from this heap with this alignment.
        if let Some(block) = unsafe { header.heap.reallocate(block, new) } {
            return block.as_ptr();
        }
        if !grow(header, new_size.saturating_add(layout.align())) {
            refuse(header, new_size);
            return null_mut();
        }
    }
}

/// Makes more of the heap accessible. Returns whether there was more.
fn grow(header: &mut Header, need: usize) -> bool {
    let used = header.heap_top - header.heap_start;
    // What the allocator itself needs per block and pool, and half a class.
    let Some(need) = need.checked_add(need / 16 + PAGE) else { return false };
    let room = header.heap_end - header.heap_top;
    if need > room {
        return false;
    }
    let by = need.max(used / 4).max(GROWTH).next_multiple_of(PAGE).min(room);
    let old = header.heap_top;
    // SAFETY: these addresses are the slot's own, and nothing is in them yet.
    if unsafe { mprotect(old as *mut c_void, by, MprotectFlags::READ | MprotectFlags::WRITE) }.is_err() {
        return false;
    }
    header.heap_top += by;
    let Some(pool) = NonNull::new(slice_from_raw_parts_mut(old as *mut u8, by)) else { return false };
    // SAFETY: the memory is accessible, nobody's, and lives as long as the slot; it follows the pool before, if there
    // is one.
    unsafe {
        if used == 0 {
            header.heap.insert_free_block_ptr(pool);
        } else {
            header.heap.append_free_block_ptr(pool);
        }
    }
    true
}

/// Says once why an allocation fails: what follows may be an abort that cannot say more. Without allocating.
fn refuse(header: &mut Header, bytes: usize) {
    if header.refused == 0 {
        let limit = (header.heap_end - header.heap_start) as u64;
        crate::thread::say(&[
            b"rank ".into(),
            header.slot.into(),
            b" has used up its memory of ".into(),
            limit.into(),
            b" bytes and wants ".into(),
            (bytes as u64).into(),
            b" more; --rank-memory gives it more\n".into(),
        ]);
    }
    header.refused += 1;
}
