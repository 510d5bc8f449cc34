//! Loom's counterpart of `core/transport/src/shm/memory.rs`: every access to every line is watched.

use super::sync::{Arc, UnsafeCell};

pub(super) type Line = UnsafeCell<[u8; 64]>;

/// Both ends have one, of the same lines.
pub(super) struct Bytes {
    lines: Arc<Vec<Line>>,
}

// SAFETY: loom finds out whether it is.
unsafe impl Send for Bytes {}

impl Bytes {
    pub(super) fn pair(lines: usize) -> [Bytes; 2] {
        let lines: Arc<Vec<Line>> = Arc::new((0..lines).map(|_| UnsafeCell::new([0; 64])).collect());
        [Bytes { lines: lines.clone() }, Bytes { lines }]
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len() * 64
    }

    pub(super) fn write(&self, position: u64, bytes: &[u8]) {
        for (line, bytes) in (position as usize / 64..).zip(bytes.chunks(64)) {
            // SAFETY: a line of its own; loom reports an access at the same time.
            self.line(line).with_mut(|at| unsafe { (&mut (*at))[..bytes.len()].copy_from_slice(bytes) });
        }
    }

    /// # Safety
    /// `to` may be written to.
    pub(super) unsafe fn read(&self, position: u64, to: *mut [u8]) {
        let start: *mut u8 = to.cast();
        for at in (0..to.len()).step_by(64) {
            let n = (to.len() - at).min(64);
            self.line((position as usize + at) / 64).with(|line| {
                // SAFETY: inside the line and inside the target.
                unsafe { start.add(at).copy_from_nonoverlapping(line.cast(), n) }
            });
        }
    }

    /// Nothing that others see.
    #[expect(clippy::unused_self, reason = "the real one asks for its memory")]
    pub(super) fn prefetch(&self, _position: u64, _bytes: usize) {}

    fn line(&self, number: usize) -> &Line {
        &self.lines[number % self.lines.len()]
    }
}
