//! Copies that go past the caches.
//!
//! An ordinary store reads the line that it writes to first. For memory that no cache has, and that nobody reads soon, that is a
//! third of all that goes between core and memory.

/// Copies `len` bytes, which other cores see no later than whatever is stored next.
///
/// Several pages are copied side by side, and the lines of the next ones fetched meanwhile: a core fetches ahead by itself within a page
/// only, and has several requests to memory under way at a time. From memory to memory that is half as fast again.
///
/// # Safety
/// As of [`std::ptr::copy_nonoverlapping`].
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch, _mm_sfence};
    use std::ptr::copy_nonoverlapping;

    const PAGE: usize = 4096;
    const SIDE_BY_SIDE: usize = 4 * PAGE;

    let before = to.align_offset(LINE).min(len);
    let streamed = before + (len - before) / LINE * LINE;
    let pages = before + (len - before) / SIDE_BY_SIDE * SIDE_BY_SIDE;
    // SAFETY: the first bytes of those that the caller promises.
    unsafe { copy_nonoverlapping(from, to, before) };
    for block in (before..pages).step_by(SIDE_BY_SIDE) {
        for line in (block..block + PAGE).step_by(LINE) {
            for at in (line..line + SIDE_BY_SIDE).step_by(PAGE) {
                // SAFETY: every processor of this kind has it, and it may name any address.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(at + SIDE_BY_SIDE).cast()) };
                // SAFETY: within what the caller promises, and `to + at` is a multiple of a line, since `to + before` is one.
                unsafe { copy_line(from.add(at), to.add(at)) };
            }
        }
    }
    for at in (pages..streamed).step_by(LINE) {
        // SAFETY: as above.
        unsafe { copy_line(from.add(at), to.add(at)) };
    }
    // SAFETY: the rest of what the caller promises.
    unsafe { copy_nonoverlapping(from.add(streamed), to.add(streamed), len - streamed) };
    // SAFETY: every processor of this kind has it.
    unsafe { _mm_sfence() };
}

/// A line of a cache: only whole ones go past it at once.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// # Safety
/// As of [`copy`] for a line; `to` is a multiple of one.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn copy_line(from: *const u8, to: *mut u8) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};

    for at in (0..LINE).step_by(size_of::<__m128i>()) {
        // SAFETY: the caller's promise.
        unsafe { _mm_stream_si128(to.add(at).cast(), _mm_loadu_si128(from.add(at).cast())) };
    }
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

#[cfg(test)]
mod tests {
    use super::copy;

    #[test]
    fn every_byte_comes_to_its_place_and_nothing_beside_it() {
        let from: Vec<u8> = (0..80_000_u32).map(|i| (i % 251) as u8).collect();
        for len in [0, 1, 63, 64, 200, 4096, 16_383, 16_384, 16_500, 40_000, 70_001] {
            for (at, to) in [(0, 0), (3, 0), (0, 5), (64, 63)] {
                let mut copied = vec![255; 80_000];
                // SAFETY: within both, which are not the same.
                unsafe { copy(from[at..].as_ptr(), copied[to..].as_mut_ptr(), len) };
                assert!(copied[to..to + len] == from[at..at + len], "{len} bytes from {at} to {to}");
                let beside = copied[..to].iter().chain(&copied[to + len..]);
                assert!(beside.into_iter().all(|byte| *byte == 255), "{len} bytes from {at} to {to}");
            }
        }
    }
}
