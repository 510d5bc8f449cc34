//! The clock that both sides of a comparison are measured with.

use std::sync::LazyLock;
use std::time::Instant;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Nanoseconds since the first call in this process: a plain number, so that it can be kept in an async entry.
pub fn nanos() -> u64 {
    START.elapsed().as_nanos() as u64
}
