//! The unpacker: a cursor over bytes that are not trusted.

use std::fmt;
use std::vec;

use crate::depth::Depth;
use crate::limits::EMPTY_MAX;
use crate::tail::Ending;
use crate::{Fault, Plain, PlainProof, Pup, PupError, Purpose, Segment, Tail, bulk};

/// Reads the bytes of a value and trusts none of them.
#[derive(Debug)]
pub struct Unpacker<'a> {
    rest: &'a [u8],
    /// What follows, where it may not be looked at.
    tail: Option<&'a dyn Tail>,
    /// Large plain slices beside the bytes, which mention them in this order.
    segments: Option<vec::IntoIter<Segment>>,
    total: usize,
    depth: Depth,
    empty_left: usize,
    purpose: Purpose,
}

impl<'a> Unpacker<'a> {
    /// Starts at the first of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8], purpose: Purpose) -> Self {
        Unpacker {
            rest: bytes,
            tail: None,
            segments: None,
            total: bytes.len(),
            depth: Depth::default(),
            empty_left: EMPTY_MAX,
            purpose,
        }
    }

    /// Starts at the first of `bytes`, with the large plain slices that a [`Lender`](crate::Lender) kept out of them.
    pub fn with_segments(bytes: &'a [u8], purpose: Purpose, segments: Vec<Segment>) -> Self {
        Unpacker { segments: Some(segments.into_iter()), ..Unpacker::new(bytes, purpose) }
    }

    /// Starts at the first of `bytes`, which `tail` follows. Only a plain slice may reach into that, to the end of it: whatever else does is
    /// an error, as if the tail were not there.
    #[inline]
    pub fn with_tail(bytes: &'a [u8], purpose: Purpose, tail: &'a dyn Tail) -> Self {
        Unpacker { tail: Some(tail).filter(|tail| tail.len() > 0), ..Unpacker::new(bytes, purpose) }
    }

    /// The next `n` bytes, if they are all that is left and reach into the tail.
    #[inline]
    pub(crate) fn ending(&mut self, n: usize) -> Option<Ending<'a>> {
        let tail = self.tail?;
        if self.left().checked_add(tail.len()) != Some(n) {
            return None;
        }
        self.tail = None;
        let here = std::mem::take(&mut self.rest);
        Some(Ending { here, tail })
    }

    /// What the value was packed for.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Bytes not read yet, without a [tail](Unpacker::with_tail).
    #[inline]
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// The offset of the next byte.
    pub fn offset(&self) -> usize {
        self.total - self.rest.len()
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    /// [`Fault::Trailing`], [`Fault::Segments`].
    #[inline]
    pub fn finish(&self) -> Result<(), PupError> {
        let tail = self.tail.map_or(0, Tail::len);
        match (self.left() + tail, self.segments.as_ref().map_or(0, ExactSizeIterator::len)) {
            (0, 0) => Ok(()),
            (0, left) => Err(self.fault(Fault::Segments { left })),
            (left, _) => Err(self.fault(Fault::Trailing { left })),
        }
    }

    pub(crate) fn has_segment(&self) -> bool {
        self.segments.as_ref().is_some_and(|segments| !segments.as_slice().is_empty())
    }

    pub(crate) fn next_segment(&mut self) -> Option<Segment> {
        self.segments.as_mut()?.next()
    }

    /// The segments that nothing read so far has mentioned.
    pub fn take_segments(&mut self) -> Vec<Segment> {
        self.segments.take().into_iter().flatten().collect()
    }

    /// The next `n` bytes, without a copy.
    ///
    /// # Errors
    /// [`Fault::Short`] when fewer are left.
    #[inline]
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8], PupError> {
        let Some((bytes, rest)) = self.rest.split_at_checked(n) else { return Err(self.short(n)) };
        self.rest = rest;
        Ok(bytes)
    }

    /// The next `N` bytes, for numbers.
    #[inline]
    pub(crate) fn fixed<const N: usize>(&mut self) -> Result<[u8; N], PupError> {
        let Some((bytes, rest)) = self.rest.split_first_chunk() else { return Err(self.short(N)) };
        self.rest = rest;
        Ok(*bytes)
    }

    /// Reads a length. It is not checked against the bytes left: see [`Unpacker::check_len`].
    ///
    /// # Errors
    /// [`Fault::Short`], or [`Fault::Length`] when it does not fit this machine's `usize`.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "it reads a length, it has none")]
    pub fn len(&mut self) -> Result<usize, PupError> {
        let len = u64::unpack(self)?;
        usize::try_from(len).map_err(|_| self.fault(Fault::Length { len, left: self.left() }))
    }

    /// Checks that `len` elements of at least `min` bytes each can be in the bytes left, before memory is taken.
    ///
    /// # Errors
    /// [`Fault::Length`].
    #[inline]
    pub fn check_len(&self, len: usize, min: usize) -> Result<(), PupError> {
        let most = self.left().checked_div(min).unwrap_or(self.left() + self.empty_left);
        if len <= most { Ok(()) } else { Err(self.too_long(len)) }
    }

    /// `len` plain values, copied once, at the speed of memcpy, into a fresh vector and therefore aligned.
    ///
    /// # Errors
    /// [`Fault::Length`] when they are not in the bytes left.
    #[inline]
    pub fn plain<T: Plain>(&mut self, len: usize) -> Result<Vec<T>, PupError> {
        bulk::read_vec(len, self, PlainProof::new())
    }

    /// One plain value.
    ///
    /// # Errors
    /// [`Fault::Short`].
    #[inline]
    pub fn plain_value<T: Plain>(&mut self) -> Result<T, PupError> {
        bulk::read_one(self, PlainProof::new())
    }

    /// Runs `f` one level deeper. Whatever lets a type contain itself (a box, a container) reads its content through
    /// this, so that hostile bytes cannot overflow the stack, and writes it through [`Packer::nested`](crate::Packer::nested), so that
    /// nothing is packed which is refused here.
    ///
    /// # Errors
    /// [`Fault::Depth`] beyond [`LEVELS_MAX`](crate::limits::LEVELS_MAX); a `T` larger than 1024 bytes counts as several levels.
    #[inline]
    pub fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T, PupError>) -> Result<T, PupError> {
        self.nested_for::<T, T>(f)
    }

    /// [`Unpacker::nested`] for a result `R` other than the type `T` whose values pass through the stack.
    #[inline]
    pub(crate) fn nested_for<T, R>(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<R, PupError>,
    ) -> Result<R, PupError> {
        let before = self.depth;
        let Some(inner) = before.deeper::<T>() else { return Err(self.fault(Fault::Depth)) };
        self.depth = inner;
        let result = before.run::<T, _>(inner, || f(self));
        self.depth = before;
        result
    }

    pub(crate) fn set_depth(&mut self, depth: Depth) {
        self.depth = depth;
    }

    /// Reads `len` elements with `f`, one level deeper, each with its index in errors.
    ///
    /// `T` is what one element takes in memory and `min` the fewest bytes it takes here.
    #[inline]
    pub(crate) fn each<T>(
        &mut self,
        len: usize,
        min: usize,
        mut f: impl FnMut(&mut Self) -> Result<(), PupError>,
    ) -> Result<(), PupError> {
        self.check_len(len, min)?;
        self.nested_for::<T, ()>(|u| {
            for i in 0..len {
                let read = if min == 0 { u.justified::<T, ()>(&mut f) } else { f(u) };
                read.map_err(|e| e.index(i))?;
            }
            Ok(())
        })
    }

    /// Reads something that takes the memory of a `T`, by bytes or, when it takes none, by the bound for such values.
    #[inline]
    pub(crate) fn justified<T, R>(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<R, PupError>,
    ) -> Result<R, PupError> {
        let before = self.left();
        let value = f(self)?;
        if self.left() == before {
            self.spend_empty(size_of::<T>().max(1))?;
        }
        Ok(value)
    }

    /// How many elements to make room for at once: no more memory than four times the bytes left, whatever the length
    /// says, because elements can be much larger in memory than here.
    #[inline]
    pub(crate) fn room<T>(&self, len: usize) -> usize {
        len.min(self.left().saturating_mul(4) / size_of::<T>().max(1))
    }

    /// An error at this place.
    #[cold]
    pub fn fault(&self, fault: Fault) -> PupError {
        PupError::new(self.offset(), fault)
    }

    /// For a hand-written `unpack`: the bytes were well formed, the value is not acceptable.
    #[cold]
    pub fn invalid(&self, why: impl fmt::Display) -> PupError {
        self.fault(Fault::Invalid(why.to_string()))
    }

    /// Charges elements that no bytes justify, by the memory they take.
    #[inline]
    pub(crate) fn spend_empty(&mut self, memory: usize) -> Result<(), PupError> {
        match self.empty_left.checked_sub(memory) {
            Some(left) => self.empty_left = left,
            None => return Err(self.fault(Fault::Empty { limit: EMPTY_MAX })),
        }
        Ok(())
    }

    #[cold]
    fn short(&self, wanted: usize) -> PupError {
        self.fault(Fault::Short { wanted, left: self.left() })
    }

    #[cold]
    fn too_long(&self, len: usize) -> PupError {
        self.fault(Fault::Length { len: len as u64, left: self.left() })
    }
}
