//! Plain values in memory that a checkpoint keeps as it is, in place of a copy.
//!
//! A checkpoint is one pass over the state of every object, and of large arrays it is a copy of memory, twice as much as a program that
//! computes on them moves in a step. [`Pages`] are not copied: who packs them holds on to their memory, and only who writes to them while
//! it is held needs other memory. A program that writes all values anew, as a stencil's does into its second array, takes other memory
//! without a copy ([`Pages::overwrite`]).

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::id::named;
use crate::lender::{LENT, is_large};
use crate::{Fault, Lender, Packer, Plain, PlainProof, Pup, PupError, Segment, Unpacker, bulk};

/// A fixed number of plain values, which are copied when they are written to, if need be, and not when they are packed.
///
/// They read like a slice, and are packed like one: what was a `Vec` in an older checkpoint can be `Pages`. A clone has the same memory
/// until either is written to.
///
/// In a job that takes checkpoints, those of 64 KiB or more have memory that the runtime lends; all others are kept like a vector's.
///
/// ```
/// # extern crate talisman_pup as talisman;
/// use talisman::pup::{Pages, from_bytes, to_bytes};
///
/// let mut cells = Pages::filled(0.5, 1000);
/// let before = cells.clone();
/// cells.to_mut()[7] = 1.0; // copied first, as `before` has them
/// assert_eq!((before[7], cells[7], cells.len()), (0.5, 1.0, 1000));
///
/// let mut next = before;
/// let all: &mut [f64] = next.overwrite(); // of any values: each is written
/// all.copy_from_slice(&cells);
/// assert_eq!(next, cells);
/// assert_eq!(from_bytes::<Vec<f64>>(&to_bytes(&next)).unwrap(), cells.to_vec());
/// ```
pub struct Pages<T> {
    /// A whole number of values, aligned like them, in memory that is its own ([`Segment::of_vec`]) or [`Leased`].
    values: Segment,
    of: PhantomData<T>,
}

/// Memory for [`Pages`], with whoever has it. Its end gives it back.
///
/// # Safety
/// At `at` there are `len` bytes, initialised and aligned to 64, which nobody else reads or writes before its end, but for those whom the
/// implementor lets read while it is held by a [`Segment`].
pub unsafe trait PageMemory: Any + Send + Sync {
    /// Where it begins.
    fn at(&self) -> NonNull<u8>;
    /// Its length in bytes.
    fn len(&self) -> usize;
    /// Whether it has no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// It was packed, what has held it since does not any more, and it is about to be written to.
    fn renew(&self);
}

/// Where [`Pages`] have their memory from.
pub trait PageSource: Send + Sync {
    /// Memory for at least so many bytes, whatever is in it; none if so few are not worth it, or there is none.
    fn lease(self: Arc<Self>, bytes: usize) -> Option<Box<dyn PageMemory>>;
}

thread_local! {
    static SOURCE: RefCell<Option<Arc<dyn PageSource>>> = const { RefCell::new(None) };
}

/// While it lives, [`Pages`] of this thread have their memory from a source.
#[must_use = "at its end, what was before counts again"]
pub struct Leasing(Option<Arc<dyn PageSource>>);

/// From now on, [`Pages`] that are made on this thread have their memory from there, if it has any; without a source, from the allocator.
pub fn lease_from(source: Option<Arc<dyn PageSource>>) -> Leasing {
    Leasing(SOURCE.replace(source))
}

impl Drop for Leasing {
    fn drop(&mut self) {
        SOURCE.set(self.0.take());
    }
}

impl fmt::Debug for Leasing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Leasing")
    }
}

/// Memory that is lent, and what has come of it.
struct Leased {
    memory: Box<dyn PageMemory>,
    /// It has been packed since it was written to.
    was_packed: AtomicBool,
}

impl Segment {
    /// The memory that it is, if that was leased for [`Pages`].
    pub fn page_memory(&self) -> Option<&dyn PageMemory> {
        self.keeper::<Leased>().map(|leased| &*leased.memory)
    }
}

impl<T: Plain> Pages<T> {
    /// So many values, all the same.
    pub fn filled(value: T, len: usize) -> Self {
        match Self::leased(len) {
            Some(mut pages) => {
                pages.own_mut().expect("nobody else has heard of it").fill(value);
                pages
            }
            None => vec![value; len].into(),
        }
    }

