//! The packer, which also sizes.

use bytes::Bytes;

use crate::depth::Depth;
use crate::limits::EMPTY_MAX;
use crate::{Fault, Packed, Plain, PlainProof, Pup, PupError, Segment, Unpacker, bulk};

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
    limits: Limits,
}

/// What its reader will hold against the value.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    depth: Depth,
    empty_left: u32,
    refusal: Option<PupError>,
}

impl Limits {
    fn of_new_value() -> Limits {
        Limits { depth: Depth::default(), empty_left: EMPTY_MAX as u32, refusal: None }
    }
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
        Packer { buf, counted: 0, sizing: false, purpose, needs: Vec::new(), limits: Limits::of_new_value() }
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

    /// Runs `f` one level deeper: what lets a type contain itself (a box, a container) writes its content through this, and reads it
    /// through [`Unpacker::nested`](crate::Unpacker::nested). `T` is what one value of the content takes in memory. Beyond
    /// [`LEVELS_MAX`](crate::limits::LEVELS_MAX) nothing of the content is written, and the value is refused ([`Packer::refusal`]).
    #[inline]
    pub fn nested<T>(&mut self, f: impl FnOnce(&mut Self)) {
        let before = self.limits.depth;
        let Some(inner) = self.deeper::<T>() else { return };
        before.run::<T, ()>(inner, || f(self));
        self.limits.depth = before;
    }

    /// Goes one level deeper, and says which that is; if it is too deep, the value is refused.
    #[inline]
    pub(crate) fn deeper<T>(&mut self) -> Option<Depth> {
        let inner = self.limits.depth.deeper::<T>();
        match inner {
            Some(inner) => self.limits.depth = inner,
            None => self.refuse(PupError::new(self.size(), Fault::Depth).field(std::any::type_name::<T>())),
        }
        inner
    }

    pub(crate) fn depth(&self) -> Depth {
        self.limits.depth
    }

    pub(crate) fn set_depth(&mut self, depth: Depth) {
        self.limits.depth = depth;
    }

    /// Writes something that takes the memory of a `T`, and perhaps no bytes.
    #[inline]
    pub(crate) fn justified<T>(&mut self, f: impl FnOnce(&mut Self)) {
        let before = self.size();
        f(self);
        self.justify::<T>(before);
    }

    /// If nothing was written since it had this size, a value without bytes was.
    #[inline]
    pub(crate) fn justify<T>(&mut self, before: usize) {
        if self.size() == before {
            self.spend_empty::<T>(1);
        }
    }

    /// So many values of a type were packed that have no bytes.
    #[inline]
    pub(crate) fn spend_empty<T>(&mut self, values: usize) {
        let memory = values.saturating_mul(size_of::<T>().max(1));
        match (self.limits.empty_left as usize).checked_sub(memory) {
            Some(left) => self.limits.empty_left = left as u32,
            None => {
                let fault = Fault::Empty { limit: EMPTY_MAX };
                self.refuse(PupError::new(self.size(), fault).field(std::any::type_name::<T>()));
            }
        }
    }

    /// The value cannot be read again, for this reason, so that it must not be sent or kept. The first reason counts.
    #[cold]
    pub fn refuse(&mut self, why: PupError) {
        self.limits.refusal.get_or_insert(why);
    }

    /// Writes what `giver` has given to a value that many give to. If it is refused, the refusal says whose it is
    /// ([`PupError::giver`]): whoever packs the whole may be another, and innocent.
    #[inline]
    pub fn given_by(&mut self, giver: u128, f: impl FnOnce(&mut Self)) {
        let was_refused = self.limits.refusal.is_some();
        f(self);
        if !was_refused && let Some(why) = self.limits.refusal.take() {
            // Of values without bytes there may be too many of all together.
            let is_of_all = matches!(why.fault(), Fault::Empty { .. });
            self.limits.refusal = Some(if is_of_all { why } else { why.given_by(giver) });
        }
    }

