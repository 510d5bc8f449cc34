//! Calls that leave nothing on the stack of the rank that makes them.
//!
//! A program may send bytes that it has never written to: the end of a text, the padding of a structure. On the stack they are what
//! calls before have left there. What functions of the program leave is the same when a rank does again what it did, but not what
//! functions of this process leave: they give then what they gave before, and do something else for that. So where ranks may do again
//! what they did, programs call these by stubs ([`scrubbing`]), and what is below on the stack is zero when they return.
//!
//! The stub of a function is as far from the first one as the function is from the start of the code, and all stubs are there from the
//! beginning: ranks bring the addresses of those that they call to other processes, which may never have asked for them.
//!
//! ```text
//!   addresses ──►  stubs            pointers                            code
//!                  16 bytes each    16 bytes each                       functions, aligned to 16 bytes
//!                  stub n ────────► pointer n ──► scrubbed_call ──────► function n
//!                    └── as far as that is from its function: all stubs, and all pointers, have the same bytes
//! ```

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use crate::PAGE;

/// A stub has the address of its function in a register, and jumps by its pointer: `lea r11, [rip + ...]`, `jmp [rip + ...]`. Functions
/// are aligned to as many bytes.
const STUB: usize = 16;

/// From the stubs for [`Frames::Small`] and those for [`Frames::Large`] to the code, and from a stub to its pointer.
const TO_CODE: [usize; 2] = [1 << 30, 3 << 29];
const TO_POINTER: usize = 1 << 28;

/// Bytes that are there once, and mapped again and again.
const PERIOD: usize = 2 << 20;

static STUBS: OnceLock<Result<(), String>> = OnceLock::new();

/// The code of this executable: what of it is run and has [`scrubbed_call`]; nothing if that is not to be found.
fn code() -> Range<usize> {
    static CODE: OnceLock<Range<usize>> = OnceLock::new();
    let find = || {
        let mut found = 0..0;
        // SAFETY: called with a place for what it finds.
        unsafe { libc::dl_iterate_phdr(Some(find_code), (&raw mut found).cast()) };
        found
    };
    CODE.get_or_init(find).clone()
}

unsafe extern "C" fn find_code(object: *mut libc::dl_phdr_info, _size: usize, found: *mut c_void) -> c_int {
    let own = scrubbed_call as *const () as usize;
    // SAFETY: the C library says what an object has, and gives on what it was given.
    let (base, headers, found) = unsafe {
        let object = &*object;
        let headers = std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into());
        (object.dlpi_addr as usize, headers, &mut *found.cast::<Range<usize>>())
    };
    let run =
        headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0);
    let mut places =
        run.map(|header| base + header.p_vaddr as usize..base + (header.p_vaddr + header.p_memsz) as usize);
    let Some(place) = places.find(|place| place.contains(&own)) else { return 0 };
    *found = place;
    1
}

/// From now on [`scrubbing`] gives stubs. All processes of a job have to call it, or none: ranks that move call them everywhere.
///
/// # Errors
/// If there is no memory for them at their addresses, or the system lets nobody run such memory.
pub fn prepare() -> Result<(), String> {
    let map_all = || {
        let calls = [scrubbed_call as *const () as usize, deeply_scrubbed_call as *const () as usize];
        let mut all = TO_CODE.into_iter().zip(calls);
        all.try_for_each(|(to_code, call)| map_stubs(to_code, call)).map_err(|error| error.to_string())
    };
    STUBS.get_or_init(map_all).clone()
}

/// How far down it is looked for what a function has left, behind what is zero there: further for those that have whole paths on their
/// stack, or lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// For functions that are called often, and do little: over 1 KiB.
    Small,
    /// Over 16 KiB.
    Large,
}

/// What to call in the place of a function of this executable: a stub, or itself if it is none, or stubs are not prepared.
pub fn scrubbing(function: usize, frames: Frames) -> usize {
    let has_one = STUBS.get().is_some_and(Result::is_ok) && code().contains(&function);
    let to_code = match frames {
        Frames::Small => TO_CODE[0],
        Frames::Large => TO_CODE[1],
    };
    if has_one && function.is_multiple_of(STUB) { function - to_code } else { function }
}

