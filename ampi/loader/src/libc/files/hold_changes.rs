//! Functions that are the C library's own, and after which the rank may be held where it is, or let go.
//!
//! They open streams that have no descriptor, or close what has one. That is noted before they are called: who asks does
//! so when the rank waits, and in these it does not.

use std::arch::naked_asm;

use crate::libc::current;

extern "C" fn note() {
    // SAFETY: the running rank's state.
    unsafe { (*current()).descriptors.note_change() };
}

/// All that arguments are in is kept, the stack too: `fopencookie` has some there.
macro_rules! noted {
    ($($name:literal => $function:ident,)*) => {
        pub fn symbol(name: &str) -> Option<usize> {
            match name {
                $($name => Some($function as *const () as usize),)*
                _ => None,
            }
        }
        mod real {
            unsafe extern "C" {
                $(#[link_name = $name] pub fn $function();)*
            }
        }
        $(
            #[unsafe(naked)]
            unsafe extern "C" fn $function() {
                naked_asm!(
                    "push rdi",
                    "push rsi",
                    "push rdx",
                    "push rcx",
                    "push r8",
                    "push r9",
                    "push rax",
                    "call {note}",
                    "pop rax",
                    "pop r9",
                    "pop r8",
                    "pop rcx",
                    "pop rdx",
                    "pop rsi",
                    "pop rdi",
                    "jmp [rip + {real}@GOTPCREL]",
                    note = sym note,
                    real = sym real::$function,
                )
            }
        )*
    };
}

noted! {
    "fmemopen" => fmemopen,
    "open_memstream" => open_memstream,
    "open_wmemstream" => open_wmemstream,
    "fopencookie" => fopencookie,
    "fclose" => fclose,
    "pclose" => pclose,
}
