//! User-level threads of ranks.
//!
//! A rank runs on its own stack, in its slot, as part of the thread of a PE. [`suspend`] goes back to whoever has
//! [resumed](Thread::resume) it. While it is suspended all that belongs to it is in its slot, so it can move.
//!
//! What belongs to the PE's thread and what to the rank: registers, the stack, `errno`, the modes of floating point
//! (MXCSR, x87) and the stack protector's canary are the rank's, the last one by a value that is the same in the whole
//! job. Thread-locals are the PE's: all its ranks see the same, and what a rank leaves there stays when it moves.
//!
//! A rank must not wait while it unwinds: whether a thread is panicking is known to the thread, and cannot move. It
//! must not hold what the PE's thread owns over a wait, as the lock of standard output; what it has made itself, as a
//! `Mutex` and its guard, it can.

mod fault;
mod guard;
mod output;
mod panics;
mod start;
#[cfg(target_arch = "x86_64")]
mod switch_x86_64;

#[cfg(target_arch = "x86_64")]
use switch_x86_64 as switch;
#[cfg(not(target_arch = "x86_64"))]
compile_error!("ranks run on x86_64 only, so far");

use talisman_pup::{Lender, Packer, Pup, PupError, Unpacker, lease_from};

use crate::slot::{Header, Slot, SlotError, current, images, images_of, set_current};
pub use switch::Saved;

pub use fault::{Answers, set_answers};
pub(crate) use fault::{OtherThreads, set_other_threads};
pub use guard::catch_faults;
pub(crate) use output::{Part, say, write_line};
pub use panics::note_panics;

use switch::Own;

/// A rank's thread and its memory. Suspended whenever one has it.
#[derive(Debug)]
pub struct Thread {
    slot: Slot,
}

/// Why a rank has given the PE back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// It waits.
    Suspended,
    /// Its program has returned.
    Ended,
    /// Its program has panicked: with what, and where if [`note_panics`] was called.
    Panicked {
        /// The message.
        message: String,
        /// File, line and column.
        place: String,
    },
    /// Its program, which was mapped, has met with a fault. It cannot go on.
    Faulted {
        /// The exit status that a shell makes of it: 128 and the number of the signal.
        status: u8,
        /// Which fault, where.
        message: String,
    },
    /// It would wait while it unwinds. It cannot go on.
    Unwinding {
        /// The message of the panic.
        message: String,
        /// File, line and column.
        place: String,
    },
}

/// How far a thread is, in its header.
pub(crate) mod state {
    pub const LIVE: u32 = 0;
    pub const ENDED: u32 = 1;
    pub const PANICKED: u32 = 2;
    pub const UNWINDING: u32 = 3;
    /// And the number of the signal.
    pub const FAULTED: u32 = 1 << 8;
}

impl Thread {
    /// A thread that runs this program when it is resumed for the first time.
    ///
    /// # Panics
    /// If the slot is not in place, has no room for the program's values, or had a thread before.
    pub fn new<F: FnOnce() + Send + 'static>(slot: Slot, program: F) -> Thread {
        assert!(slot.is_in_place(), "a thread begins where its slot is");
        start::prepare(&slot, program);
        Thread { slot }
    }

    /// The slot.
    pub fn slot(&self) -> &Slot {
        &self.slot
    }

    /// The slot, to put it aside.
    pub fn slot_mut(&mut self) -> &mut Slot {
        &mut self.slot
    }

    /// Where its program waits, in words, if that was mapped and its loader knows: function, file and line.
    pub fn place(&self) -> Option<String> {
        if !self.slot.is_in_place() {
            return None;
        }
        let header = self.slot.header().as_ptr();
        // SAFETY: the slot is in place, and its rank does not run.
        let (state, stack_pointer) = unsafe { ((*header).thread.ended, (*header).thread.stack_pointer) };
        let end = self.slot.stack().end;
        if state != state::LIVE || !self.slot.stack().contains(&stack_pointer) {
            return None;
        }
        // SAFETY: the rank is suspended, and its stack is there.
        let (saved, stack) = unsafe {
            let stack = std::slice::from_raw_parts(stack_pointer as *const u8, end - stack_pointer);
            (switch::saved(stack_pointer), stack)
        };
        let mut place = None;
        self.slot.tell_images(|images, base| place = images.place_of(base, &saved, stack));
        place
    }

    /// Runs the rank until it waits or ends. Its slot is put back first.
    ///
    /// # Errors
    /// If its addresses are in use, or the system refuses to move its pages.
    ///
    /// # Panics
    /// If it is called by a rank.
    pub fn resume(&mut self) -> Result<Resumed, SlotError> {
        self.run()?;
        Ok(self.outcome())
    }

    /// The same. Returns whether it waits; else its program is over, and [`Thread::outcome`] says how.
    pub(crate) fn run(&mut self) -> Result<bool, SlotError> {
        self.slot.put_back()?;
        let mut header = self.slot.header().as_ptr();
        // SAFETY: the slot is in place, and its rank does not run.
        if unsafe { (*header).thread.ended } == state::LIVE {
            assert!(set_current(header).is_null(), "ranks are resumed by PEs, not by ranks");
            let own = Own::replace();
            self.slot.tell_images(|images, base| images.resume(base));
            // What a rank makes is in its slot: `Pages` have their memory from the allocator then, not from the PE's store.
            let _of_the_rank = lease_from(None);
            // SAFETY: the stack pointer is that of a suspended thread whose stack is in place, or of one that was
            // prepared.
            unsafe { switch::switch(&raw mut (*header).thread.resumer, (*header).thread.stack_pointer) };
            own.put_back();
            header = set_current(std::ptr::null_mut());
            // SAFETY: the header is that of a slot in place: of this one, or of one whose rank has gone on in its place.
            unsafe { suspend_images(header) };
        }
        // SAFETY: as above.
        Ok(unsafe { (*header).thread.ended } == state::LIVE)
    }

    /// It has the turn of the rank that runs, whose header this is and which suspends itself in its favour: what its program has of the
    /// thread, it gets. Where that one [goes to](suspend_for).
    #[inline]
    pub(crate) fn begin_turn_of(&mut self, former: &Thread) -> Next {
        former.slot.tell_images(|images, base| images.suspend(base));
        let (header, former) = (self.slot.header().as_ptr(), former.slot.header().as_ptr());
        // SAFETY: both slots are in place; this rank does not run, and nobody looks at the header of the other.
        unsafe { (*header).thread.resumer = (*former).thread.resumer };
        self.slot.tell_images(|images, base| images.resume(base));
        Next(header)
    }

    /// Whether it is to be asked if it is held ([`Slot::held`]).
    pub(crate) fn is_held_anew(&self) -> bool {
        self.slot.is_held_anew()
    }

    /// Whether it would go on if it had the turn of a rank that runs.
    pub(crate) fn can_have_turn(&self) -> bool {
        // SAFETY: a header is there as long as the slot is, and the rank does not run.
        self.slot.is_in_place() && unsafe { self.slot.header().as_ref() }.thread.ended == state::LIVE
    }

    /// What its program has done. Its slot is there, and it does not run.
    pub(crate) fn outcome(&self) -> Resumed {
        // SAFETY: a header is there as long as the slot is.
        panics::outcome(unsafe { &self.slot.header().as_ref().thread })
    }
}

