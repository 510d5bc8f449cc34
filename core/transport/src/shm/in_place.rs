//! A message as it arrives, of which only the start was copied out of the rings.

use std::mem::MaybeUninit;

use super::bytes;
use talisman_pup::Tail;

/// A message without segments as it arrives, of which the last bytes may not have been looked at.
pub struct Arrived<'a> {
    /// As of [`Incoming`](super::Incoming).
    pub rank: u16,
    /// Its first bytes.
    pub start: &'a [u8],
    /// Those that follow.
    pub rest: Rest<'a>,
}

/// The last bytes of a message, to be copied from where they came to where they go. Nobody looks at them before: another process may
/// write there.
pub struct Rest<'a> {
    /// None where there are none.
    reader: Option<&'a bytes::Reader>,
    /// So many bytes of the chunk come before.
    before: usize,
    len: usize,
}

impl<'a> Rest<'a> {
    /// Of a message that is here as a whole.
    pub const NOTHING: Rest<'static> = Rest { reader: None, before: 0, len: 0 };

    pub(super) fn behind(before: usize, len: usize, reader: &'a bytes::Reader) -> Rest<'a> {
        Rest { reader: Some(reader), before, len }
    }

    /// How many bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies them.
    ///
    /// # Panics
    /// If they are not as many.
    pub fn copy_to(&self, to: &mut [u8]) {
        // SAFETY: it is borrowed, and only written to.
        unsafe { self.copy_to_raw(to) };
    }

    /// # Safety
    /// Nobody else reads or writes there meanwhile.
    unsafe fn copy_to_raw(&self, to: *mut [u8]) {
        assert_eq!(to.len(), self.len, "all of the rest is copied");
        if let Some(reader) = self.reader {
            // SAFETY: it is no part of the ring, of which there are no references; and no longer than a chunk.
            unsafe { reader.read_ahead(self.before, to) };
        }
    }
}

// SAFETY: what comes behind a chunk's start is as long as it was said to be, and is copied whole; nothing is where there is no reader.
unsafe impl Tail for Rest<'_> {
    fn len(&self) -> usize {
        self.len
    }

    fn copy_to(&self, to: &mut [MaybeUninit<u8>]) {
        // SAFETY: it is borrowed, and only written to.
        unsafe { self.copy_to_raw(to as *mut [MaybeUninit<u8>] as *mut [u8]) };
    }
}