    /// Memory that is leased, of any values.
    fn leased(len: usize) -> Option<Self> {
        const { assert!(size_of::<T>() > 0 && align_of::<T>() <= 64, "it has memory, which is aligned to 64") };
        let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| is_large(*bytes))?;
        let memory = SOURCE.with_borrow(Clone::clone)?.lease(bytes)?;
        assert!(memory.len() >= bytes, "as much as was asked for");
        let at = memory.at();
        let leased: Arc<dyn Any + Send + Sync> =
            Arc::new(Leased { memory, was_packed: AtomicBool::new(false) });
        // SAFETY: the memory is there and initialised as long as `Leased` lives. It is only written to by who has the segment alone
        // (`own_mut`), so that for everybody else it stays what it is.
        let values = unsafe { Segment::lent(at, bytes, align_of::<T>(), leased) };
        Some(Pages { values, of: PhantomData })
    }

    /// These bytes, which are a whole number of values.
    fn copied(bytes: &[u8], proof: PlainProof<T>) -> Self {
        let len = bytes.len() / size_of::<T>();
        match Self::leased(len) {
            Some(mut pages) => {
                let own = pages.values.bytes_mut().expect("nobody else has heard of it");
                own.copy_from_slice(bytes);
                pages
            }
            None => bulk::copied(bytes, len, proof).into(),
        }
    }

    /// The values, to be written to: a copy of them, if anybody else has them, a checkpoint or a clone.
    pub fn to_mut(&mut self) -> &mut [T] {
        if self.own_mut().is_none() {
            *self = Self::copied(self.values.bytes(), PlainProof::new());
        }
        self.own_mut().expect("a copy of one's own")
    }

    /// As many values, to be *all* written to: if anybody else has these, they are others, of any value.
    pub fn overwrite(&mut self) -> &mut [T] {
        if self.own_mut().is_none() {
            let len = self.len();
            *self = Self::leased(len).unwrap_or_else(|| Self::zeroed(len));
        }
        self.own_mut().expect("memory of one's own")
    }

    fn zeroed(len: usize) -> Self {
        // SAFETY: any bit pattern is a plain value.
        vec![unsafe { std::mem::zeroed::<T>() }; len].into()
    }

    /// The values, if nobody else has them.
    fn own_mut(&mut self) -> Option<&mut [T]> {
        let len = self.len();
        let at = self.values.bytes_mut()?.as_mut_ptr();
        if let Some(leased) = self.values.keeper::<Leased>()
            && leased.was_packed.swap(false, Ordering::Relaxed)
        {
            leased.memory.renew();
        }
        // SAFETY: `len` values in memory that this one has alone, aligned like them, and any bit pattern is one.
        Some(unsafe { std::slice::from_raw_parts_mut(at.cast(), len) })
    }

    /// Of a segment that came for them: as it is, if it can be written to once nobody else has it.
    fn of_segment(segment: Segment, proof: PlainProof<T>) -> Option<Self> {
        let bytes = segment.bytes();
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            return None;
        }
        let is_aligned = bytes.as_ptr().addr().is_multiple_of(align_of::<T>());
        if segment.keeper::<Leased>().is_some() && is_aligned {
            return Some(Pages { values: segment, of: PhantomData });
        }
        let is_leasable = SOURCE.with_borrow(Option::is_some);
        if is_leasable { Some(Self::copied(bytes, proof)) } else { segment.into_vec(proof).map(Self::from) }
    }
}

impl<T: Plain> From<Vec<T>> for Pages<T> {
    fn from(values: Vec<T>) -> Self {
        Pages { values: Segment::of_vec(values), of: PhantomData }
    }
}

impl<T: Plain> Default for Pages<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> Clone for Pages<T> {
    fn clone(&self) -> Self {
        Pages { values: self.values.clone(), of: PhantomData }
    }
}

impl<T> Deref for Pages<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let bytes = self.values.bytes();
        // SAFETY: a whole number of values, aligned like them, of which any bit pattern is one; nobody writes to them while `self` is
        // borrowed.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) }
    }
}

impl<T: PartialEq> PartialEq for Pages<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

