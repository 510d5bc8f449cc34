//! The packer for values that stay where they are until they have been sent: it notes large slices instead of copying.

use std::any::Any;
use std::mem::needs_drop;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::impls::lend_each;
use crate::{Fault, Kept, Packed, Packer, Pup, PupError, SEGMENT_MIN, Segment, SegmentBuffer, bulk, packed};

/// Bytes of a plain slice from which on a copy less is worth keeping it apart where it is the last.
const APART_MIN: usize = 256;

/// Set in a length: the elements do not follow, they are the next segment.
pub(crate) const LENT: u64 = 1 << 63;

/// A [`Packer`] that does not copy large plain slices of what lives for `'a`, but notes where they are.
///
/// [`Pup::lend`] fills it. That the slices are borrowed for `'a` is what makes this sound: a value that a hand-written
/// `pack` makes on its way does not live so long, so it can only be copied.
#[derive(Debug)]
pub struct Lender<'a> {
    packer: Packer,
    lent: Vec<Lent<'a>>,
    end: End<'a>,
}

/// The last plain slice that is not large, with which a value may end.
#[derive(Clone, Copy, Debug)]
enum End<'a> {
    /// It is copied as any other.
    Copied,
    /// It will be kept apart.
    Awaited,
    /// It belongs where so many bytes are before it, and is not there yet.
    Apart(usize, &'a [u8]),
}

#[derive(Debug)]
enum Lent<'a> {
    /// Of the value itself: its bytes, and how they are aligned.
    Borrowed(&'a [u8], usize),
    /// Memory that is kept by its segment.
    Held(Segment),
}

impl<'a> Lender<'a> {
    /// Goes on where a packer is.
    pub fn new(packer: Packer) -> Self {
        Lender { packer, lent: Vec::new(), end: End::Copied }
    }

    /// For what is copied.
    #[inline]
    pub fn packer(&mut self) -> &mut Packer {
        &mut self.packer
    }

    /// Writes a slice with its number of elements; if it is large and plain, only notes where it is.
    #[inline]
    pub fn slice<T: Pup>(&mut self, slice: &'a [T]) {
        let Some(proof) = T::PLAIN else {
            return lend_each::<T, T>(slice.len(), slice, self);
        };
        let bytes = bulk::bytes_of(slice, proof);
        if is_large(bytes.len()) {
            self.packer.word(slice.len() as u64 | LENT);
            self.lent.push(Lent::Borrowed(bytes, align_of::<T>()));
        } else {
            self.packer.len(slice.len());
            self.bytes(bytes);
            if size_of::<T>() == 0 {
                self.packer.spend_empty::<T>(slice.len());
            }
        }
    }

    /// Writes `bytes` as they are, without their number.
    #[inline]
    pub fn bytes(&mut self, bytes: &'a [u8]) {
        match self.end {
            End::Awaited | End::Apart(..) if bytes.len() >= APART_MIN => self.keep_apart(bytes),
            _ => self.packer.bytes(bytes),
        }
    }

    fn keep_apart(&mut self, bytes: &'a [u8]) {
        if let End::Apart(at, before) = self.end {
            self.packer.insert(at, before);
        }
        self.end = End::Apart(self.packer.size(), bytes);
    }

    /// From now on the last plain slice is kept apart, until it is [taken](Lender::take_end).
    #[inline]
    pub(crate) fn await_end(&mut self) {
        self.end = End::Awaited;
    }