    /// What was written from `start` on can be read by itself: if it was refused, the refusal says which field it is about, as
    /// [`Packed::placed`] has it. That costs nothing where all is well.
    #[inline]
    pub fn place_refusal<R>(
        &mut self,
        start: usize,
        read: impl FnOnce(&mut Unpacker<'_>) -> Result<R, PupError>,
    ) {
        if self.limits.refusal.as_ref().is_some_and(|why| !why.is_memory()) && !self.sizing {
            // At the same depth: further in, nothing was written that could be read.
            let depth = self.limits.depth;
            let at_depth = |u: &mut Unpacker<'_>| {
                u.set_depth(depth);
                read(u)
            };
            let placed = self.copy_from(start, &[]).placed(self.purpose, at_depth);
            self.limits.refusal = placed.refusal().cloned();
        }
    }

    /// Why what was written cannot be read again, if it cannot: it is beyond one of the [limits](crate::limits).
    #[inline]
    pub fn refusal(&self) -> Option<&PupError> {
        self.limits.refusal.as_ref()
    }

    /// The same, taken.
    #[inline]
    pub fn take_refusal(&mut self) -> Option<PupError> {
        self.limits.refusal.take()
    }

    /// What was written from there on, by itself, with segments that were noted meanwhile; refused if this is.
    pub fn copy_from(&self, start: usize, segments: &[Segment]) -> Packed {
        let bytes = Bytes::copy_from_slice(self.buf.get(start..).unwrap_or_default());
        Packed::new(bytes, segments.to_vec(), Vec::new()).refused(self.limits.refusal.clone())
    }

    /// Another value begins within this one, which will be read by itself; gives back what holds for this one.
    pub(crate) fn begin_value(&mut self) -> Limits {
        let refusal = self.limits.refusal.clone();
        std::mem::replace(&mut self.limits, Limits { refusal, ..Limits::of_new_value() })
    }

    /// It ends.
    pub(crate) fn end_value(&mut self, before: Limits) {
        let refusal = self.limits.refusal.take();
        self.limits = Limits { refusal, ..before };
    }

    /// A packer for a part of the value, which is written after the other parts: see [`Packer::add`].
    pub(crate) fn apart(&self) -> Packer {
        Packer { limits: self.limits.clone(), ..Packer::new(self.purpose) }
    }

    /// What was noted of a part that was packed apart; its bytes.
    pub(crate) fn add(&mut self, apart: Packer) -> Vec<u8> {
        self.limits = apart.limits;
        apart.needs.iter().for_each(|id| self.need(*id));
        apart.buf
    }

    /// Writes bytes before what was written since this place.
    pub(crate) fn insert(&mut self, at: usize, bytes: &[u8]) {
        let end = self.buf.len();
        // Room first, filled with what is at hand, and all moved as a whole: `splice` puts one byte after the other.
        self.buf.extend_from_slice(bytes);
        self.buf.copy_within(at..end, at + bytes.len());
        self.buf[at..at + bytes.len()].copy_from_slice(bytes);
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
    pub(crate) fn mark(&self) -> (usize, usize, Limits) {
        (self.buf.len(), self.needs.len(), self.limits.clone())
    }

    /// Forgets what was written since a mark.
    pub(crate) fn rewind(&mut self, (bytes, needs, limits): (usize, usize, Limits)) {
        self.buf.truncate(bytes);
        self.needs.truncate(needs);
        self.limits = limits;
    }

    /// Begins anew, with these bytes, for something of the same purpose.
    #[inline]
    pub(crate) fn begin(&mut self, start: &[u8]) {
        self.buf.clear();
        self.needs.clear();
        self.limits = Limits::of_new_value();
        self.buf.extend_from_slice(start);
    }

    /// What was written, if its reader needs nothing else and can read it.
    #[inline]
    pub(crate) fn written_alone(&self) -> Option<&[u8]> {
        (self.needs.is_empty() && self.limits.refusal.is_none()).then_some(&self.buf)
    }

    /// The same, with its memory.
    pub(crate) fn take_written(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buf)
    }

    /// Memory to write to. What was written is gone.
    pub(crate) fn give_written(&mut self, memory: Vec<u8>) {
        self.buf = memory;
    }

    /// Bytes for which it has memory.
    pub(crate) fn capacity(&self) -> usize {
        self.buf.capacity()
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
