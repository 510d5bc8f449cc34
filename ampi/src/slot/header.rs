//! What a slot knows of itself. It lies in the slot, so it moves with it.

use rlsf::Tlsf;

use super::layout::HEADER;

/// Marks a slot that is in use: "talslot" and a version.
pub(super) const MAGIC: u64 = 0x746f_6c73_6c61_7402;

/// Blocks up to 4 GiB, in classes that lose 1/32 at most.
pub(super) type Heap = Tlsf<'static, u32, u32, 27, 32>;

/// The header. Zeroes are a valid one of a slot that was not used.
#[repr(C)]
pub(crate) struct Header {
    pub magic: u64,
    pub slot: u64,
    /// The part of the heap that is accessible, and where it has to end.
    pub heap_start: usize,
    pub heap_top: usize,
    pub heap_end: usize,
    /// Blocks that are allocated.
    pub blocks: u64,
    /// Set when an allocation was refused.
    pub refused: u64,
    /// Bytes of the program that was mapped; 0 if none was.
    pub images: u64,
    pub thread: Suspended,
    pub heap: Heap,
}

/// A thread that does not run.
#[repr(C)]
pub(crate) struct Suspended {
    /// Its stack pointer; 0 if it has no frame yet.
    pub stack_pointer: usize,
    /// That of who has resumed it, while it runs.
    pub resumer: usize,
    pub errno: i32,
    /// Its program has returned or panicked.
    pub ended: u32,
    /// What to run: a closure in the heap, and the function that takes it from there.
    pub program: usize,
    pub run: usize,
    /// The file and line of a panic, and its message.
    pub place: [u8; 160],
    pub message: [u8; 256],
}

const _: () = assert!(size_of::<Header>() <= HEADER, "the header has its room");
