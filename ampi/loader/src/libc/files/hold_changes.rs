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
        $crate::libc::passed_on!(pub symbol: $($name => $function,)*);
        $(
            #[unsafe(naked)]
            unsafe extern "C" fn $function() {
                naked_asm!(
                    $crate::libc::save_arguments!(),
                    "call {note}",
                    $crate::libc::restore_arguments!(),
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
    "pclose" => pclose,
}
