//! Slots: the memory of ranks.
//!
//! Each rank has a range of addresses of its own, which is the same in every process of a job ([`SlotSpace`]). Its
//! stack and heap are there, so pointers in it stay right wherever the rank is. What leaves a process are the pages
//! that were touched; they arrive anywhere and are moved to their addresses by the system, without a copy.
//!
//! A slot that is put *aside* keeps its pages at other addresses: its own are free for a rank that comes back before
//! the link has sent what left, and in simulation, where several nodes are in one process, for another node's idea of
//! the same rank.

mod arena;
mod aside;
mod fixed;
mod header;
mod images;
mod layout;
mod packing;
mod pages;
mod reserved;
mod space;

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::mm::{MprotectFlags, mprotect};

pub(crate) use arena::{
    Allocating, allocate as arena_allocate, current, free as arena_free, in_call, set_current,
};
pub use arena::{RankAllocator, on_process_heap, use_process_heap};
pub(crate) use header::{Header, Suspended};
use images::home_of_images;
pub use images::{Held, Images, ImagesError, Noted, set_images, set_images_of};
pub(crate) use images::{images, images_of};
pub use layout::{BASE, HEADER, Layout, PAGE};
pub use reserved::Reserved;
pub use space::{SlotError, SlotSpace};

use aside::Piece;

/// The memory of one rank.
#[derive(Debug)]
pub struct Slot {
    number: u32,
    space: &'static SlotSpace,
    /// Stack and header.
    low: Piece,
    /// The program that was mapped; none if its length is 0.
    images: Piece,
    /// The accessible part of the heap. While the slot is in place, its length is that in the header.
    heap: Piece,
    in_place: bool,
}

/// Whether programs run code on their stacks.
static STACKS_HAVE_CODE: AtomicBool = AtomicBool::new(false);

/// The program runs code on its stack, as functions inside of functions do that are passed to others. To be called before any slot is
/// made, in each process.
pub fn let_stacks_have_code() {
    STACKS_HAVE_CODE.store(true, Ordering::Relaxed);
}

fn access_to_stacks() -> MprotectFlags {
    let access = MprotectFlags::READ | MprotectFlags::WRITE;
    if STACKS_HAVE_CODE.load(Ordering::Relaxed) { access | MprotectFlags::EXEC } else { access }
}

impl Slot {
    /// Makes a slot's stack and header accessible.
    ///
    /// # Errors
    /// If there is no such slot, another one is at its addresses, or the system refuses.
    pub fn new(number: u32) -> Result<Slot, SlotError> {
        let space = SlotSpace::get()?;
        let at = space.address(number)?;
        space.occupy(number)?;
        let layout = space.layout();
        let (stack, len) = (at + layout.guard, layout.stack + HEADER);
        // SAFETY: the slot's own addresses, which nobody else occupies.
        let access = unsafe { mprotect(stack as *mut c_void, len, access_to_stacks()) };
        if let Err(error) = access {
            space.leave(number);
            return Err(SlotError::Memory { slot: number, error: error.into() });
        }
        let heap_start = at + layout.heap_start();
        let low = Piece { home: stack, now: stack, len };
        let heap = Piece { home: heap_start, now: heap_start, len: 0 };
        let images = Piece { home: stack + len, now: stack + len, len: 0 };
        let slot = Slot { number, space, low, images, heap, in_place: true };
        // SAFETY: accessible, and of zeroes, which is a valid header.
        let header = unsafe { &mut *slot.header().as_ptr() };
        header.magic = header::MAGIC;
        header.slot = u64::from(number);
        (header.heap_start, header.heap_top, header.heap_end) =
            (heap_start, heap_start, heap_start + layout.heap);
        header.heap = header::Heap::new();
        Ok(slot)
    }

    /// The same where several nodes are in one process: see [`Slot::put_back_in_turn`].
    ///
    /// # Errors
    /// As for [`Slot::new`].
    pub fn new_in_turn(number: u32) -> Result<Slot, SlotError> {
        loop {
            match Slot::new(number) {
                Err(SlotError::Occupied(_)) => SlotSpace::get()?.wait_until_free(number)?,
                other => return other,
            }
        }
    }

