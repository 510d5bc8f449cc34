//! Calls that leave nothing on the stack of the rank that makes them.
//!
//! A program may send bytes that it has never written to: the end of a text, the padding of a structure. On the stack they are what
//! calls before have left there. What functions of the program leave is the same when a rank does again what it did, but not what
//! functions of this process leave: they give then what they gave before, and do something else for that. So where ranks may do again
//! what they did, programs call these by stubs ([`scrubbing`]), and what is below on the stack is zero when they return.
//!
//! The stub of a function is as far from the first one as the function is from the start of the code: it is at the same address
//! in each process that has the same layout, as ranks that move need it.

use std::ffi::{c_int, c_void};
use std::io;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::PAGE;

/// A stub loads the address of its function, and jumps to [`scrubbed_call`] or [`deeply_scrubbed_call`]: `mov r11, imm64`, `jmp rel32`. As functions are aligned to
/// as many bytes, each has room for one.
const STUB: usize = 16;

/// Where in a stub it jumps: its function is before.
const JUMP: usize = 10;

/// From the first stub to the start of the code: jumps reach so far.
const DISTANCE: usize = 1 << 30;

/// Where stubs are, and are written to.
struct Stubs {
    start: usize,
    /// The same pages with other rights.
    written: Mutex<NonNull<u8>>,
}

// SAFETY: its addresses stay valid, and who writes has the lock.
unsafe impl Send for Stubs {}
// SAFETY: as above.
unsafe impl Sync for Stubs {}

static STUBS: OnceLock<Option<Stubs>> = OnceLock::new();

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

/// From now on [`scrubbing`] gives stubs. Whether it does: not without memory for them, or where the system forbids such memory.
pub fn prepare() -> bool {
    STUBS.get_or_init(|| Stubs::new().ok()).is_some()
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

/// What to call in the place of a function of this executable: a stub, or itself if there is none for it, or stubs are not prepared.
pub fn scrubbing(function: usize, frames: Frames) -> usize {
    STUBS.get().and_then(Option::as_ref).and_then(|stubs| stubs.of(function, frames)).unwrap_or(function)
}

impl Stubs {
    fn new() -> io::Result<Stubs> {
        let code = code();
        let len = code.len().next_multiple_of(PAGE) + PAGE;
        let start =
            (code.start / PAGE * PAGE).checked_sub(DISTANCE).ok_or(io::ErrorKind::AddrNotAvailable)?;
        // SAFETY: a string of C; then a file of our own, which is mapped where nothing is, and closed.
        unsafe {
            let file = libc::memfd_create(c"stubs".as_ptr(), libc::MFD_CLOEXEC);
            if file < 0 {
                return Err(io::Error::last_os_error());
            }
            let mapped = map_both(file, start, len);
            libc::close(file);
            mapped
        }
    }

    fn of(&self, function: usize, frames: Frames) -> Option<usize> {
        let code = code();
        if !code.contains(&function) {
            return None;
        }
        let offset = (function - code.start / PAGE * PAGE) / STUB * STUB;
        let stub = stub(function, frames, self.start + offset)?;
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: within the pages, as functions are within the code; others write with the lock alone.
        let place = unsafe { written.as_ptr().add(offset).cast::<[u8; STUB]>() };
        // SAFETY: as above.
        let there = unsafe { place.read() };
        if there == [0; STUB] {
            // SAFETY: as above. Nobody calls it before its address is known.
            unsafe { place.write(stub) };
        } else if there[..JUMP] != stub[..JUMP] {
            return None;
        }
        Some(self.start + offset)
    }
}

/// Maps a file of so many zeroes: to be run from `start` on, and to be written to elsewhere.
unsafe fn map_both(file: i32, start: usize, len: usize) -> io::Result<Stubs> {
    let map = |at: usize, rights, flags| {
        // SAFETY: a place where nothing is, or any.
        let mapped = unsafe { libc::mmap(at as *mut _, len, rights, libc::MAP_SHARED | flags, file, 0) };
        if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(mapped) }
    };
    // SAFETY: the caller's file.
    if unsafe { libc::ftruncate(file, len.cast_signed() as libc::off_t) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let run = map(start, libc::PROT_READ | libc::PROT_EXEC, libc::MAP_FIXED_NOREPLACE)?;
    let written = map(0, libc::PROT_READ | libc::PROT_WRITE, 0);
    match (run.addr() == start, written) {
        (true, Ok(written)) => {
            let written = Mutex::new(NonNull::new(written.cast()).ok_or(io::ErrorKind::OutOfMemory)?);
            Ok(Stubs { start, written })
        }
        (_, written) => {
            // SAFETY: what was mapped here, and nobody knows.
            unsafe { libc::munmap(run, len) };
            Err(written.err().unwrap_or_else(|| io::ErrorKind::AddrInUse.into()))
        }
    }
}

/// The bytes of a stub at an address; none if the jump is too far.
fn stub(function: usize, frames: Frames, at: usize) -> Option<[u8; STUB]> {
    let behind = at + STUB - 1;
    let target = match frames {
        Frames::Small => scrubbed_call as *const () as usize,
        Frames::Large => deeply_scrubbed_call as *const () as usize,
    };
    let distance = i32::try_from(target.wrapping_sub(behind).cast_signed()).ok()?;
    let mut bytes = [0x90; STUB];
    bytes[..2].copy_from_slice(&[0x49, 0xbb]);
    bytes[2..JUMP].copy_from_slice(&function.to_le_bytes());
    bytes[JUMP] = 0xe9;
    bytes[JUMP + 1..STUB - 1].copy_from_slice(&distance.to_le_bytes());
    Some(bytes)
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
        assert!(prepare());
        let stub = scrubbing(function, Frames::Small);
        assert_ne!(stub, function);
        assert_eq!(scrubbing(function, Frames::Small), stub);
        assert_eq!(scrubbing(function, Frames::Large), stub, "it has one");
        stub
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
        for other in [(&raw const DATA).addr(), libc::getpid as *const () as usize, 0, 8] {
            assert!(prepare());
            assert_eq!(scrubbing(other, Frames::Large), other);
        }
    }
}