    /// The bytes with which all that was written ends, if they were kept apart.
    #[inline]
    pub(crate) fn take_end(&mut self) -> &'a [u8] {
        match std::mem::replace(&mut self.end, End::Copied) {
            End::Apart(at, bytes) if at == self.packer.size() => bytes,
            End::Apart(at, bytes) => {
                self.packer.insert(at, bytes);
                &[]
            }
            End::Copied | End::Awaited => &[],
        }
    }

    /// [`Packer::nested`] for what is lent.
    #[inline]
    pub fn nested<T>(&mut self, f: impl FnOnce(&mut Self)) {
        let before = self.packer.depth();
        let Some(inner) = self.packer.deeper::<T>() else { return };
        before.run::<T, ()>(inner, || f(self));
        self.packer.set_depth(before);
    }

    /// Writes something that takes the memory of a `T`, and perhaps no bytes. (A slice that is only noted has its length among them.)
    #[inline]
    pub(crate) fn justified<T>(&mut self, f: impl FnOnce(&mut Self)) {
        let before = self.packer.size();
        f(self);
        self.packer.justify::<T>(before);
    }

    /// Writes a value as a [`Packed`] of it would be written, without packing it by itself first. Its large plain slices are
    /// copied. Not for a packer that only counts.
    pub fn packed(&mut self, write: impl FnOnce(&mut Lender<'a>)) {
        self.packed_in(write, |_, _| None);
    }

    /// The same, with slices that `copy` copies, if it can: it is given the bytes and how they are to be aligned.
    pub fn packed_in(
        &mut self,
        write: impl FnOnce(&mut Lender<'a>),
        copy: impl FnMut(&[u8], usize) -> Option<Segment>,
    ) {
        debug_assert!(!self.packer.is_sizing(), "what is only counted has no length to be written later");
        let nothing = Packer::new(self.packer.purpose());
        let mut inner = Lender::new(std::mem::replace(&mut self.packer, nothing));
        let needs = inner.packer.replace_needs(Vec::new());
        let limits = inner.packer.begin_value();
        let start = inner.packer.size();
        inner.packer.word(0);
        write(&mut inner);
        let (packer, segments) = inner.finish_in(copy);
        self.packer = packer;
        self.packer.end_value(limits);
        let own = self.packer.replace_needs(needs);
        packed::end_in_place(self, start, segments, &own);
    }

    /// Notes memory that somebody else keeps; the caller writes its length, marked with [`LENT`].
    pub(crate) fn hold(&mut self, segment: Segment) {
        self.lent.push(Lent::Held(segment));
    }

    /// Begins anew, with these bytes, for something of the same purpose.
    #[inline]
    pub(crate) fn begin(&mut self, start: &[u8]) {
        self.packer.begin(start);
    }

    /// Whether anything was noted.
    #[inline]
    pub(crate) fn has_noted(&self) -> bool {
        !self.lent.is_empty()
    }

    /// Forgets what was noted.
    #[inline]
    pub(crate) fn forget_noted(&mut self) {
        self.lent.clear();
        self.end = End::Copied;
    }

    /// What was written, with its memory.
    pub(crate) fn take_written(&mut self) -> Vec<u8> {
        self.packer.take_written()
    }

    pub(crate) fn give_written(&mut self, memory: Vec<u8>) {
        self.packer.give_written(memory);
    }

    /// Whether any part of the value itself was noted.
    pub fn borrows(&self) -> bool {
        self.lent.iter().any(|lent| matches!(lent, Lent::Borrowed(..)))
    }

    /// Bytes written, counted or noted so far.
    pub fn size(&self) -> usize {
        let noted = self.lent.iter().map(|lent| match lent {
            Lent::Borrowed(bytes, _) => bytes.len(),
            Lent::Held(segment) => segment.bytes().len(),
        });
        let apart = if let End::Apart(_, bytes) = self.end { bytes.len() } else { 0 };
        self.packer.size() + apart + noted.sum::<usize>()
    }

    /// Ends; nothing has been noted, since nothing on the heap was packed.
    #[inline(always)]
    fn finish_flat(self) -> (Packer, Vec<Segment>) {
        debug_assert!(self.lent.is_empty(), "values without a destructor have no memory to lend");
        (self.packer, Vec::new())
    }

    /// Ends; what was noted of the value is copied after all, into memory of its own.
    pub fn finish(self) -> (Packer, Vec<Segment>) {
        self.finish_in(|_, _| None)
    }

    /// The same, but `copy` copies, if it can: it is given the bytes and how they are to be aligned. Where there is no memory for a copy,
    /// the value is refused, with [`Fault::Memory`].
    pub fn finish_in(self, mut copy: impl FnMut(&[u8], usize) -> Option<Segment>) -> (Packer, Vec<Segment>) {
        let Lender { mut packer, lent, .. } = self;
        let mut segments = Vec::with_capacity(lent.len());
        for lent in lent {
            match lent {
                Lent::Held(segment) => segments.push(segment),
                Lent::Borrowed(bytes, align) => match copied(bytes, copy(bytes, align), align) {
                    Some(copy) => segments.push(copy),
                    None => packer.refuse(PupError::new(packer.size(), Fault::Memory { bytes: bytes.len() })),
                },
            }
        }
        (packer, segments)
    }

    /// Ends; the segments are the value's own memory.
    ///
    /// # Safety
    /// What was borrowed for `'a` stays where and what it is as long as `keeper` lives.
    pub unsafe fn finish_kept(self, keeper: &Arc<dyn Any + Send + Sync>) -> (Packer, Vec<Segment>) {
        let segments = self.lent.into_iter().map(|lent| match lent {
            // SAFETY: the caller's promise; the bytes are a plain slice's, and so is the alignment.
            Lent::Borrowed(bytes, align) => unsafe {
                Segment::lent(NonNull::from(bytes).cast(), bytes.len(), align, keeper.clone())
            },
            Lent::Held(segment) => segment,
        });
        (self.packer, segments.collect())
    }
}

/// Whether so many bytes travel beside the others. Lengths on smaller machines have no room for the mark.
pub(crate) fn is_large(bytes: usize) -> bool {
    cfg!(target_pointer_width = "64") && bytes >= SEGMENT_MIN
}

/// The copy that there is, if it may be one, or one in memory of its own, if there is memory.
fn copied(bytes: &[u8], copy: Option<Segment>, align: usize) -> Option<Segment> {
    let is_like_it = |copy: &Segment| copy.bytes().len() == bytes.len() && copy.align() == align;
    copy.filter(is_like_it).or_else(|| {
        let mut memory = SegmentBuffer::new(bytes.len(), align).ok()?;
        memory.fill(bytes);
        memory.finish()
    })
}

/// Packs a value and gives it up. Its large plain slices become segments without a copy, and keep the value.
///
/// Most values have none: they are packed where they are, and dropped.
pub fn pack_away<T: Pup + Send + 'static>(value: T, packer: Packer) -> (Packer, Vec<Segment>) {
    // SAFETY: `T` is `Send`.
    unsafe { pack_away_with(value, packer, |value, lender| value.lend(lender)) }
}

