//! `malloc` and its family for ranks: memory of the rank that calls, freed by its address.
//!
//! The functions stand in for the C library's in this executable alone. While no rank runs on a thread they are the C
//! library's. A block of a rank has 16 bytes in front of it: its size, and its alignment.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use talisman_ampi::slot::{PAGE, RankAllocator, SlotSpace};
use talisman_ampi::thread;
use talisman_loader::libc::{has_started_threads, is_own_thread};

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

/// What `malloc` aligns to (System V ABI).
const ALIGN: usize = 16;

/// In front of a block of a rank.
#[repr(C)]
struct Prefix {
    size: usize,
    align: usize,
}

fn is_of_rank(block: *mut c_void) -> bool {
    SlotSpace::get().is_ok_and(|space| space.slot_of(block.addr()).is_some())
}

/// Whether memory is the running rank's. One that has started threads shares it with these: the C library's.
fn is_in_rank() -> bool {
    thread::running().is_some() && !has_started_threads()
}

/// A block with its prefix. The prefix takes as many bytes as the alignment, so that the block has it too.
fn layout(size: usize, align: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(align)?, align).ok()
}

/// A block of the rank that runs; null if it has no memory left.
fn allocate(size: usize, align: usize) -> *mut c_void {
    let align = align.max(ALIGN);
    let Some(layout) = layout(size, align) else { return null_mut() };
    // SAFETY: the layout is not empty, as it has the prefix.
    let start = unsafe { RankAllocator.alloc(layout) };
    if start.is_null() {
        return null_mut();
    }
    // SAFETY: within what was allocated, and aligned as the block is.
    unsafe {
        let block = start.add(align);
        block.cast::<Prefix>().sub(1).write(Prefix { size, align });
        block.cast()
    }
}

/// # Safety
/// A block that [`allocate`] has given, and nobody has freed.
unsafe fn prefix(block: *mut c_void) -> Prefix {
    // SAFETY: the caller's promise.
    unsafe { block.cast::<Prefix>().sub(1).read() }
}

/// # Safety
/// As for [`prefix`].
unsafe fn release(block: *mut c_void) {
    // SAFETY: the caller's promise.
    let Prefix { size, align } = unsafe { prefix(block) };
    if let Some(layout) = layout(size, align) {
        // SAFETY: what was allocated begins so many bytes in front of the block, with this layout.
        unsafe { RankAllocator.dealloc(block.cast::<u8>().sub(align), layout) };
    }
}

/// # Safety
/// As for [`prefix`].
unsafe fn resize(block: *mut c_void, new_size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let Prefix { size, align } = unsafe { prefix(block) };
    let (Some(old), Some(new)) = (layout(size, align), layout(new_size, align)) else { return null_mut() };
    // SAFETY: as in `release`.
    let start = unsafe { RankAllocator.realloc(block.cast::<u8>().sub(align), old, new.size()) };
    if start.is_null() {
        return null_mut();
    }
    // SAFETY: as in `allocate`.
    unsafe {
        let block = start.add(align);
        block.cast::<Prefix>().sub(1).write(Prefix { size: new_size, align });
        block.cast()
    }
}

/// C's `malloc`.
#[unsafe(no_mangle)]
pub extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: C's own function.
    if is_in_rank() { allocate(size, ALIGN) } else { unsafe { __libc_malloc(size) } }
}

/// C's `calloc`.
#[unsafe(no_mangle)]
pub extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    if !is_in_rank() {
        // SAFETY: C's own function.
        return unsafe { __libc_calloc(count, size) };
    }
    let Some(bytes) = count.checked_mul(size) else { return null_mut() };
    let block = allocate(bytes, ALIGN);
    if !block.is_null() {
        // SAFETY: a new block of so many bytes.
        unsafe { block.cast::<u8>().write_bytes(0, bytes) };
    }
    block
}

