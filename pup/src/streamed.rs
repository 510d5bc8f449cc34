//! Copies that go past the caches.
//!
//! An ordinary store reads the line that it writes to first. For memory that no cache has, and that nobody reads soon, that is a
//! third of all that goes between core and memory.

/// Copies `len` bytes, which other cores see no later than whatever is stored next.
///
/// # Safety
/// As of [`std::ptr::copy_nonoverlapping`].
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    use std::ptr::copy_nonoverlapping;

    /// A line of a cache: only whole ones go past it at once.
    const LINE: usize = 64;
    const WORD: usize = size_of::<__m128i>();

    let before = to.align_offset(LINE).min(len);
    let streamed = (len - before) / LINE * LINE;
    // SAFETY: the first bytes of those that the caller promises.
    unsafe { copy_nonoverlapping(from, to, before) };
    for line in (before..before + streamed).step_by(LINE) {
        for at in (line..line + LINE).step_by(WORD) {
            // SAFETY: within what the caller promises, and `to + at` is a multiple of a word, since `to + before` is one of a line.
            unsafe { _mm_stream_si128(to.add(at).cast(), _mm_loadu_si128(from.add(at).cast())) };
        }
    }
    let done = before + streamed;
    // SAFETY: the rest of what the caller promises.
    unsafe { copy_nonoverlapping(from.add(done), to.add(done), len - done) };
    // SAFETY: every processor of this kind has it.
    unsafe { _mm_sfence() };
}

/// Copies `len` bytes.
///
/// # Safety
/// As of [`std::ptr::copy_nonoverlapping`].
#[cfg(not(target_arch = "x86_64"))]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from, to, len) };
}
