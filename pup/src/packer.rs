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
}

impl Packer {
    /// A packer that counts bytes and keeps none; read the count with [`Packer::size`].
    pub fn sizer(purpose: Purpose) -> Self {
        Packer { sizing: true, ..Packer::new(purpose) }
    }

    /// A packer whose buffer grows as needed.
    pub fn new(purpose: Purpose) -> Self {
        Packer { buf: Vec::new(), counted: 0, sizing: false, purpose }
    }

    /// A packer with room for `bytes` bytes, normally what a sizer has counted.
    pub fn with_capacity(purpose: Purpose, bytes: usize) -> Self {
        Packer { buf: Vec::with_capacity(bytes), ..Packer::new(purpose) }
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
        (len as u64).pack(self);
    }

    /// Bytes written or counted so far.
    pub fn size(&self) -> usize {
        self.buf.len() + self.counted
    }

    /// The packed bytes; empty for a sizer.
    pub fn finish(self) -> Vec<u8> {
        self.buf
    }
}
