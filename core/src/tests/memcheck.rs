//! What a test asks of valgrind's memcheck that it runs under; of nobody, if it does not.

/// These bytes may not be read from now on.
pub(super) fn forbid(place: *const (), bytes: usize) {
    ask(0, place, bytes);
}

/// They may be, and have values.
pub(super) fn allow(place: *const (), bytes: usize) {
    ask(2, place, bytes);
}

/// `VG_USERREQ__MAKE_MEM_NOACCESS` and its neighbours, of `valgrind/memcheck.h`.
#[cfg(target_arch = "x86_64")]
fn ask(request: u64, place: *const (), bytes: usize) {
    const MEMCHECK: u64 = (b'M' as u64) << 24 | (b'C' as u64) << 16;
    let asked = [MEMCHECK + request, place.addr() as u64, bytes as u64, 0, 0, 0];
    // SAFETY: rotations of a register by 128 bits in all, and an exchange of one with itself: they do nothing. Valgrind knows them
    // for a question (`valgrind/valgrind.h`), and answers into the register that is named.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            inout("rdx") 0_u64 => _,
            in("rax") asked.as_ptr(),
            options(nostack),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn ask(_: u64, _: *const (), _: usize) {}
