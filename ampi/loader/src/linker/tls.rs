//! Thread-locals of libraries (ELF Handling For Thread-Local Storage, 3.4).
//!
//! The words that the dynamic linker would fill with a module's number and an offset have an address in them instead:
//! of the rank's block of thread-locals; or, negative, the distance of a block in the pad from the thread pointer.

use std::arch::naked_asm;

use crate::libc::place_in_thread;
use crate::thread_locals::thread_pointer;

/// `__tls_get_addr`: where a thread-local of the running rank is.
///
/// # Safety
/// `words` are those of a loaded program.
pub unsafe extern "C" fn get_address(words: *const [usize; 2]) -> usize {
    // SAFETY: the caller's promise.
    let [block, offset] = unsafe { *words };
    let near = (block as isize) < 0;
    let block = if near { thread_pointer().wrapping_add(block) } else { place_in_thread(block) };
    block.wrapping_add(offset)
}

/// For a descriptor whose second word is the distance from the thread pointer.
pub fn near_descriptor() -> usize {
    near as *const () as usize
}

/// For a descriptor whose second word is an address.
pub fn far_descriptor() -> usize {
    far as *const () as usize
}

/// Called with the descriptor's address in `rax`; returns the distance from the thread pointer there, and keeps all
/// other registers.
#[unsafe(naked)]
unsafe extern "C" fn near() {
    naked_asm!("mov rax, [rax + 8]", "ret")
}

/// The same for an address, which a thread of the rank's own has elsewhere.
#[unsafe(naked)]
unsafe extern "C" fn far() {
    naked_asm!(
        "mov rax, [rax + 8]",
        "push rdx",
        "mov rdx, rax",
        "sub rdx, fs:[talisman_loader_own@tpoff]",
        "cmp rdx, fs:[talisman_loader_own@tpoff + 8]",
        "jae 2f",
        "mov rax, fs:[talisman_loader_own@tpoff + 16]",
        "add rax, rdx",
        "2:",
        "pop rdx",
        "sub rax, fs:0",
        "ret"
    )
}
