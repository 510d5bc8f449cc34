//! What a test asks of valgrind's callgrind that it runs under; of nobody, if it does not.

use super::valgrind::ask;

/// Begins to count instructions of this thread, or ends it (`--collect-atstart=no`).
pub(super) fn toggle() {
    ask((b'C' as u64) << 24 | (b'T' as u64) << 16 | 2, [0; 5]);
}
