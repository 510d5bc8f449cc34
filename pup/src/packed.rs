//! A packed value: its bytes, and what travels beside them.

use bytes::{BufMut, Bytes, BytesMut};

use crate::lender::{LENT, Lender, is_large};
use crate::{Fault, Packer, Pup, PupError, Purpose, Segment, SegmentBuffer, Unpacker};

/// A value in packed form: bytes, large plain slices beside them, and the ids of what it refers to.
///
/// Most have bytes only, and are as cheap as those. Clones share all memory.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Packed {
    bytes: Bytes,
    more: Option<Box<More>>,
}

/// What is refused and larger is not read once more to name the place: the job that ends over it may have no memory for that.
const PLACED_MAX: usize = 256 << 20;

/// What few have.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct More {
    segments: Vec<Segment>,
    needs: Vec<u64>,
    refusal: Option<PupError>,
}

impl Packed {
    /// Of parts: the bytes, the segments in the order in which the bytes mention them, and what a reader must know.
    pub fn new(bytes: Bytes, segments: Vec<Segment>, needs: Vec<u64>) -> Self {
        let plain = segments.is_empty() && needs.is_empty();
        Packed { bytes, more: (!plain).then(|| Box::new(More { segments, needs, refusal: None })) }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The large plain slices, in the order in which the bytes mention them.
    pub fn segments(&self) -> &[Segment] {
        self.more.as_ref().map_or(&[], |more| &more.segments)
    }

    /// Bytes in all.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.segments().iter().map(|segment| segment.bytes().len()).sum::<usize>()
    }

    /// What has to be known where it is read: what [`Packer::need`] noted.
    #[inline]
    pub fn needs(&self) -> &[u64] {
        self.more.as_ref().map_or(&[], |more| &more.needs)
    }

    /// Why it cannot be read again, if it cannot: [`Packer::refusal`]. Whatever it is packed into is refused as well.
    #[inline]
    pub fn refusal(&self) -> Option<&PupError> {
        self.more.as_ref().and_then(|more| more.refusal.as_ref())
    }