/// [`pack_away`] for what has no `Pup` of its own.
///
/// # Safety
/// `T` is `Send`.
pub unsafe fn pack_away_with<T: 'static>(
    value: T,
    packer: Packer,
    lend: impl for<'a> Fn(&'a T, &mut Lender<'a>),
) -> (Packer, Vec<Segment>) {
    let start = packer.mark();
    let mut lender = Lender::new(packer);
    lend(&value, &mut lender);
    if const { !needs_drop::<T>() && size_of::<T>() < SEGMENT_MIN } {
        return lender.finish_flat();
    }
    if lender.packer.refusal().is_some() {
        let finished = lender.finish();
        // What is nested too deeply to be packed may be too deep to be dropped on this stack. The job is about to end over it.
        std::mem::forget(value);
        return finished;
    }
    if !lender.borrows() {
        return lender.finish();
    }
    // What was noted may be part of `value` itself, which is about to move: once more, where it stays.
    let Lender { mut packer, .. } = lender;
    packer.rewind(start);
    // SAFETY: the caller's promise.
    let kept = Arc::new(unsafe { Kept::new(value) });
    let mut lender = Lender::new(packer);
    lend(kept.value(), &mut lender);
    let keeper: Arc<dyn Any + Send + Sync> = kept.clone();
    // SAFETY: `lend` borrowed from `kept`, which stays where it is, and which nobody can reach any more.
    unsafe { lender.finish_kept(&keeper) }
}

impl Packed {
    /// Packs a value that stays with the caller: its large plain slices are copied, into memory of their own.
    pub fn of<T: Pup>(value: &T) -> Packed {
        let size = crate::size_of_packed(value);
        let packer = Packer::with_capacity(crate::Purpose::Message, if is_large(size) { 0 } else { size });
        if !is_large(size) {
            let mut packer = packer;
            value.pack(&mut packer);
            return Packed::from((packer, Vec::new())).placed(crate::Purpose::Message, T::unpack);
        }
        let mut lender = Lender::new(packer);
        value.lend(&mut lender);
        Packed::from(lender.finish()).placed(crate::Purpose::Message, T::unpack)
    }

    /// Packs a value and gives it up, without a copy of its large plain slices.
    pub fn away<T: Pup + Send + 'static>(value: T) -> Packed {
        let packed = Packed::from(pack_away(value, Packer::new(crate::Purpose::Message)));
        packed.placed(crate::Purpose::Message, T::unpack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    #[test]
    fn copies_are_taken_if_they_can_be_such() {
        let words: Vec<u64> = (0..SEGMENT_MIN as u64).collect();
        let finish = |copy: &dyn Fn(&[u8], usize) -> Option<Segment>| {
            let mut lender = Lender::new(Packer::new(Purpose::Message));
            lender.slice(&words);
            let (_, segments) = lender.finish_in(copy);
            assert!(segments.len() == 1 && segments[0] == Segment::of_vec(words.clone()));
            assert_eq!(segments[0].align(), align_of::<u64>());
            segments[0].clone()
        };
        let there_is = Segment::of_vec(words.clone());
        let taken = finish(&|bytes, align| {
            assert!((bytes, align) == (there_is.bytes(), align_of::<u64>()));
            Some(there_is.clone())
        });
        assert_eq!(taken.bytes().as_ptr(), there_is.bytes().as_ptr());
        finish(&|_, _| None);
        finish(&|_, _| Some(there_is.part(0..8)));
        finish(&|bytes, _| Some(Segment::of_vec(bytes.to_vec())));
    }
}
