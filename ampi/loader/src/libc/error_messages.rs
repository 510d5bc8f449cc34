//! Functions that say something with the program's name in front, and may end the program (`err.h`, `error.h`): the name is that of the
//! rank's program, and it is the rank that ends.

use std::arch::naked_asm;
use std::ffi::{c_char, c_int, c_void};

use super::exit::exit;
use super::{current, functions};

functions! {
    "warn" => warn,
    "warnx" => warnx,
    "vwarn" => vwarn,
    "vwarnx" => vwarnx,
    "err" => err,
    "errx" => errx,
    "verr" => verr,
    "verrx" => verrx,
    "error" => error,
    "error_at_line" => error_at_line,
}

mod real {
    use super::{c_char, c_void};

    unsafe extern "C" {
        pub fn warn();
        pub fn warnx();
        pub fn error();
        pub fn error_at_line();
        pub fn vwarn(format: *const c_char, arguments: *mut c_void);
        pub fn vwarnx(format: *const c_char, arguments: *mut c_void);
        pub static mut program_invocation_name: *mut c_char;
        pub static mut program_invocation_short_name: *mut c_char;
    }
}

/// The C library's names are those that the running rank has.
extern "C" fn take_name() {
    // SAFETY: the running rank's state, and its variables; words that any other rank writes as well before it looks at them.
    unsafe {
        let own = &(*current()).variables;
        (&raw mut real::program_invocation_name).write_volatile(*own.program_name);
        (&raw mut real::program_invocation_short_name).write_volatile(*own.program_short_name);
    }
}

/// Calls a function between, and keeps all that arguments of any number and kind are in.
macro_rules! between {
    ($($after:literal,)* => $($name:ident = $value:path,)*) => {
        naked_asm!(
            $crate::libc::save_arguments!(),
            "sub rsp, 128",
            "movups [rsp], xmm0",
            "movups [rsp + 16], xmm1",
            "movups [rsp + 32], xmm2",
            "movups [rsp + 48], xmm3",
            "movups [rsp + 64], xmm4",
            "movups [rsp + 80], xmm5",
            "movups [rsp + 96], xmm6",
            "movups [rsp + 112], xmm7",
            "call {between}",
            "movups xmm0, [rsp]",
            "movups xmm1, [rsp + 16]",
            "movups xmm2, [rsp + 32]",
            "movups xmm3, [rsp + 48]",
            "movups xmm4, [rsp + 64]",
            "movups xmm5, [rsp + 80]",
            "movups xmm6, [rsp + 96]",
            "movups xmm7, [rsp + 112]",
            "add rsp, 128",
            $crate::libc::restore_arguments!(),
            $($after,)*
            $($name = sym $value,)*
        )
    };
}

#[unsafe(naked)]
unsafe extern "C" fn warn() {
    between!("jmp [rip + {real}@GOTPCREL]", => between = take_name, real = real::warn,)
}

#[unsafe(naked)]
unsafe extern "C" fn warnx() {
    between!("jmp [rip + {real}@GOTPCREL]", => between = take_name, real = real::warnx,)
}

unsafe extern "C" fn vwarn(format: *const c_char, arguments: *mut c_void) {
    take_name();
    // SAFETY: called as C's function is, as all that follow.
    unsafe { real::vwarn(format, arguments) }
}

unsafe extern "C" fn vwarnx(format: *const c_char, arguments: *mut c_void) {
    take_name();
    // SAFETY: as above.
    unsafe { real::vwarnx(format, arguments) }
}

unsafe extern "C" fn verr(status: c_int, format: *const c_char, arguments: *mut c_void) -> ! {
    // SAFETY: as above.
    unsafe {
        vwarn(format, arguments);
        exit(status)
    }
}

unsafe extern "C" fn verrx(status: c_int, format: *const c_char, arguments: *mut c_void) -> ! {
    // SAFETY: as above.
    unsafe {
        vwarnx(format, arguments);
        exit(status)
    }
}

/// A status, a format, and any number of arguments, as which the third is handed on to a function (System V ABI for x86-64, 3.5.7).
macro_rules! with_arguments_behind_two {
    ($finish:path) => {
        naked_asm!(
            "push rbp",
            "mov rbp, rsp",
            "sub rsp, 208",
            "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx",
            "mov [rsp + 32], r8",
            "mov [rsp + 40], r9",
            "movups [rsp + 48], xmm0",
            "movups [rsp + 64], xmm1",
            "movups [rsp + 80], xmm2",
            "movups [rsp + 96], xmm3",
            "movups [rsp + 112], xmm4",
            "movups [rsp + 128], xmm5",
            "movups [rsp + 144], xmm6",
            "movups [rsp + 160], xmm7",
            // Two of six are no arguments of this kind.
            "mov dword ptr [rsp + 176], 16",
            "mov dword ptr [rsp + 180], 48",
            "lea rax, [rbp + 16]",
            "mov [rsp + 184], rax",
            "mov [rsp + 192], rsp",
            "lea rdx, [rsp + 176]",
            "call {finish}",
            "ud2",
            finish = sym $finish,
        )
    };
}

#[unsafe(naked)]
unsafe extern "C" fn err() {
    with_arguments_behind_two!(verr)
}

#[unsafe(naked)]
unsafe extern "C" fn errx() {
    with_arguments_behind_two!(verrx)
}

/// Of a status but 0 the C library is told 0: it says the same, and comes back.
extern "C" fn note_status(status: c_int) {
    take_name();
    // SAFETY: the running rank's state.
    unsafe { (*current()).status_after_message = status };
}

/// To where the C library comes back, in the place of the caller.
#[unsafe(naked)]
unsafe extern "C" fn after_message() {
    naked_asm!("call {end}", "ud2", end = sym end)
}

unsafe extern "C" fn end() -> ! {
    // SAFETY: as above.
    unsafe { exit((*current()).status_after_message) }
}

/// With a status but 0 the C library comes back to us.
macro_rules! with_status {
    ($($function:ident => $real:path,)*) => {
        $(
            #[unsafe(naked)]
            unsafe extern "C" fn $function() {
                between!(
                    "test edi, edi",
                    "jz 2f",
                    "xor edi, edi",
                    "lea r11, [rip + {after}]",
                    "mov [rsp], r11",
                    "2:",
                    "jmp [rip + {real}@GOTPCREL]",
                    => between = note_status, after = after_message, real = $real,
                )
            }
        )*
    };
}

with_status! {
    error => real::error,
    error_at_line => real::error_at_line,
}
