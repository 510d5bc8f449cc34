//! Room below the thread pointer that belongs to nobody.
//!
//! Thread-locals of an executable end at the thread pointer. The last one has to be a reserve that only programs' own
//! thread-locals are copied to. GNU's linker puts `.tcommon` behind all others, and LLVM's does so with names that it
//! does not know; whether this one did is checked. Rounding the others' length up would not do: the dynamic linker
//! fills such gaps with thread-locals of libraries.

use std::arch::{asm, global_asm};

use crate::thread_locals::thread_pointer;

/// As much virtual memory is taken from each thread's stack, and touched where ranks run only.
const LEN: usize = 16 << 10;

// The first section makes sure that the linker has met `.tbss` when it meets the second one. The alignment is that of
// thread pointers.
global_asm!(
    ".pushsection .tbss.talisman_loader, \"awT\", @nobits",
    ".balign 8",
    "talisman_loader_first:",
    ".zero 8",
    ".popsection",
    ".pushsection .tcommon, \"awT\", @nobits",
    ".balign 64",
    "talisman_loader_pad:",
    ".zero {len}",
    ".popsection",
    len = const LEN,
);

/// Bytes below each thread's pointer that programs' thread-locals may be copied to ([`crate::ThreadLocals`]): zero if
/// the linker of this executable has put something else there. Not inlined into other crates: the names are of this
/// object file alone.
#[inline(never)]
pub fn pad_room() -> usize {
    let (first, pad): (usize, usize);
    // SAFETY: computes two distances only.
    unsafe {
        asm!(
            "lea {}, [talisman_loader_first@tpoff]",
            "lea {}, [talisman_loader_pad@tpoff]",
            out(reg) first,
            out(reg) pad,
            options(pure, nomem, nostack)
        );
    }
    let end = thread_pointer().wrapping_add(pad).wrapping_add(LEN);
    let last = end == thread_pointer() && (first as isize) < (pad as isize);
    if last { LEN } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_the_last_of_all_thread_locals() {
        assert_eq!(pad_room(), LEN);
        assert_eq!(std::thread::spawn(pad_room).join().ok(), Some(LEN));
    }
}
