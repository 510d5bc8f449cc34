//! `setjmp` and `longjmp`.
//!
//! The C library mixes addresses in a `jmp_buf` with a number of the process, so that its own `longjmp` would go
//! anywhere after a move. The functions here keep them as they are: a rank's stack and code have the same addresses in
//! every process. All of them are answered, and the library itself fills no `jmp_buf` that a program sees.

use std::arch::naked_asm;
use std::ffi::c_int;

use super::{functions, signals};

/// The C library's `jmp_buf` (System V ABI for x86-64: the registers that a function keeps).
#[repr(C)]
struct Place {
    /// `rbx`, `rbp`, `r12` to `r15`, the stack pointer, and where to go on.
    registers: [usize; 8],
    has_mask: c_int,
    /// Signals that were blocked.
    mask: u64,
}

functions! {
    "setjmp" => set_with_mask,
    "_setjmp" => set,
    "__sigsetjmp" => set_and_say,
    "longjmp" => jump,
    "_longjmp" => jump,
    "siglongjmp" => jump,
    "__longjmp_chk" => jump,
    "__libc_longjmp" => jump,
    "__libc_siglongjmp" => jump,
}

#[unsafe(naked)]
unsafe extern "C" fn set_with_mask(place: *mut Place) -> c_int {
    naked_asm!("mov esi, 1", "jmp {set}", set = sym set_and_say)
}

#[unsafe(naked)]
unsafe extern "C" fn set(place: *mut Place) -> c_int {
    naked_asm!("xor esi, esi", "jmp {set}", set = sym set_and_say)
}

/// As the caller has all these, once this has returned.
#[unsafe(naked)]
unsafe extern "C" fn set_and_say(place: *mut Place, with_mask: c_int) -> c_int {
    naked_asm!(
        "mov [rdi], rbx",
        "mov [rdi + 8], rbp",
        "mov [rdi + 16], r12",
        "mov [rdi + 24], r13",
        "mov [rdi + 32], r14",
        "mov [rdi + 40], r15",
        "lea rdx, [rsp + 8]",
        "mov [rdi + 48], rdx",
        "mov rax, [rsp]",
        "mov [rdi + 56], rax",
        "jmp {keep_mask}",
        keep_mask = sym keep_mask,
    )
}

/// 0, which `setjmp` returns.
unsafe extern "C" fn keep_mask(place: *mut Place, with_mask: c_int) -> c_int {
    // SAFETY: the program's buffer; the running rank's state.
    unsafe {
        (*place).has_mask = c_int::from(with_mask != 0);
        if with_mask != 0 {
            (*place).mask = signals::blocked();
        }
    }
    0
}

unsafe extern "C" fn set_mask(place: *const Place) {
    // SAFETY: a buffer that was filled here; the running rank's state.
    unsafe {
        if (*place).has_mask != 0 {
            signals::set_blocked((*place).mask);
        }
    }
}

/// `setjmp` returns a second time, with the value, or 1 if that is 0.
#[unsafe(naked)]
unsafe extern "C" fn jump(place: *const Place, value: c_int) -> ! {
    naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {set_mask}",
        "add rsp, 8",
        "pop rax",
        "pop rdi",
        "cmp eax, 1",
        "adc eax, 0",
        "mov rbx, [rdi]",
        "mov rbp, [rdi + 8]",
        "mov r12, [rdi + 16]",
        "mov r13, [rdi + 24]",
        "mov r14, [rdi + 32]",
        "mov r15, [rdi + 40]",
        "mov rsp, [rdi + 48]",
        "jmp [rdi + 56]",
        set_mask = sym set_mask,
    )
}

const _: () = assert!(std::mem::offset_of!(Place, mask) == 72, "as the C library's header has it");