    /// Which slot it is.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Whether its pages are at its addresses: only then its rank can run.
    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Blocks that are allocated in its heap.
    pub fn blocks(&self) -> u64 {
        // SAFETY: a header is there as long as the slot is; its rank does not run while this is borrowed.
        unsafe { self.header().as_ref() }.blocks
    }

    /// Maps the [program](set_images) of this process into it. To be called once, before its rank begins.
    ///
    /// # Errors
    /// If there is none, it has no room, or cannot be mapped.
    ///
    /// # Panics
    /// If the slot is not in place, or has one.
    pub fn load_images(&mut self) -> Result<(), ImagesError> {
        assert!(self.in_place && self.images.len == 0, "a program is loaded once, where it runs");
        let (images, room) = (images(self.number)?, self.space.layout().images);
        let span = images.span();
        match images.fixed() {
            Some(home) => {
                fixed::occupy(self.number)?;
                (self.images.home, self.images.now) = (home, home);
            }
            None if span > room => return Err(ImagesError::Room { span, room }),
            // What it is to have may have become known only now.
            None => {
                (self.images.home, self.images.now) =
                    (self.low.home + self.low.len, self.low.home + self.low.len)
            }
        }
        self.images.len = span;
        let loaded = self.as_rank(|| {
            // SAFETY: the room of this slot, which is in place and has no program yet.
            unsafe { images.load(self.images.home) }
        });
        if loaded.is_err() {
            self.images.discard()?;
            fixed::leave(self.number);
            return loaded;
        }
        // SAFETY: the slot is in place, and its rank does not run.
        unsafe { self.header().as_mut() }.images = span as u64;
        self.tell_as_rank(|images, base| images.arrive(base));
        Ok(())
    }

    /// The addresses of the program that was mapped, when it is in place; empty if none was.
    pub fn images(&self) -> std::ops::Range<usize> {
        self.images.home..self.images.home + self.images.len
    }

    /// Whether its rank's program has to be where it is, in any process.
    pub fn is_fixed(&self) -> bool {
        self.images.len > 0 && images(self.number).is_ok_and(|images| images.fixed().is_some())
    }

    /// Whether its rank is held where it is, which does not run.
    pub fn held(&self) -> Held {
        let mut held = Held::AsBefore;
        if self.in_place && self.images.len > 0 {
            self.tell_as_rank(|images, base| held = images.held(base));
        }
        held
    }

    /// Whether that has to be asked.
    pub fn is_held_anew(&self) -> bool {
        let mut is_anew = false;
        self.tell_images(|images, base| is_anew = images.is_held_anew(base));
        is_anew
    }

    /// Whether its rank has locked a file, as long as it stays where it is. It does not run.
    pub fn locks(&self) -> bool {
        let mut locks = false;
        if self.in_place && self.images.len > 0 {
            self.tell_images(|images, base| locks = images.locks(base));
        }
        locks
    }

    /// Whether its rank may have written to a file since it was made, or since all had [come back](Slot::restored). It does not run.
    pub fn writes(&self) -> bool {
        let mut writes = false;
        if self.in_place && self.images.len > 0 {
            self.tell_images(|images, base| writes = images.writes(base));
        }
        writes
    }

    /// What its rank's program has noted when it was copied. The slot is in place, and its rank does not run.
    pub fn noted(&self) -> Vec<(Vec<u8>, u64)> {
        let mut noted = Vec::new();
        self.tell_images(|images, base| noted = images.noted(base));
        noted
    }

    /// All that were copied at the same time are back: its rank may go on. The slot is in place.
    ///
    /// # Errors
    /// If it must not: something is not as it was then.
    pub fn restored(&self, noted: &Noted) -> Result<(), String> {
        let mut restored = Ok(());
        self.tell_as_rank(|images, base| restored = images.restored(base, noted));
        restored
    }

    /// All that were copied at the same time are restored, and go on. The slot is in place.
    pub fn go_on(&self) {
        self.tell_as_rank(|images, base| images.go_on(base));
    }

