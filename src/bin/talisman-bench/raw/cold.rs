//! The limit of large data through memory: a copy of what is in no cache of the core.

use std::hint::black_box;

use super::clock::nanos;

const ALL: usize = 64 << 20;

/// Memory larger than the second-level caches, and how far copying has gone through it.
pub struct Cold {
    from: Vec<u8>,
    to: Vec<u8>,
    next: usize,
}

impl Cold {
    pub fn new() -> Cold {
        Cold { from: vec![1; ALL], to: vec![2; ALL], next: 0 }
    }

    /// Nanoseconds for a copy of so many bytes.
    pub fn copy(&mut self, bytes: usize, times: u64) -> f64 {
        let start = nanos();
        for _ in 0..times {
            let at = if self.next + bytes > ALL { 0 } else { self.next };
            self.next = at + bytes;
            self.to[at..at + bytes].copy_from_slice(black_box(&self.from[at..at + bytes]));
            black_box(&mut self.to);
        }
        (nanos() - start) as f64 / times as f64
    }
}
