//! Switching stacks on x86_64.

use std::arch::{asm, naked_asm};

use crate::slot::Header;

/// Saves what a called function must keep, with the stack pointer in `save`, and goes on where `to` was saved.
///
/// # Safety
/// `to` was saved by this function, or made by [`first_frame`], and its stack is accessible; nobody goes on there
/// twice.
#[unsafe(naked)]
pub unsafe extern "sysv64" fn switch(save: *mut usize, to: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "stmxcsr [rsp]",
        "fnstcw [rsp + 4]",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "ldmxcsr [rsp]",
        "fldcw [rsp + 4]",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// What a thread goes on with that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The address where it goes on.
    pub goes_on_at: usize,
    /// Registers that a called function must keep, and the stack pointer: by their numbers in tables for unwinding (System
    /// V ABI, figure 3.36).
    pub registers: [(u16, usize); 7],
}

/// What [`switch`] has saved.
///
/// # Safety
/// `saved` is the stack pointer that it has saved, and the stack is accessible.
pub unsafe fn saved(saved: usize) -> Saved {
    const NUMBERS: [u16; 6] = [15, 14, 13, 12, 3, 6];
    let word = |index: usize| {
        let at = saved + index * size_of::<usize>();
        // SAFETY: the caller's promise.
        unsafe { (at as *const usize).read() }
    };
    let mut registers = [(7, saved + 8 * size_of::<usize>()); 7];
    for (index, number) in NUMBERS.into_iter().enumerate() {
        registers[index] = (number, word(1 + index));
    }
    Saved { goes_on_at: word(7), registers }
}

/// Where the first switch to a thread returns to: calls `r13` with `r12`. Above its frame are zeroes, so that
/// backtraces end here.
#[unsafe(naked)]
unsafe extern "sysv64" fn begin() {
    naked_asm!("mov rdi, r12", "xor ebp, ebp", "call r13", "ud2")
}

/// The words of a stack from which [`switch`] calls `enter` with `header`. They go to the stack's end, which is a
/// multiple of 16.
pub fn first_frame(header: *mut Header, enter: extern "sysv64" fn(*mut Header) -> !) -> [u64; 10] {
    // Rounding to nearest, no exceptions: what every program starts with (System V ABI, 3.4.1).
    const MXCSR: u64 = 0x1f80;
    const X87: u64 = 0x037f;
    [
        MXCSR | X87 << 32,
        0,                     // r15
        0,                     // r14
        enter as usize as u64, // r13
        header as u64,         // r12
        0,                     // rbx
        0,                     // rbp
        begin as *const () as u64,
        0,
        0,
    ]
}

/// What the C library keeps at the thread pointer and a rank must find the same everywhere: the stack protector's
/// canary.
///
/// The guard beside it, with which the library mixes pointers, stays the thread's: destructors of thread-locals that a
/// rank uses first are among those pointers, and are called when the thread ends.
pub struct Own {
    canary: u64,
}

/// The same in all processes of all jobs. The canary's lowest byte is zero, as the C library's: a string ends there.
const CANARY: u64 = 0x7461_6c69_736d_6100;

impl Own {
    /// Sets that of ranks; what this thread had.
    pub fn replace() -> Own {
        let canary;
        // SAFETY: a word that the C library keeps at this offset on x86_64 Linux. No function that has stored the
        // canary returns before `put_back`: this crate has no stack protector, and ranks are suspended by then.
        unsafe { asm!("mov {}, fs:0x28", out(reg) canary, options(nostack, preserves_flags)) };
        Own { canary: CANARY }.put_back();
        Own { canary }
    }

    /// Sets this one.
    pub fn put_back(self) {
        // SAFETY: as in `replace`.
        unsafe { asm!("mov fs:0x28, {}", in(reg) self.canary, options(nostack, preserves_flags)) };
    }
}
