//! What is said to valgrind, if the test runs under it (`valgrind/valgrind.h`).

/// A request and its arguments.
#[cfg(target_arch = "x86_64")]
pub(super) fn ask(request: u64, arguments: [u64; 5]) {
    let [first, second, third, fourth, fifth] = arguments;
    let asked = [request, first, second, third, fourth, fifth];
    // SAFETY: rotations of a register by 128 bits in all, and an exchange of one with itself: they do nothing. Valgrind knows them
    // for a question, and answers into the register that is named.
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
pub(super) fn ask(_: u64, _: [u64; 5]) {}
