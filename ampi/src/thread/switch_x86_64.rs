//! Switching stacks on x86_64.

use std::arch::{asm, naked_asm};

use talisman_observe::mutations::mutated;

use crate::slot::Header;

/// Saves what a called function must keep, with the stack pointer in `save`, and goes on where `to` was saved.
///
/// Of a suspended thread there is from its stack pointer on: the modes of floating point, where it goes on, and what is
/// taken from the stack there. It goes on by a jump, whose target a processor foresees: it would take a return for that
/// of the last call. The modes are mostly the same on both sides, and loading them costs as much as all else.
///
/// # Safety
/// `to` was saved by this function, or made by [`first_frame`], and its stack is accessible; nobody goes on there
/// twice.
#[inline(always)]
pub unsafe fn switch(save: *mut usize, to: usize) {
    // SAFETY: the caller's promise. What is not named as changed is on the stack meanwhile.
    unsafe {
        asm!(
            "push rbp",
            "push rbx",
            "lea rax, [rip + 4f]",
            "push rax",
            "sub rsp, 8",
            "stmxcsr [rsp]",
            "fnstcw [rsp + 4]",
            "mov eax, [rsp]",
            "mov cx, [rsp + 4]",
            "mov [rdi], rsp",
            "cmp eax, [rsi]",
            "je 2f",
            "ldmxcsr [rsi]",
            "2:",
            "cmp cx, [rsi + 4]",
            "je 3f",
            "fldcw [rsi + 4]",
            "3:",
            "lea rsp, [rsi + 16]",
            "jmp [rsi + 8]",
            "4:",
            "pop rbx",
            "pop rbp",
            inout("rdi") save => _,
            inout("rsi") to => _,
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("sysv64"),
        );
    }
}

/// Goes on where `to` was saved, and forgets what runs. Gone to by a handler of signals.
///
/// # Safety
/// As for [`switch`].
#[unsafe(naked)]
pub unsafe extern "sysv64" fn abandon(_: usize, to: usize) -> ! {
    naked_asm!("ldmxcsr [rsi]", "fninit", "fldcw [rsi + 4]", "lea rsp, [rsi + 16]", "jmp [rsi + 8]")
}

/// What a thread goes on with that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The address where it goes on.
    pub goes_on_at: usize,
    /// The stack pointer and what was saved of the registers that a called function must keep, by their numbers in tables
    /// for unwinding (System V ABI, figure 3.36). The function that goes on has kept the others of these itself.
    pub registers: [(u16, usize); 3],
}

/// What [`switch`] has saved.
///
/// # Safety
/// `saved` is the stack pointer that it has saved, and the stack is accessible.
pub unsafe fn saved(saved: usize) -> Saved {
    const RBX: u16 = 3;
    const RBP: u16 = 6;
    const RSP: u16 = 7;
    let at = |index: usize| saved + index * size_of::<usize>();
    // SAFETY: the caller's promise.
    let word = |index: usize| unsafe { (at(index) as *const usize).read() };
    Saved { goes_on_at: word(1), registers: [(RBX, word(2)), (RBP, word(3)), (RSP, at(4))] }
}

/// Where the first switch to a thread goes to: calls the function that it finds on the stack behind its argument. Above
/// are zeroes, so that backtraces end here.
#[unsafe(naked)]
unsafe extern "sysv64" fn begin() {
    naked_asm!("pop rdi", "pop rax", "xor ebp, ebp", "call rax", "ud2")
}

/// The words of a stack from which [`switch`] calls `enter` with `header`. They go to the stack's end, which is a
/// multiple of 16.
pub fn first_frame(header: *mut Header, enter: extern "sysv64" fn(*mut Header) -> !) -> [u64; 6] {
    // Rounding to nearest, no exceptions: what every program starts with (System V ABI, 3.4.1).
    const MXCSR: u64 = 0x1f80;
    const X87: u64 = 0x037f;
    [MXCSR | X87 << 32, begin as *const () as u64, header as u64, enter as usize as u64, 0, 0]
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
        if !mutated("canary-of-the-process") {
            Own { canary: CANARY }.put_back();
        }
        Own { canary }
    }

    /// Sets this one.
    pub fn put_back(self) {
        // SAFETY: as in `replace`.
        unsafe { asm!("mov fs:0x28, {}", in(reg) self.canary, options(nostack, preserves_flags)) };
    }
}