    /// The same; a refusal says which field it is about. That is found out by reading what was packed up to there, as its receiver would, so
    /// that it costs nothing where all is well.
    #[inline]
    pub fn placed<R>(
        self,
        purpose: Purpose,
        read: impl FnOnce(&mut Unpacker<'_>) -> Result<R, PupError>,
    ) -> Packed {
        if self.refusal().is_none() { self } else { self.placed_by(purpose, read) }
    }

    #[cold]
    fn placed_by<R>(
        mut self,
        purpose: Purpose,
        read: impl FnOnce(&mut Unpacker<'_>) -> Result<R, PupError>,
    ) -> Packed {
        if self.size() <= PLACED_MAX
            && !self.refusal().is_some_and(PupError::is_memory)
            && let Some(why) = self.more.as_mut().and_then(|more| more.refusal.take())
        {
            let found = self.read_copy(purpose, read);
            return self.refused(Some(why.placed(found)));
        }
        self
    }

    /// The bytes and the segments.
    pub fn into_parts(self) -> (Bytes, Vec<Segment>) {
        (self.bytes, self.more.map_or_else(Vec::new, |more| more.segments))
    }

    /// All its memory: the bytes, and the segments.
    pub fn buffers(&self) -> Vec<Segment> {
        let mut all = vec![Segment::of_bytes(self.bytes.clone())];
        all.extend_from_slice(self.segments());
        all
    }

    /// Of such memory again; what has to be known where it is read is lost.
    pub fn of_buffers(mut buffers: Vec<Segment>) -> Packed {
        if buffers.is_empty() {
            return Packed::default();
        }
        let bytes = Bytes::from_owner(buffers.remove(0));
        Packed::new(bytes, buffers, Vec::new())
    }

    /// What has this in front of another, as the fields of a tuple.
    pub fn then(&self, next: &Packed) -> Packed {
        let mut bytes = BytesMut::with_capacity(self.bytes.len() + next.bytes.len());
        bytes.put_slice(&self.bytes);
        bytes.put_slice(&next.bytes);
        let segments = [self.segments(), next.segments()].concat();
        let needs = [self.needs(), next.needs()].concat();
        let refusal = self.refusal().or(next.refusal()).cloned();
        Packed::new(bytes.freeze(), segments, needs).refused(refusal)
    }

    /// The same, refused for this reason, if there is one.
    pub fn refused(mut self, refusal: Option<PupError>) -> Packed {
        if refusal.is_some() {
            self.more.get_or_insert_default().refusal = refusal;
        }
        self
    }

    /// Rebuilds a value from all of it. Segments that nobody else has become the value's own memory.
    ///
    /// # Errors
    /// When this is not a `T`, or something is left over.
    pub fn into_value<T: Pup>(self) -> Result<T, PupError> {
        self.read(Purpose::Message, T::unpack)
    }

    /// Reads all of it.
    ///
    /// # Errors
    /// What `f` says, or that something is left over.
    pub fn read<R>(
        self,
        purpose: Purpose,
        f: impl FnOnce(&mut Unpacker<'_>) -> Result<R, PupError>,
    ) -> Result<R, PupError> {
        let (bytes, segments) = self.into_parts();
        read(&bytes, segments, purpose, f)
    }

    /// Reads all of it, and leaves it as it is: segments are copied.
    ///
    /// # Errors
    /// As [`Packed::read`].
    pub fn read_copy<R>(
        &self,
        purpose: Purpose,
        f: impl FnOnce(&mut Unpacker<'_>) -> Result<R, PupError>,
    ) -> Result<R, PupError> {
        read(&self.bytes, self.segments().to_vec(), purpose, f)
    }
}

fn read<R>(
    bytes: &[u8],
    segments: Vec<Segment>,
    purpose: Purpose,
    f: impl FnOnce(&mut Unpacker<'_>) -> Result<R, PupError>,
) -> Result<R, PupError> {
    let mut unpacker = Unpacker::with_segments(bytes, purpose, segments);
    let value = f(&mut unpacker)?;
    unpacker.finish()?;
    Ok(value)
}

/// What a packer and its segments hold.
impl From<(Packer, Vec<Segment>)> for Packed {
    fn from((mut packer, segments): (Packer, Vec<Segment>)) -> Self {
        let refusal = packer.take_refusal();
        let (bytes, needs) = packer.into_parts();
        Packed::new(bytes.into(), segments, needs).refused(refusal)
    }
}

impl From<Bytes> for Packed {
    fn from(bytes: Bytes) -> Self {
        Packed { bytes, more: None }
    }
}

/// Set in the length of the bytes: segments and needs follow them.
const MORE: u64 = 1 << 62;

/// A length, the bytes, and if the length says so, the segments and the needs.
impl Pup for Packed {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        p.word(self.len_word());
        p.bytes(&self.bytes);
        if let Some(more) = &self.more {
            more.segments.pack(p);
            pack_needs(&more.needs, p);
            more.refusal.iter().for_each(|why| p.refuse(why.clone()));
        }
    }

    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        if is_large(self.bytes.len()) {
            l.packer().word(self.len_word() | LENT);
            l.hold(Segment::of_bytes(self.bytes.clone()));
        } else {
            l.packer().word(self.len_word());
            l.packer().bytes(&self.bytes);
        }
        if let Some(more) = &self.more {
            more.segments.lend(l);
            pack_needs(&more.needs, l.packer());
            more.refusal.iter().for_each(|why| l.packer().refuse(why.clone()));
        }
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let word = u64::unpack(u)?;
        let bytes = u.bytes_or_segment(word & !MORE)?;
        if word & MORE == 0 {
            return Ok(bytes.into());
        }
        let segments = Vec::unpack(u).map_err(|e| e.field("segments"))?;
        let needs = Vec::unpack(u).map_err(|e| e.field("needs"))?;
        Ok(Packed::new(bytes, segments, needs))
    }
}

impl Packed {
    fn len_word(&self) -> u64 {
        len_word(self.bytes.len(), self.more.is_some())
    }
}

fn len_word(len: usize, has_more: bool) -> u64 {
    len as u64 | if has_more { MORE } else { 0 }
}

/// Ends what is written in place of a [`Packed`]: its length, which is at `start`, and what is beside its bytes.
pub(crate) fn end_in_place(l: &mut Lender<'_>, start: usize, segments: Vec<Segment>, needs: &[u64]) {
    let has_more = !segments.is_empty() || !needs.is_empty();
    let len = l.packer().size() - start - size_of::<u64>();
    l.packer().set_word(start, len_word(len, has_more));
    if has_more {
        l.packer().len(segments.len());
        segments.into_iter().for_each(|segment| hold(segment, l));
        pack_needs(needs, l.packer());
    }
}

fn hold(segment: Segment, l: &mut Lender<'_>) {
    if !is_large(segment.bytes().len()) {
        return segment.pack(l.packer());
    }
    l.packer().bytes(&[segment.align().ilog2() as u8]);
    l.packer().word(segment.bytes().len() as u64 | LENT);
    l.hold(segment);
}

/// What something inside needs, the whole needs.
fn pack_needs(needs: &[u64], p: &mut Packer) {
    p.len(needs.len());
    p.plain(needs);
    needs.iter().for_each(|id| p.need(*id));
}

/// The power of two that it is aligned to, a length in bytes, the bytes.
impl Pup for Segment {
    const MIN_SIZE: usize = 9;

    fn pack(&self, p: &mut Packer) {
        p.bytes(&[self.align().ilog2() as u8]);
        p.len(self.bytes().len());
        p.bytes(self.bytes());
    }

    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        hold(self.clone(), l);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let align = 1usize.checked_shl(u8::unpack(u)?.into()).unwrap_or(0);
        let word = u64::unpack(u)?;
        if word & LENT != 0 {
            return u.segment(word & !LENT);
        }
        let len = usize::try_from(word).map_err(|_| u.fault(Fault::Length { len: word, left: u.left() }))?;
        let bytes = u.bytes(len)?;
        let mut buffer = SegmentBuffer::new(len, align).map_err(|error| u.invalid(error))?;
        buffer.fill(bytes);
        Ok(buffer.finish().expect("all of it was filled"))
    }
}

impl<'a> Unpacker<'a> {
    /// The next segment, which has to be of this length.
    pub(crate) fn segment(&mut self, len: u64) -> Result<Segment, PupError> {
        match self.next_segment() {
            Some(segment) if segment.bytes().len() as u64 == len => Ok(segment),
            Some(segment) => {
                Err(self.fault(Fault::Segment { wanted: len, found: segment.bytes().len() as u64 }))
            }
            None => Err(self.fault(Fault::NoSegment)),
        }
    }

    /// Bytes after their length, or the next segment if the length has the mark.
    pub(crate) fn bytes_or_segment(&mut self, word: u64) -> Result<Bytes, PupError> {
        if word & LENT != 0 {
            return self.segment(word & !LENT).map(Bytes::from_owner);
        }
        let len =
            usize::try_from(word).map_err(|_| self.fault(Fault::Length { len: word, left: self.left() }))?;
        Ok(Bytes::copy_from_slice(self.bytes(len)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SEGMENT_MIN;

    /// What a lender has after two of these, with a need of its own around them.
    fn lent<'a>(each: impl Fn(&mut Lender<'a>)) -> Packed {
        let mut lender = Lender::new(Packer::new(Purpose::Message));
        lender.packer().need(5);
        each(&mut lender);
        each(&mut lender);
        lender.finish().into()
    }

    #[test]
    fn what_is_packed_in_place_is_like_what_was_packed_by_itself() {
        let (small, large) = ((7u8, "text".to_string()), vec![3u32; SEGMENT_MIN / 4]);
        for (of_small, of_large, needs) in
            [(true, false, vec![]), (true, true, vec![]), (false, true, vec![5, 8]), (true, false, vec![9])]
        {
            let write = |l: &mut Lender<'_>| {
                needs.iter().for_each(|id| l.packer().need(*id));
                if of_small {
                    small.pack(l.packer());
                }
            };
            let in_place = lent(|l| {
                l.packed(|l| {
                    write(l);
                    if of_large {
                        large.lend(l);
                    }
                });
            });
            let mut alone = Lender::new(Packer::new(Purpose::Message));
            write(&mut alone);
            if of_large {
                large.lend(&mut alone);
            }
            let alone: Packed = alone.finish().into();
            assert_eq!(in_place, lent(|l| alone.lend(l)), "{of_small} {of_large} {needs:?}");
            let (first, second) = in_place.into_value::<(Packed, Packed)>().expect("there are two");
            assert_eq!((&first, &second), (&alone, &alone));
            assert_eq!(first.needs(), needs);
        }
    }

    #[test]
    fn it_may_be_nested() {
        let inner = vec![1u64; SEGMENT_MIN];
        let mut lender = Lender::new(Packer::new(Purpose::Message));
        lender.packed(|l| {
            1u8.pack(l.packer());
            l.packed(|l| inner.lend(l));
        });
        let outer: Packed = Packed::from(lender.finish()).into_value().expect("it is one");
        let (number, of_inner): (u8, Packed) = outer.into_value().expect("there are both");
        assert_eq!((number, of_inner.into_value()), (1, Ok(inner)));
    }
}
