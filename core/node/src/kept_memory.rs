//! Memory of large blocks stays with the process.

/// Keeps the memory of large messages for the next ones. The allocator would give each block of more than 128 KiB back to
/// the system and take it anew, page by page: that takes longer than the message.
#[cfg(target_env = "gnu")]
pub(crate) fn keep_memory() {
    /// The most that the allocator keeps itself, a half of its heaps.
    const BLOCK_MAX: i32 = 32 << 20;
    const UNUSED_MAX: i32 = 256 << 20;
    // SAFETY: only sets parameters of the allocator; one it does not take stays as it was.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, BLOCK_MAX);
        libc::mallopt(libc::M_TRIM_THRESHOLD, UNUSED_MAX);
    }
}

#[cfg(not(target_env = "gnu"))]
pub(crate) fn keep_memory() {}