/// C's `realloc`.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    match (block.is_null(), is_of_rank(block)) {
        (true, _) => malloc(size),
        // SAFETY: C's own block, by the caller's promise.
        (false, false) => unsafe { __libc_realloc(block, size) },
        // SAFETY: as above.
        (false, true) if is_own_thread() => unsafe { move_out(block, size) },
        (false, true) if size == 0 => {
            // SAFETY: a rank's block, by the caller's promise.
            unsafe { release(block) };
            null_mut()
        }
        // SAFETY: as above.
        (false, true) => unsafe { resize(block, size) },
    }
}

/// C's `free`.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    match (block.is_null(), is_of_rank(block)) {
        (true, _) => {}
        // A rank's heap is for its first thread alone: what was made before there were others, and these give back, is not used
        // again.
        (false, true) if is_own_thread() => {}
        // SAFETY: a rank's block, by the caller's promise.
        (false, true) => unsafe { release(block) },
        // SAFETY: C's own block, by the caller's promise.
        (false, false) => unsafe { __libc_free(block) },
    }
}

/// A block of a rank's heap, for a thread that the rank has started: another one of the process's.
///
/// # Safety
/// As for [`prefix`].
unsafe fn move_out(block: *mut c_void, new_size: usize) -> *mut c_void {
    // SAFETY: the caller's promise; C's own function.
    let (old, new) = unsafe { (prefix(block).size, __libc_malloc(new_size)) };
    if !new.is_null() {
        // SAFETY: two blocks that have so many bytes.
        unsafe { block.cast::<u8>().copy_to_nonoverlapping(new.cast(), old.min(new_size)) };
    }
    new
}

/// glibc's `memalign`.
#[unsafe(no_mangle)]
pub extern "C" fn memalign(align: usize, size: usize) -> *mut c_void {
    if !is_in_rank() {
        // SAFETY: C's own function.
        return unsafe { __libc_memalign(align, size) };
    }
    align.checked_next_power_of_two().map_or(null_mut(), |align| allocate(size, align))
}

/// C's `aligned_alloc`.
#[unsafe(no_mangle)]
pub extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    memalign(align, size)
}

/// POSIX's `posix_memalign`.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, align: usize, size: usize) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    let block = memalign(align, size);
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller's promise.
    unsafe { place.write(block) };
    0
}

/// `valloc`.
#[unsafe(no_mangle)]
pub extern "C" fn valloc(size: usize) -> *mut c_void {
    memalign(PAGE, size)
}

/// glibc's `pvalloc`.
#[unsafe(no_mangle)]
pub extern "C" fn pvalloc(size: usize) -> *mut c_void {
    size.checked_next_multiple_of(PAGE).map_or(null_mut(), |size| memalign(PAGE, size))
}

/// glibc's `malloc_usable_size`.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    /// In the size of one of glibc's blocks.
    const FLAGS: usize = 7;
    match (block.is_null(), is_of_rank(block)) {
        (true, _) => 0,
        // SAFETY: a rank's block, by the caller's promise.
        (false, true) => unsafe { prefix(block) }.size,
        // SAFETY: glibc keeps the size of a block in the word in front of it, without that word.
        (false, false) => (unsafe { block.cast::<usize>().sub(1).read() } & !FLAGS) - size_of::<usize>(),
    }
}

/// The family, by its names: programs of ranks get these, by whatever library they ask for them.
pub fn symbol(name: &str) -> Option<usize> {
    let function = match name {
        "malloc" | "__libc_malloc" => malloc as *const (),
        "calloc" | "__libc_calloc" => calloc as *const (),
        "realloc" | "__libc_realloc" => realloc as *const (),
        "free" | "cfree" | "__libc_free" => free as *const (),
        "memalign" | "__libc_memalign" => memalign as *const (),
        "aligned_alloc" => aligned_alloc as *const (),
        "posix_memalign" => posix_memalign as *const (),
        "valloc" => valloc as *const (),
        "pvalloc" => pvalloc as *const (),
        "malloc_usable_size" => malloc_usable_size as *const (),
        _ => return None,
    };
    Some(function.addr())
}
