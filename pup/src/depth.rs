//! How deep a value is nested while it is packed or read, and the stack for that.

use crate::limits::{LEVEL_BYTES, LEVELS_MAX};

/// So many levels are packed or read before it is seen whether there is stack for as many more.
const LOOK_EVERY: usize = 32;

/// What so many levels may need of the stack: up to 6 KiB each in a debug build, and as much for what is called at the end.
const NEEDED: usize = 512 << 10;

/// Copies of a large value that may be on the stack at a time in a debug build.
const COPIES: usize = 16;

/// How deep it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Depth(u32);

impl Depth {
    /// One level deeper, for values of this type; none if that is too deep. The outermost level always passes: a type that is large but
    /// not recursive is no danger.
    #[inline]
    pub(crate) fn deeper<T>(self) -> Option<Depth> {
        let depth = self.0 as usize + 1 + size_of::<T>() / LEVEL_BYTES;
        (self.0 == 0 || depth <= LEVELS_MAX).then(|| Depth(u32::try_from(depth).unwrap_or(u32::MAX)))
    }

    /// Runs what is at the level `inner`, with more stack if this one does not suffice.
    #[inline]
    pub(crate) fn run<T, R>(self, inner: Depth, f: impl FnOnce() -> R) -> R {
        if self.0 as usize / LOOK_EVERY == inner.0 as usize / LOOK_EVERY {
            f()
        } else {
            with_stack::<T, R>(f)
        }
    }
}

#[inline(never)]
fn with_stack<T, R>(f: impl FnOnce() -> R) -> R {
    let needed = NEEDED + COPIES * size_of::<T>();
    stacker::maybe_grow(needed, 4 * needed, f)
}