named!("Pages", Pages<T>, [T], T);
/// Like a slice of as many.
impl<T: Plain + Pup> Pup for Pages<T> {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        p.len(self.len());
        T::pack_slice(self, p);
    }

    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        let leased = self.values.keeper::<Leased>().filter(|_| is_large(self.values.bytes().len()));
        let Some(leased) = leased else { return l.slice(self) };
        leased.was_packed.store(true, Ordering::Relaxed);
        l.packer().word(self.len() as u64 | LENT);
        l.hold(self.values.clone());
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let (len, proof) = (u64::unpack(u)?, PlainProof::new());
        if len & LENT != 0 && u.has_segment() {
            let bytes = (len & !LENT).checked_mul(size_of::<T>() as u64);
            let segment = u.segment(bytes.ok_or_else(|| u.fault(Fault::NoSegment))?)?;
            return Self::of_segment(segment, proof).ok_or_else(|| u.fault(Fault::NoSegment));
        }
        let len = usize::try_from(len).map_err(|_| u.fault(Fault::Length { len, left: u.left() }))?;
        u.check_len(len, size_of::<T>())?;
        Ok(Self::copied(u.bytes(len * size_of::<T>())?, proof))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::{Packed, Purpose, SEGMENT_MIN, from_bytes, to_bytes};

    /// Memory that is filled with nonsense when it is given back.
    #[derive(Default)]
    struct Source {
        spare: Arc<Mutex<Vec<Vec<Line>>>>,
        renewed: Arc<Mutex<u32>>,
    }

    #[derive(Clone, Copy)]
    #[repr(align(64))]
    struct Line(#[expect(dead_code, reason = "read as bytes")] [u8; 64]);

    struct Lines {
        lines: Vec<Line>,
        at: NonNull<u8>,
        spare: Arc<Mutex<Vec<Vec<Line>>>>,
        renewed: Arc<Mutex<u32>>,
    }

    // SAFETY: the memory of a vector that is neither moved nor reached by anybody else.
    unsafe impl PageMemory for Lines {
        fn at(&self) -> NonNull<u8> {
            self.at
        }
        fn len(&self) -> usize {
            self.lines.len() * 64
        }
        fn renew(&self) {
            *self.renewed.lock().unwrap() += 1;
        }
    }

    // SAFETY: an address of memory of its own.
    unsafe impl Send for Lines {}
    // SAFETY: as above.
    unsafe impl Sync for Lines {}

    impl Drop for Lines {
        fn drop(&mut self) {
            let mut lines = std::mem::take(&mut self.lines);
            lines.fill(Line([0xa5; 64]));
            self.spare.lock().unwrap().push(lines);
        }
    }

    impl PageSource for Source {
        fn lease(self: Arc<Self>, bytes: usize) -> Option<Box<dyn PageMemory>> {
            let spare = self.spare.lock().unwrap().pop().filter(|lines| lines.len() * 64 >= bytes);
            let mut lines = spare.unwrap_or_else(|| vec![Line([0; 64]); bytes.div_ceil(64)]);
            let at = NonNull::new(lines.as_mut_ptr().cast()).unwrap();
            let (spare, renewed) = (self.spare.clone(), self.renewed.clone());
            Some(Box::new(Lines { lines, at, spare, renewed }))
        }
    }

    const MANY: usize = SEGMENT_MIN / 8;

    fn counted(len: usize) -> Vec<u64> {
        (0..len as u64).collect()
    }

    fn packed(pages: &Pages<u64>) -> Packed {
        let mut lender = Lender::new(Packer::new(Purpose::Migration));
        pages.lend(&mut lender);
        lender.finish().into()
    }

    #[test]
    fn without_a_source_they_are_like_a_vector() {
        let mut pages: Pages<u64> = counted(MANY).into();
        let at = pages.as_ptr();
        pages.to_mut()[3] = 7;
        assert_eq!((pages.as_ptr(), pages[3]), (at, 7), "nobody else has them");
        let part = packed(&pages);
        assert_ne!(part.segments()[0].bytes().as_ptr(), at.cast(), "they are copied");
        assert_eq!(part.into_value::<Pages<u64>>().unwrap(), pages);
        assert_eq!(Pages::<u64>::default().len(), 0);
    }

    #[test]
    fn what_is_packed_stays_what_it_was_without_a_copy() {
        let source = Arc::new(Source::default());
        let _leasing = lease_from(Some(source.clone()));
        for is_overwritten in [false, true] {
            let mut pages = Pages::filled(5, MANY);
            let (at, part) = (pages.as_ptr(), packed(&pages));
            assert_eq!(part.segments()[0].bytes().as_ptr(), at.cast(), "it is not copied");
            assert!(part.segments()[0].page_memory().is_some());
            let own = if is_overwritten { pages.overwrite() } else { pages.to_mut() };
            own.fill(6);
            assert_ne!(pages.as_ptr(), at);
            assert_eq!(part.clone().into_value::<Vec<u64>>().unwrap(), [5; MANY]);
            let renewed = *source.renewed.lock().unwrap();
            let mut back: Pages<u64> = part.into_value().unwrap();
            assert_eq!((back.as_ptr(), &*back), (at, &[5; MANY][..]), "it is what the values have again");
            back.to_mut()[0] = 1;
            assert_eq!(back.as_ptr(), at, "nobody else has them any more");
            assert_eq!(*source.renewed.lock().unwrap(), renewed + 1, "what was packed is written to");
            back.to_mut()[1] = 1;
            assert_eq!(*source.renewed.lock().unwrap(), renewed + 1, "once is enough");
        }
    }

    #[test]
    fn a_part_of_what_is_packed_keeps_it_too() {
        let _leasing = lease_from(Some(Arc::new(Source::default())));
        let mut pages = Pages::filled(5_u64, MANY);
        let part = packed(&pages).segments()[0].part(8..16);
        pages.to_mut()[1] = 6;
        assert_eq!(part.bytes(), 5_u64.to_le_bytes());
        assert!(part.page_memory().is_none());
    }

    #[test]
    fn a_clone_has_other_memory_once_it_is_written_to() {
        let _leasing = lease_from(Some(Arc::new(Source::default())));
        for len in [3, MANY] {
            let first = Pages::filled(5_u64, len);
            let mut second = first.clone();
            assert_eq!(first.as_ptr(), second.as_ptr());
            second.to_mut()[2] = 6;
            assert_eq!((first[2], second[2], second[1]), (5, 6, 5), "of {len}");
            let mut third = second.clone();
            third.overwrite().copy_from_slice(&first);
            assert_eq!((second[2], third), (6, first));
        }
    }

    #[test]
    fn they_are_packed_like_vectors() {
        let leasing = lease_from(Some(Arc::new(Source::default())));
        for len in [0, 1, MANY - 1, MANY, 3 * MANY + 1] {
            let values = counted(len);
            let pages: Pages<u64> = from_bytes(&to_bytes(&values)).unwrap();
            assert_eq!(
                (&*pages, from_bytes::<Vec<u64>>(&to_bytes(&pages))),
                (&values[..], Ok(values.clone()))
            );
            assert_eq!(Packed::of(&pages), Packed::of(&values));
            assert_eq!(Packed::of(&values).into_value::<Pages<u64>>().unwrap(), pages);
            assert_eq!(Packed::of(&pages).into_value::<Vec<u64>>().unwrap(), values);
            assert_eq!(Packed::away(pages.clone()), Packed::of(&values));
        }
        drop(leasing);
        let values = counted(MANY);
        assert_eq!(*Packed::of(&values).into_value::<Pages<u64>>().unwrap(), values);
    }

    #[test]
    fn bytes_that_are_none_are_refused() {
        let error = from_bytes::<Pages<u64>>(&u64::MAX.to_le_bytes()).unwrap_err();
        assert_eq!(error.fault(), &Fault::Length { len: u64::MAX, left: 0 });
        assert!(matches!(
            from_bytes::<Pages<u64>>(&[3, 0, 0, 0, 0, 0, 0, 0, 1]).unwrap_err().fault(),
            Fault::Length { .. }
        ));
        let segment = |len: u64, bytes: usize| {
            let head = (len | LENT).to_le_bytes().to_vec();
            Packed::new(head.into(), vec![vec![0_u8; bytes].into()], Vec::new()).into_value::<Pages<u64>>()
        };
        assert_eq!(segment(2, 16).unwrap().len(), 2);
        assert!(segment(2, 17).is_err() && segment(1 << 61, 16).is_err() && segment(3, 16).is_err());
    }
}
