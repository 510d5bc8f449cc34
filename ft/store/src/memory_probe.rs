//! Whether the system has memory, asked before it is needed.

/// Whether the system would give so many bytes now, within the limits of this process. They are given back.
pub fn would_be_given(bytes: usize) -> bool {
    let mut memory = Vec::<u8>::new();
    let is_given = memory.try_reserve_exact(bytes).is_ok();
    // As nothing is done with it, it would not be asked for otherwise.
    std::hint::black_box(&memory);
    is_given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_system_gives_all_that_can_be_asked_for() {
        assert!(would_be_given(1 << 20));
        assert!(!would_be_given(isize::MAX as usize));
        assert!(!would_be_given(usize::MAX));
    }
}
