//! Bytes on their way in or out.

/// A queue of bytes that lie together.
#[derive(Default)]
pub(super) struct Window {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Window {
    /// What is there.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// The same, to be worked on in place.
    pub(super) fn rest_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.end]
    }

    /// Says that the first `n` bytes are done with.
    pub(super) fn consume(&mut self, n: usize) {
        self.start += n;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Room behind what is there, for `least` bytes or more. Memory is taken when it is first needed, and kept.
    pub(super) fn room(&mut self, least: usize) -> &mut [u8] {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.bytes.len() - self.end < least {
            self.bytes.resize(self.end + least, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// Says that the first `n` bytes of [`Window::room`] were filled.
    pub(super) fn filled(&mut self, n: usize) {
        self.end += n;
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.room(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.filled(bytes.len());
    }
}
