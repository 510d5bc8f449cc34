//! Room below the thread pointer that belongs to nobody.
//!
//! Thread-locals of an executable end at the thread pointer, but for what rounding their length to their alignment
//! leaves. A thread-local of ours is aligned to much more than its length, so that is a lot; nothing has to be the
//! last one that the linker places.

use std::arch::global_asm;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

/// What the thread-locals of an executable with this crate are aligned to. As much virtual memory is taken from each
/// thread's stack, and touched by none.
const ALIGN: usize = 16 << 10;

global_asm!(
    ".pushsection .tbss.talisman_loader_pad, \"awT\", @nobits",
    ".balign {align}",
    "talisman_loader_pad:",
    ".zero 8",
    ".popsection",
    align = const ALIGN,
);

const TLS: u32 = 7;

/// Bytes below each thread's pointer that programs' thread-locals may be copied to ([`crate::ThreadLocals`]).
pub fn pad_room() -> usize {
    static ROOM: OnceLock<usize> = OnceLock::new();
    *ROOM.get_or_init(|| {
        keep();
        let mut room = 0;
        // SAFETY: the callback is of the right type, and gets what it expects.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut room).cast()) };
        room
    })
}

/// Without a reference the linker would drop it.
fn keep() {
    let _address: usize;
    // SAFETY: computes an address only.
    unsafe {
        std::arch::asm!("lea {}, [talisman_loader_pad@tpoff]", out(reg) _address, options(nomem, nostack));
    }
}

/// The process's executable comes first.
unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _len: usize, room: *mut c_void) -> c_int {
    // SAFETY: given by the C library, which has mapped these headers.
    let headers = unsafe {
        let info = &*info;
        std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum))
    };
    for header in headers.iter().filter(|header| header.p_type == TLS) {
        let end = (header.p_vaddr as usize).wrapping_add(header.p_memsz as usize);
        // The thread pointer is where the segment would end if it were that much longer.
        let rest = end.wrapping_neg() % (header.p_align as usize).max(1);
        // SAFETY: `pad_room` gives the address of its variable.
        unsafe { *room.cast::<usize>() = rest };
    }
    1
}