    /// Moves its pages to other addresses; its own are free from then on.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn put_aside(&mut self) -> Result<(), SlotError> {
        if self.in_place {
            self.tell_as_rank(|images, base| images.leave(base));
            self.heap.len = self.heap_len();
            let pieces = [&mut self.low, &mut self.images, &mut self.heap];
            let moved = pieces.into_iter().try_for_each(Piece::put_aside);
            moved.map_err(|error| self.memory(error))?;
            self.in_place = false;
            fixed::leave(self.number);
            self.space.leave(self.number);
        }
        Ok(())
    }

    /// Moves its pages to its addresses.
    ///
    /// # Errors
    /// If another slot is there, or the system refuses.
    #[inline]
    pub fn put_back(&mut self) -> Result<(), SlotError> {
        // Mostly it is in place, and nobody waits for that.
        if self.in_place { Ok(()) } else { self.move_back() }
    }

    #[cold]
    fn move_back(&mut self) -> Result<(), SlotError> {
        if self.is_fixed() {
            fixed::occupy(self.number)?;
        }
        self.space.occupy(self.number)?;
        let pieces = [&mut self.low, &mut self.images, &mut self.heap];
        let moved = pieces.into_iter().try_for_each(Piece::put_back);
        moved.map_err(|error| self.memory(error))?;
        if STACKS_HAVE_CODE.load(Ordering::Relaxed) {
            // Pages may have come from elsewhere.
            let Piece { home, len, .. } = self.low;
            // SAFETY: the slot's own addresses, which are accessible.
            let access = unsafe { mprotect(home as *mut c_void, len, access_to_stacks()) };
            access.map_err(|error| self.memory(error.into()))?;
        }
        self.in_place = true;
        self.tell_as_rank(|images, base| images.arrive(base));
        Ok(())
    }

    /// The same where several nodes are in one process, and another one's idea of the same rank may run now: it gives the
    /// addresses back when it waits.
    ///
    /// # Errors
    /// As for [`Slot::put_back`].
    #[inline]
    pub fn put_back_in_turn(&mut self) -> Result<(), SlotError> {
        if self.in_place { Ok(()) } else { self.move_back_in_turn() }
    }

    #[cold]
    fn move_back_in_turn(&mut self) -> Result<(), SlotError> {
        loop {
            match self.move_back() {
                Err(SlotError::Occupied(_)) => self.space.wait_until_free(self.number)?,
                other => return other,
            }
        }
    }

    /// Its header, wherever that is now.
    pub(crate) fn header(&self) -> NonNull<Header> {
        let at = self.low.now + self.space.layout().stack;
        NonNull::new(at as *mut Header).expect("an address of a mapping is not null")
    }

    /// The addresses of its stack, when it is in place.
    pub(crate) fn stack(&self) -> std::ops::Range<usize> {
        self.low.home..self.low.home + self.space.layout().stack
    }

    fn heap_len(&self) -> usize {
        // SAFETY: as in `blocks`.
        let header = unsafe { self.header().as_ref() };
        header.heap_top - header.heap_start
    }

    pub(crate) fn tell_images(&self, tell: impl FnOnce(&dyn Images, usize)) {
        if self.images.len > 0
            && let Ok(images) = images(self.number)
        {
            tell(images, self.images.home);
        }
    }

    /// The same with the rank's memory to allocate from: while the slot is in place, and its rank does not run.
    fn tell_as_rank(&self, tell: impl FnOnce(&dyn Images, usize)) {
        self.as_rank(|| self.tell_images(tell));
    }

    fn as_rank<T>(&self, work: impl FnOnce() -> T) -> T {
        let former = set_current(self.header().as_ptr());
        let result = work();
        set_current(former);
        result
    }

    fn memory(&self, error: std::io::Error) -> SlotError {
        SlotError::Memory { slot: self.number, error }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.in_place {
            let mut stays = false;
            self.tell_images(|images, base| stays = images.stays(base));
            if stays {
                return;
            }
            self.tell_as_rank(|images, base| images.end(base));
            self.heap.len = self.heap_len();
        }
        // What the system refuses to take back stays mapped, and its addresses occupied.
        let pieces = [&mut self.low, &mut self.images, &mut self.heap];
        let gone = pieces.into_iter().all(|piece| piece.discard().is_ok());
        if self.in_place && gone {
            fixed::leave(self.number);
            self.space.leave(self.number);
        }
    }
}
