//! Memory that a rank maps itself.
//!
//! Plain memory is taken from the rank's heap: so it is in the slot, and moves, as far as it was touched. All else is
//! where the system puts it: as long as there is some, the rank is held where it is
//! ([`State::held`](super::State::held)).

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use ::libc::off_t;
use ::libc::{
    MAP_ANONYMOUS, MAP_FAILED, MAP_FIXED, MAP_NORESERVE, MAP_PRIVATE, MREMAP_MAYMOVE, PROT_EXEC, PROT_READ,
    PROT_WRITE,
};

use super::list::List;
use super::{current, functions, set_errno};
use crate::PAGE;

/// More is where the system puts it: mostly addresses that are reserved, and a heap has as many.
const OWN_MAX: usize = 256 << 20;
/// So much is mapped anew in the heap, to be touched when it is used; less is filled with zeroes.
const FRESH_MIN: usize = 256 << 10;

/// What a rank has mapped: plain data.
#[repr(C)]
pub struct Mappings {
    /// Bytes that are not in the slot.
    outside: usize,
    own: List<Block>,
    /// Of System V (`shmat`), which are outside as well.
    attached: List<Block>,
    /// There are more or fewer since somebody looked.
    changed: bool,
}

/// A piece of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
struct Block {
    start: usize,
    len: usize,
    /// Bytes of it that were not unmapped.
    left: usize,
}

impl Mappings {
    pub const fn new() -> Mappings {
        Mappings { outside: 0, own: List::new(), attached: List::new(), changed: false }
    }

    /// How many bytes are mapped outside of the slot.
    pub fn outside(&self) -> usize {
        self.outside
    }

    fn add(&mut self, len: usize) {
        self.outside = self.outside.saturating_add(len);
        self.changed = true;
    }

    fn remove(&mut self, len: usize) {
        self.outside = self.outside.saturating_sub(len);
        self.changed = true;
    }

    /// Whether anything has changed since this was called last.
    pub fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The same, and it stays so.
    pub fn has_change(&self) -> bool {
        self.changed
    }

    /// The piece of the heap that an address is in, and its number.
    fn own(&self, at: usize) -> Option<(usize, Block)> {
        let blocks = (0..self.own.len()).filter_map(|number| Some((number, self.own.get(number)?)));
        blocks.into_iter().find(|(_, block)| at.checked_sub(block.start).is_some_and(|at| at < block.len))
    }

    /// Zeroes of the heap; none if there are not enough.
    fn take(&mut self, len: usize) -> Option<*mut c_void> {
        // SAFETY: the rank's heap.
        let start = unsafe { ::libc::aligned_alloc(PAGE, len) };
        if start.is_null() {
            return None;
        }
        if !self.own.push(Block { start: start as usize, len, left: len }) {
            // SAFETY: it was taken just now.
            unsafe { ::libc::free(start) };
            return None;
        }
        // SAFETY: as many bytes were taken.
        unsafe { zero(start, len) };
        Some(start)
    }

    /// Gives a piece back when nothing of it is mapped any more.
    fn give_back(&mut self, number: usize, block: Block, len: usize) {
        let left = block.left.saturating_sub(len);
        if left > 0 {
            self.own.set(number, Block { left, ..block });
            return;
        }
        self.own.take_last(|known| *known == block);
        let start = block.start as *mut c_void;
        // SAFETY: it was taken from the heap, and is given back once. What was touched of much memory is given to the
        // system, as the program has said, and need not move any more.
        unsafe {
            if block.len >= FRESH_MIN {
                zero(start, block.len);
            }
            ::libc::free(start);
        }
    }
}

/// Makes zeroes of whole pages of the heap.
///
/// # Safety
/// They are the caller's.
unsafe fn zero(start: *mut c_void, len: usize) {
    let (access, kind) = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
    // SAFETY: the caller's promise.
    unsafe {
        if len < FRESH_MIN || ::libc::mmap(start, len, access, kind, -1, 0) == MAP_FAILED {
            start.write_bytes(0, len);
        }
    }
}

functions! {
    "mmap" => map,
    "mmap64" => map,
    "__mmap" => map,
    "munmap" => unmap,
    "__munmap" => unmap,
    "mremap" => map_elsewhere,
    "mprotect" => protect,
    "__mprotect" => protect,
    "shmat" => attach,
    "shmdt" => detach,
}

fn mappings<'a>() -> &'a mut Mappings {
    // SAFETY: the running rank's state; nobody else looks at it.
    unsafe { &mut (*current()).mappings }
}

/// Whole pages; none if it is too much or nothing.
fn pages(len: usize) -> Option<usize> {
    len.checked_next_multiple_of(PAGE).filter(|len| *len > 0)
}

unsafe extern "C" fn map(
    place: *mut c_void,
    len: usize,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: off_t,
) -> *mut c_void {
    let plain = flags & !MAP_NORESERVE == MAP_PRIVATE | MAP_ANONYMOUS && access == PROT_READ | PROT_WRITE;
    let own = pages(len).filter(|len| plain && *len <= OWN_MAX);
    if let Some(taken) = own.and_then(|len| mappings().take(len)) {
        return taken;
    }
    // SAFETY: called as C's function is.
    let mapped = unsafe { ::libc::mmap(place, len, access, flags, file, offset) };
    // In a place that the rank has mapped before, nothing is added.
    if mapped != MAP_FAILED && flags & MAP_FIXED == 0 {
        mappings().add(pages(len).unwrap_or(0));
    }
    mapped
}