/// Maps stubs for all of the code so far below it, which jump to `call`, and their pointers.
fn map_stubs(to_code: usize, call: usize) -> io::Result<()> {
    let code = code();
    let first = code.start / PAGE * PAGE;
    let len = (code.end - first).next_multiple_of(PERIOD);
    let start = first.checked_sub(to_code).filter(|_| len <= TO_POINTER && !code.is_empty());
    let start =
        start.ok_or_else(|| io::Error::other("the code of this executable is too long, or too far below"))?;
    map_again_and_again(&stub(to_code), start..start + len, libc::PROT_READ | libc::PROT_EXEC)?;
    let mut pointer = [0; STUB];
    pointer[..size_of::<usize>()].copy_from_slice(&call.to_le_bytes());
    let pointers = start + TO_POINTER;
    map_again_and_again(&pointer, pointers..pointers + len, libc::PROT_READ)
}

/// The bytes of each stub.
fn stub(to_code: usize) -> [u8; STUB] {
    // Both are relative to where the instruction ends.
    let (lea, jump) = (7, 13);
    let mut bytes = [0xcc; STUB];
    bytes[..3].copy_from_slice(&[0x4c, 0x8d, 0x1d]);
    bytes[3..lea].copy_from_slice(&((to_code - lea) as u32).to_le_bytes());
    bytes[lea..9].copy_from_slice(&[0xff, 0x25]);
    bytes[9..jump].copy_from_slice(&((TO_POINTER - jump) as u32).to_le_bytes());
    bytes
}

/// These bytes, one after the other, at all of these addresses, where nothing is.
fn map_again_and_again(bytes: &[u8; STUB], to: Range<usize>, rights: c_int) -> io::Result<()> {
    // SAFETY: a string of C; then a descriptor that nobody else has.
    let file = unsafe {
        let file = libc::memfd_create(c"stubs".as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        File::from_raw_fd(file)
    };
    file.write_all_at(&bytes.repeat(PERIOD / STUB), 0)?;
    for at in to.step_by(PERIOD) {
        let flags = libc::MAP_SHARED | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: a place where nothing is, or nothing is mapped.
        let mapped = unsafe { libc::mmap(at as *mut c_void, PERIOD, rights, flags, file.as_raw_fd(), 0) };
        if mapped == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        if mapped.addr() != at {
            // SAFETY: it was mapped just now.
            unsafe { libc::munmap(mapped, PERIOD) };
            return Err(io::ErrorKind::AddrInUse.into());
        }
    }
    Ok(())
}

/// Calls the function in `r11` with all arguments that the caller has given, of which no more than sixteen words are on its stack, and
/// clears the stack below when it has returned: down to so many zeroes, below which it is as it was.
macro_rules! scrubbed_call {
    ($zeroes:literal) => { std::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "sub rsp, 128",
        "and rsp, -16",
        // What is on the caller's stack. All registers of arguments stay as they are.
        ".set word, 0",
        ".rept 16",
        "mov r10, [rbp + 16 + word]",
        "mov [rsp + word], r10",
        ".set word, word + 8",
        ".endr",
        "call r11",
        // What it has returned.
        "sub rsp, 48",
        "movaps [rsp], xmm0",
        "movaps [rsp + 16], xmm1",
        "mov [rsp + 32], rax",
        "mov [rsp + 40], rdx",
        "mov rdi, rsp",
        "call {lowest}",
        // Blocks of 64 bytes, until so many bytes were zero.
        "pxor xmm2, xmm2",
        "xor edx, edx",
        "mov rcx, rsp",
        "2:",
        "sub rcx, 64",
        "cmp rcx, rax",
        "jb 4f",
        "movaps xmm3, [rcx]",
        "por xmm3, [rcx + 16]",
        "por xmm3, [rcx + 32]",
        "por xmm3, [rcx + 48]",
        "pcmpeqb xmm3, xmm2",
        "pmovmskb esi, xmm3",
        "cmp esi, 0xffff",
        "je 3f",
        "movaps [rcx], xmm2",
        "movaps [rcx + 16], xmm2",
        "movaps [rcx + 32], xmm2",
        "movaps [rcx + 48], xmm2",
        "xor edx, edx",
        "jmp 2b",
        "3:",
        "add edx, 64",
        "cmp edx, {zeroes}",
        "jb 2b",
        "4:",
        "movaps xmm0, [rsp]",
        "movaps xmm1, [rsp + 16]",
        "mov rax, [rsp + 32]",
        "mov rdx, [rsp + 40]",
        // This frame is left as well.
        ".set word, 0",
        ".rept 11",
        "movaps [rsp + word], xmm2",
        ".set word, word + 16",
        ".endr",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        lowest = sym lowest,
        zeroes = const $zeroes,
    ) };
}

