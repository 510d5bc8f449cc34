//! The packer, which also sizes.

use crate::{Plain, PlainProof, Pup, bulk};

/// Why a value is being packed or unpacked. A hand-written [`Pup`] may leave out of a message what a checkpoint keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// An argument or a result on its way to an object.
    Message,
    /// An object on its way to another PE.
    Migration,
    /// An object that is to come back after a failure, perhaps in a later build of the program.
    Checkpoint,
}

/// Takes the bytes of a value, or only counts them.
///
/// One concrete type does both, so that [`Pup::pack`] is compiled once and can be called through a `dyn` trait.
#[derive(Debug)]
pub struct Packer {
    buf: Vec<u8>,
    /// Bytes counted; stays 0 when packing.
    counted: usize,
    sizing: bool,
    purpose: Purpose,
    /// What the value refers to and does not hold.
    needs: Vec<u64>,
}

impl Packer {
    /// A packer that counts bytes and keeps none; read the count with [`Packer::size`].
    pub fn sizer(purpose: Purpose) -> Self {
        Packer { sizing: true, ..Packer::new(purpose) }
    }

    /// A packer whose buffer grows as needed.
    pub fn new(purpose: Purpose) -> Self {
        Packer::over(purpose, Vec::new())
    }

    /// A packer with room for `bytes` bytes, normally what a sizer has counted.
    pub fn with_capacity(purpose: Purpose, bytes: usize) -> Self {
        Packer { buf: Vec::with_capacity(bytes), ..Packer::new(purpose) }
    }

    /// A packer that writes behind what is in `buf`.
    pub fn over(purpose: Purpose, buf: Vec<u8>) -> Self {
        Packer { buf, counted: 0, sizing: false, purpose, needs: Vec::new() }
    }

    /// What the value is packed for.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Whether bytes are counted only, so that work on their content can be spared.
    pub fn is_sizing(&self) -> bool {
        self.sizing
    }

    /// Writes `bytes` as they are, without their number.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        if self.sizing {
            self.counted += bytes.len();
        } else {
            self.buf.extend_from_slice(bytes);
        }
    }

    /// Writes a slice of plain values in one piece, at the speed of memcpy, without their number.
    #[inline]
    pub fn plain<T: Plain>(&mut self, slice: &[T]) {
        self.bytes(bulk::bytes_of(slice, PlainProof::new()));
    }

    /// Writes a length: 8 bytes on every machine.
    #[inline]
    pub fn len(&mut self, len: usize) {
        self.word(len as u64);
    }

    #[inline]
    pub(crate) fn word(&mut self, word: u64) {
        word.pack(self);
    }

    /// Notes that whoever reads the value has to know what this id stands for.
    pub fn need(&mut self, id: u64) {
        if !self.sizing && !self.needs.contains(&id) {
            self.needs.push(id);
        }
    }

    /// What was noted with [`Packer::need`].
    pub fn needs(&self) -> &[u64] {
        &self.needs
    }

    /// Sets what was noted with [`Packer::need`]; what that had been.
    pub(crate) fn replace_needs(&mut self, needs: Vec<u64>) -> Vec<u64> {
        std::mem::replace(&mut self.needs, needs)
    }

    /// Overwrites a word that was written at this place.
    pub(crate) fn set_word(&mut self, at: usize, word: u64) {
        self.buf[at..at + size_of::<u64>()].copy_from_slice(&word.to_le_bytes());
    }

    /// Bytes written or counted so far.
    pub fn size(&self) -> usize {
        self.buf.len() + self.counted
    }

    /// Where it is, for [`Packer::rewind`].
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.buf.len(), self.needs.len())
    }

    /// Forgets what was written since a mark.
    pub(crate) fn rewind(&mut self, (bytes, needs): (usize, usize)) {
        self.buf.truncate(bytes);
        self.needs.truncate(needs);
    }

    /// The packed bytes, and what was noted with [`Packer::need`].
    pub fn into_parts(self) -> (Vec<u8>, Vec<u64>) {
        (self.buf, self.needs)
    }

    /// The packed bytes; empty for a sizer.
    pub fn finish(self) -> Vec<u8> {
        self.buf
    }
}
