//! Stacks for ranks, and the switch between them.

use std::arch::naked_asm;

/// Saves what a called function must keep and goes on where `to` was saved.
#[unsafe(naked)]
pub unsafe extern "sysv64" fn switch(save: *mut usize, to: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

#[unsafe(naked)]
unsafe extern "sysv64" fn begin() {
    naked_asm!("mov rdi, r12", "xor ebp, ebp", "call r13", "ud2")
}

/// Writes a first frame below `top`, a multiple of 16, from which [`switch`] calls `function` with `argument`. The stack
/// pointer.
pub unsafe fn prepare(top: usize, function: extern "sysv64" fn(usize) -> !, argument: usize) -> usize {
    let frame = [0, 0, function as usize, argument, 0, 0, begin as *const () as usize, 0, 0];
    let at = top - size_of_val(&frame);
    // SAFETY: the caller's stack.
    unsafe { (at as *mut [usize; 9]).write(frame) };
    at
}