/// A part of a piece of the heap stays there until all of it is unmapped.
unsafe extern "C" fn unmap(place: *mut c_void, len: usize) -> c_int {
    let all = mappings();
    if let (Some((number, block)), Some(len)) = (all.own(place as usize), pages(len)) {
        all.give_back(number, block, len);
        return 0;
    }
    // SAFETY: called as C's function is.
    let result = unsafe { ::libc::munmap(place, len) };
    if result == 0 {
        all.remove(pages(len).unwrap_or(0));
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
    let all = mappings();
    if all.own(place as usize).is_some() {
        // SAFETY: called as C's function is.
        return unsafe { move_own(place, old, new, flags) };
    }
    // SAFETY: called as C's function is.
    let mapped = unsafe { ::libc::mremap(place, old, new, flags, wanted) };
    if mapped != MAP_FAILED {
        all.remove(pages(old).unwrap_or(0));
        all.add(pages(new).unwrap_or(0));
    }
    mapped
}

/// # Safety
/// So many bytes of a piece of the heap begin at `place`.
unsafe fn move_own(place: *mut c_void, old: usize, new: usize, flags: c_int) -> *mut c_void {
    let (access, kind) = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    if flags != MREMAP_MAYMOVE {
        set_errno(::libc::ENOMEM);
        return MAP_FAILED;
    }
    // SAFETY: new memory, and bytes of both.
    unsafe {
        let mapped = map(null_mut(), new, access, kind, -1, 0);
        if mapped != MAP_FAILED {
            std::ptr::copy_nonoverlapping(place.cast::<u8>(), mapped.cast::<u8>(), old.min(new));
            unmap(place, old);
        }
        mapped
    }
}

/// The heap can always be read, as it is packed when the rank moves; code in it would not be code any more.
unsafe extern "C" fn protect(place: *mut c_void, len: usize, access: c_int) -> c_int {
    let all = mappings();
    if all.own(place as usize).is_some() {
        if access & PROT_READ == 0 {
            return 0;
        }
        if access & PROT_EXEC != 0 {
            all.add(pages(len).unwrap_or(0));
        }
    }
    // SAFETY: called as C's function is.
    unsafe { ::libc::mprotect(place, len, access) }
}

unsafe extern "C" fn attach(id: c_int, place: *const c_void, flags: c_int) -> *mut c_void {
    // SAFETY: called as C's function is; then asks how long it is, in a place for that.
    let (at, len) = unsafe {
        let mut told: ::libc::shmid_ds = std::mem::zeroed();
        let at = ::libc::shmat(id, place, flags);
        (at, if ::libc::shmctl(id, ::libc::IPC_STAT, &raw mut told) == 0 { told.shm_segsz } else { PAGE })
    };
    if at != MAP_FAILED {
        let (start, all) = (at as usize, mappings());
        all.add(len);
        // Without memory for it, it is never known to be gone.
        let _is_known = all.attached.push(Block { start, len, left: len });
    }
    at
}

unsafe extern "C" fn detach(place: *const c_void) -> c_int {
    // SAFETY: called as C's function is.
    let result = unsafe { ::libc::shmdt(place) };
    let all = mappings();
    if result == 0
        && let Some(known) = all.attached.take_last(|known| known.start == place as usize)
    {
        all.remove(known.len);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_memory_is_not_touched_before_it_is_used() {
        let mut mappings = Mappings::new();
        let len = 2 * FRESH_MIN;
        let touched = |start: usize| {
            let mut pages = [0u8; 2 * FRESH_MIN / PAGE];
            // SAFETY: asks about pages that are mapped; a byte for each.
            let asked = unsafe { ::libc::mincore(start as *mut c_void, len, pages.as_mut_ptr()) };
            assert_eq!(asked, 0);
            pages.iter().filter(|page| **page & 1 != 0).count()
        };
        let start = mappings.take(len).expect("there is memory") as usize;
        assert_eq!(touched(start), 0);
        // SAFETY: a byte of it.
        unsafe { ((start + PAGE) as *mut u8).write(7) };
        assert_eq!(touched(start), 1);
        let (number, block) = mappings.own(start).expect("it is known");
        mappings.give_back(number, block, len);
        let again = mappings.take(len).expect("there is memory") as usize;
        // SAFETY: a byte of it.
        assert_eq!(unsafe { ((again + PAGE) as *const u8).read() }, 0);
    }

    #[test]
    fn a_piece_is_given_back_when_nothing_is_left_of_it() {
        let mut mappings = Mappings::new();
        let start = mappings.take(3 * PAGE).expect("there is memory") as usize;
        assert!(start.is_multiple_of(PAGE));
        let (number, block) = mappings.own(start + 2 * PAGE).expect("it is known");
        mappings.give_back(number, block, PAGE);
        let (number, block) = mappings.own(start).expect("some is left");
        assert_eq!((block.left, mappings.own(start + 3 * PAGE)), (2 * PAGE, None));
        mappings.give_back(number, block, 2 * PAGE);
        assert_eq!((mappings.own(start), mappings.own.len(), mappings.outside()), (None, 0, 0));
    }
}