#[unsafe(naked)]
unsafe extern "C" fn scrubbed_call() {
    scrubbed_call!(1024)
}

#[unsafe(naked)]
unsafe extern "C" fn deeply_scrubbed_call() {
    scrubbed_call!(16384)
}

/// The lowest address of the running rank's stack, if this one is in it. Otherwise, as on the stack of a thread, nothing is below.
extern "C" fn lowest(of: usize) -> usize {
    crate::libc::stack_around(of).map_or(usize::MAX, |stack| stack.start)
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[derive(Debug, PartialEq)]
    #[repr(C)]
    struct Two(f64, f64);

    #[rustfmt::skip]
    type OfMany = extern "C-unwind" fn(
        u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64,
    ) -> u128;

    #[rustfmt::skip]
    extern "C-unwind" fn of_many(
        a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64, i: u64, j: u64, k: u64, l: u64, m: u64, n: u64,
        o: u64, p: u64, q: u64, r: u64, s: u64, t: u64, u: u64, v: u64,
    ) -> u128 {
        let all = [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v];
        all.iter().fold(0, |sum: u128, one| sum * 37 + u128::from(*one))
    }

    extern "C-unwind" fn of_numbers(one: f64, other: f64, more: u64) -> Two {
        Two(one / other, other - more as f64)
    }

    extern "C-unwind" fn throws(what: u64) -> u64 {
        if what == black_box(7) { std::panic::panic_any(what) } else { what }
    }

    fn stub_of(function: usize) -> usize {
        prepare().unwrap();
        let stubs = [Frames::Small, Frames::Large].map(|frames| scrubbing(function, frames));
        assert!(stubs[0] != function && stubs[1] != function && stubs[0] != stubs[1]);
        stubs[usize::from(function.is_multiple_of(2 * STUB))]
    }

    /// Nobody has asked for the last one.
    #[test]
    fn all_stubs_are_there_from_the_beginning() {
        prepare().unwrap();
        let last = (code().end - STUB) / STUB * STUB;
        for (frames, to_code) in [Frames::Small, Frames::Large].into_iter().zip(TO_CODE) {
            let (first, last) =
                (scrubbing(code().start.next_multiple_of(STUB), frames), scrubbing(last, frames));
            // SAFETY: stubs, which can be read.
            let [first, last] = [first, last].map(|at| unsafe { (at as *const [u8; STUB]).read() });
            assert_eq!([first, last], [stub(to_code); 2]);
        }
    }

    #[test]
    fn arguments_and_results_go_through() {
        // SAFETY: stubs of functions of these types.
        unsafe {
            let of_many_there = std::mem::transmute::<usize, OfMany>(stub_of(of_many as *const () as usize));
            let call = |of: OfMany| {
                of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, u64::MAX)
            };
            assert_eq!(call(of_many_there), call(of_many));
            type OfNumbers = extern "C-unwind" fn(f64, f64, u64) -> Two;
            let there = std::mem::transmute::<usize, OfNumbers>(stub_of(of_numbers as *const () as usize));
            assert_eq!(there(1.5, 0.25, 3), Two(6.0, -2.75));
        }
    }

    #[test]
    fn what_is_thrown_goes_through() {
        // SAFETY: as above.
        let there = unsafe {
            std::mem::transmute::<usize, extern "C-unwind" fn(u64) -> u64>(stub_of(
                throws as *const () as usize,
            ))
        };
        assert_eq!(there(5), 5);
        let thrown = std::panic::catch_unwind(|| there(7)).unwrap_err();
        assert_eq!(*thrown.downcast::<u64>().unwrap(), 7);
    }

    #[test]
    fn what_is_not_code_of_this_executable_is_called_itself() {
        static DATA: u64 = 0;
        prepare().unwrap();
        for other in [(&raw const DATA).addr(), libc::getpid as *const () as usize, 0, 8, code().start + 1] {
            assert_eq!(scrubbing(other, Frames::Large), other);
        }
    }
}