/// The slot: all else is in it.
impl Pup for Thread {
    fn pack(&self, p: &mut Packer) {
        self.slot.pack(p);
    }

    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        self.slot.lend(l);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Slot::unpack(u).map(|slot| Thread { slot })
    }
}

/// The slot of the rank that calls; none if no rank runs on this thread.
pub fn running() -> Option<u32> {
    let header = current();
    // SAFETY: a header that is current is that of a slot in place.
    (!header.is_null()).then(|| unsafe { (*header).slot } as u32)
}

/// Gives the PE back until the rank is resumed, maybe in another process.
///
/// # Panics
/// If no rank calls it.
pub fn suspend() {
    let header = current();
    assert!(!header.is_null(), "only ranks are suspended");
    // SAFETY: the running rank's header; nobody else looks at it now.
    let thread = unsafe { &mut (*header).thread };
    if std::thread::panicking() {
        thread.ended = state::UNWINDING;
    }
    thread.errno = errno();
    leave(header);
    // SAFETY: the same header, wherever this is now.
    set_errno(unsafe { (*header).thread.errno });
}

/// The thread that a rank has handed its turn to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next(*mut Header);

/// As [`suspend`], but the PE does not get its thread back: the rank that has the [turn](Thread::begin_turn_of) goes on.
///
/// # Panics
/// If no rank calls it.
pub(crate) fn suspend_for(Next(next): Next) {
    let header = current();
    assert!(!header.is_null(), "only ranks are suspended");
    set_current(next);
    // SAFETY: the running rank's header, and that of one which waits in place, and has its turn: its stack pointer was saved when it was
    // suspended.
    unsafe {
        (*header).thread.errno = errno();
        switch::switch(&raw mut (*header).thread.stack_pointer, (*next).thread.stack_pointer);
        // The same header, wherever this is now.
        set_errno((*header).thread.errno);
    }
}

/// What the thread has of a rank's program goes to the rank.
///
/// # Safety
/// The header is that of a slot in place.
unsafe fn suspend_images(header: *mut Header) {
    // SAFETY: the caller's promise.
    let (slot, len) = unsafe { ((*header).slot, (*header).images) };
    if len > 0
        && let Ok(images) = images(slot as u32)
    {
        images.suspend(images_of(slot as u32, len as usize).start);
    }
}

/// Ends the rank that calls, wherever it is in its program: nothing on its stack is dropped.
///
/// # Panics
/// If no rank calls it.
pub fn end() -> ! {
    let header = current();
    assert!(!header.is_null(), "only ranks are ended");
    // SAFETY: as in `suspend`.
    unsafe { (*header).thread.ended = state::ENDED };
    leave(header);
    unreachable!("a thread that has ended is not resumed");
}

/// Back to who has resumed this rank.
#[inline(always)]
fn leave(header: *mut Header) {
    // SAFETY: the running rank's header, whose `resumer` was written when it was resumed, by a function that has not
    // returned.
    unsafe { switch::switch(&raw mut (*header).thread.stack_pointer, (*header).thread.resumer) };
}

fn errno() -> i32 {
    // SAFETY: the C library's own variable of this thread.
    unsafe { *libc::__errno_location() }
}

fn set_errno(value: i32) {
    // SAFETY: the C library's own variable of this thread.
    unsafe { *libc::__errno_location() = value }
}
