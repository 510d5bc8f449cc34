//! Time stamps that a program takes from the processor by itself (`rdtsc`, `rdtscp`). Nobody sees that, unless the instruction is forbidden
//! while ranks run: then each of them is a fault, which is answered here. A rank that does again what it did gets the same.

use std::arch::x86_64::{__rdtscp, _rdtsc};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use ::libc::{REG_RAX, REG_RCX, REG_RDX, REG_RIP, c_int, ucontext_t};

use super::CURRENT;
use super::pause::world;

/// What the last one was, and how far this processor's are behind: a rank may have come from another host. Plain data.
#[repr(C)]
pub struct TimeStamps {
    last: u64,
    behind: u64,
}

static ARE_TRAPPED: AtomicBool = AtomicBool::new(false);

/// From now on they are answered, in all ranks of this process.
///
/// # Errors
/// The system cannot forbid them.
pub fn trap_time_stamps() -> io::Result<()> {
    let mut now: c_int = 0;
    // SAFETY: asks about this thread, with a place for the answer.
    if unsafe { ::libc::prctl(::libc::PR_GET_TSC, &raw mut now) } != 0 {
        return Err(io::Error::last_os_error());
    }
    ARE_TRAPPED.store(true, Ordering::Relaxed);
    Ok(())
}

impl TimeStamps {
    pub const fn new() -> TimeStamps {
        TimeStamps { last: 0, behind: 0 }
    }

    pub fn enter() {
        if ARE_TRAPPED.load(Ordering::Relaxed) {
            allow(::libc::PR_TSC_SIGSEGV);
        }
    }

    pub fn leave() {
        if ARE_TRAPPED.load(Ordering::Relaxed) {
            allow(::libc::PR_TSC_ENABLE);
        }
    }

    /// Never less than the last one.
    fn next(&mut self, now: u64) -> u64 {
        let next = now.wrapping_add(self.behind);
        if next > self.last {
            return next;
        }
        self.behind = self.last.wrapping_add(1).wrapping_sub(now);
        self.last.wrapping_add(1)
    }
}

/// Starts a program: it would inherit that they are forbidden, with nobody there who answers them.
pub fn allowed<T>(start: impl FnOnce() -> T) -> T {
    TimeStamps::leave();
    let started = start();
    TimeStamps::enter();
    started
}

fn allow(what: c_int) {
    // SAFETY: for this thread alone. A system that can tell can do it.
    unsafe { ::libc::prctl(::libc::PR_SET_TSC, what) };
}

/// How long the instruction is, if it takes a time stamp.
fn length(code: [u8; 3]) -> Option<usize> {
    match code {
        [0x0f, 0x31, _] => Some(2),
        [0x0f, 0x01, 0xf9] => Some(3),
        _ => None,
    }
}

/// Answers the instruction that met with a fault, if it took a time stamp: with one that the rank gets again if it is the program's own, and
/// not that of a library of the process, such as a clock. False if it did something else.
///
/// # Safety
/// These are the registers with which a fault interrupted this thread, in code that can be read; a rank runs there, or none does.
pub unsafe fn answer_time_stamp(context: &mut ucontext_t, is_of_program: bool) -> bool {
    if !ARE_TRAPPED.load(Ordering::Relaxed) {
        return false;
    }
    let registers = &mut context.uc_mcontext.gregs;
    // SAFETY: code is at least as long as an instruction that ends a function, behind this one.
    let code = unsafe { (registers[REG_RIP as usize] as *const [u8; 3]).read_unaligned() };
    let Some(len) = length(code) else { return false };
    allow(::libc::PR_TSC_ENABLE);
    let mut processor = 0;
    // SAFETY: every processor of 64 bits has the first, and one that was to do the second has that.
    let mut stamp = || unsafe { if len == 2 { _rdtsc() } else { __rdtscp(&raw mut processor) } };
    // SAFETY: a state that is entered is there, and nobody else looks at it.
    let state = unsafe { CURRENT.get().as_mut() }.filter(|_| is_of_program);
    let stamp = match state {
        None => stamp(),
        Some(state) => {
            let stamps = &mut state.time_stamps;
            let [stamp, _] = world(&mut || [stamps.next(stamp()), 0]);
            stamps.last = stamp;
            stamp
        }
    };
    registers[REG_RAX as usize] = (stamp & 0xffff_ffff) as i64;
    registers[REG_RDX as usize] = (stamp >> 32) as i64;
    if len == 3 {
        // Which processor it is depends on when a rank runs; the first is as good as another.
        registers[REG_RCX as usize] = if is_of_program { 0 } else { processor.into() };
    }
    registers[REG_RIP as usize] += len as i64;
    allow(::libc::PR_TSC_SIGSEGV);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stamps_do_not_go_back() {
        let mut stamps = TimeStamps::new();
        for (now, expected) in [(100, 100), (150, 150), (20, 151), (25, 156), (10, 157), (400, 547)] {
            let next = stamps.next(now);
            stamps.last = next;
            assert_eq!(next, expected, "{now}");
        }
    }

    #[test]
    fn instructions_are_known() {
        assert_eq!(
            [[0x0f, 0x31, 0x90], [0x0f, 0x01, 0xf9], [0x0f, 0x01, 0xd0]].map(length),
            [Some(2), Some(3), None]
        );
    }
}
