//! The beginning and the end of a rank's program.

use std::alloc::Layout;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{leave, panics, state, switch};
use crate::slot::{Header, PAGE, Slot, arena_allocate, arena_free};

/// Puts the program's values into the slot's heap, and a first frame onto its stack.
pub(super) fn prepare<F: FnOnce() + Send + 'static>(slot: &Slot, program: F) {
    let header = slot.header().as_ptr();
    // SAFETY: the slot is in place and has no running rank.
    let thread = unsafe { &mut (*header).thread };
    assert_eq!(thread.stack_pointer, 0, "a slot has one thread");
    let layout = layout_of::<F>();
    // SAFETY: as above.
    let block = unsafe { arena_allocate(header, layout) };
    assert!(!block.is_null(), "a new slot has room for its program");
    // SAFETY: memory for a value of this type, of nobody else.
    unsafe { block.cast::<F>().write(program) };
    thread.program = block as usize;
    thread.run = run::<F> as *const () as usize;
    let frame = switch::first_frame(header, enter);
    let top = slot.stack().end / PAGE * PAGE - below_end(slot.number());
    let at = top - size_of_val(&frame);
    // SAFETY: the end of the slot's stack, which nobody uses yet.
    unsafe { (at as *mut [u64; 6]).write(frame) };
    thread.stack_pointer = at;
}

/// How far below its end the stack of a rank begins. Ranks that take turns do the same at the same depth of their stacks, which are all
/// alike, and a processor takes a load for one of what was just stored where the lowest twelve bits of the address are the same.
fn below_end(number: u32) -> usize {
    /// Seven lines of a cache: eight ranks in turn have none in common.
    const STEP: usize = 448;
    number as usize % 8 * STEP
}

/// A closure without values has a place too.
fn layout_of<F>() -> Layout {
    Layout::new::<F>()
        .pad_to_align()
        .extend(Layout::new::<u8>())
        .map_or(Layout::new::<F>(), |(layout, _)| layout)
}

/// The first function on a rank's stack.
extern "sysv64" fn enter(header: *mut Header) -> ! {
    // SAFETY: the running rank's header. `run` was written by `prepare`, from a function of this type.
    let (run, program) = unsafe {
        let thread = &(*header).thread;
        (std::mem::transmute::<usize, unsafe fn(*mut Header, *mut u8)>(thread.run), thread.program as *mut u8)
    };
    // What the program has broken is in its slot, where nobody looks any more.
    // SAFETY: `program` is the value that `prepare` has made for `run`; it is taken once.
    let result = catch_unwind(AssertUnwindSafe(|| unsafe { run(header, program) }));
    // SAFETY: as above.
    let thread = unsafe { &mut (*header).thread };
    thread.ended = if result.is_ok() { state::ENDED } else { state::PANICKED };
    if let Err(payload) = result {
        panics::note_payload(thread, &*payload);
        // Dropping it could panic again.
        std::mem::forget(payload);
    }
    leave(header);
    unreachable!("a thread that has ended is not resumed");
}

/// Takes the program out of the heap and runs it.
unsafe fn run<F: FnOnce()>(header: *mut Header, program: *mut u8) {
    // SAFETY: the caller's promise: the value that was put there, which nobody takes again.
    let own = unsafe { program.cast::<F>().read() };
    // SAFETY: allocated there with this layout.
    unsafe { arena_free(header, program, layout_of::<F>()) };
    own();
}
