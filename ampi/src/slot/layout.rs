//! How a slot is divided, from low addresses to high:
//!
//! ```text
//! [ guard ][ stack ][ header ][ images ][ heap ... ]
//! ```

/// Addresses of slots begin here in every process of a job. Nothing else is there: Linux places mappings from the top
/// down, and programs at the bottom.
pub const BASE: usize = 0x2000_0000_0000;

/// Length of a page. Other lengths are refused when the space is reserved.
pub const PAGE: usize = 4096;

/// Room for what the slot itself has to know: where its heap ends, its allocator, its suspended thread.
pub const HEADER: usize = 64 << 10;

/// Rooms for images begin at a multiple of this, as programs are linked for.
pub const IMAGES_ALIGN: usize = 64 << 10;

/// Lengths of the parts of a slot in bytes, each a multiple of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Never mapped: who runs out of stack ends there. A frame larger than this could jump over it, so functions that
    /// have such frames touch each of their pages (`-Z probe-stack`, on by default; `-fstack-clash-protection` in C).
    pub guard: usize,
    /// The stack.
    pub stack: usize,
    /// Room for images of programs.
    pub images: usize,
    /// The heap, at most.
    pub heap: usize,
}

impl Layout {
    /// What ranks have if nothing else is asked for: slots of 1 GiB. Pages that are not touched cost nothing.
    pub const DEFAULT: Layout =
        Layout { guard: 64 << 10, stack: 8 << 20, images: 256 << 20, heap: (1 << 30) - (265 << 20) };

    /// For simulation, where many ranks are in one process and do little.
    pub const SMALL: Layout = Layout { guard: 64 << 10, stack: 128 << 10, images: 0, heap: 1 << 20 };

    /// From one slot to the next: a power of two, so that the slot of an address is found by a shift.
    pub fn slot(&self) -> usize {
        (self.heap_start() + self.heap).next_power_of_two()
    }

    /// Where the stack ends and the header begins.
    pub fn header_start(&self) -> usize {
        self.guard + self.stack
    }

    /// Where the room for images begins.
    pub fn images_start(&self) -> usize {
        self.header_start() + HEADER
    }

    /// Where the heap begins.
    pub fn heap_start(&self) -> usize {
        self.images_start() + self.images
    }

    /// Whether all parts are whole pages, and those that have to be there are.
    pub fn is_valid(&self) -> bool {
        let whole =
            [self.guard, self.stack, self.images, self.heap].iter().all(|part| part.is_multiple_of(PAGE));
        let total = [self.guard, self.stack, self.images, self.heap]
            .iter()
            .try_fold(HEADER, |sum, part| sum.checked_add(*part));
        whole
            && self.guard > 0
            && self.stack > 0
            && self.heap > 0
            && (self.images == 0 || self.images_start().is_multiple_of(IMAGES_ALIGN))
            && total.is_some_and(|total| total < 1 << 44)
    }
}
