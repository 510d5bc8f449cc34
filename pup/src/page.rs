//! Pages of memory as plain values: what lies at fixed addresses travels as runs of them.

use std::io;
use std::ptr::NonNull;

use crate::id::named;
use crate::lender::LENT;
use crate::{Fault, Packer, Plain, PlainProof, Pup, PupError, Segment, Unpacker};

/// A page of 4096 bytes, at an address that is a multiple of that.
///
/// A slice of pages is packed like one of any plain values. From 16 KiB on it travels beside the bytes, and arrives in
/// memory that is mapped for it alone; [`PageRun`] puts it to its place without a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(4096))]
pub struct Page(pub [u8; 4096]);

named!("Page", Page);

// SAFETY: bytes without padding, of which all are values; the layout is that of C.
unsafe impl Plain for Page {}

impl Pup for Page {
    const MIN_SIZE: usize = size_of::<Page>();
    const PLAIN: Option<PlainProof<Self>> = Some(PlainProof::new());

    fn pack(&self, p: &mut Packer) {
        p.bytes(&self.0);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(Page(u.fixed()?))
    }
}

/// Pages that have arrived, and are to come to their place: read like a `Vec<Page>`, without memory for one.
///
/// ```
/// # extern crate talisman_pup as talisman;
/// use talisman::pup::{Page, PageRun, Purpose, Unpacker, to_bytes};
///
/// let bytes = to_bytes(&vec![Page([7; 4096]); 2]);
/// let run = PageRun::unpack(&mut Unpacker::new(&bytes, Purpose::Migration)).unwrap();
/// assert_eq!(run.bytes(), [7; 8192]);
/// ```
#[derive(Debug)]
pub enum PageRun<'a> {
    /// Beside the bytes.
    Segment(Segment),
    /// Among them.
    Bytes(&'a [u8]),
}

impl<'a> PageRun<'a> {
    /// Reads what a slice of pages has been written as.
    ///
    /// # Errors
    /// The pages are not there.
    pub fn unpack(u: &mut Unpacker<'a>) -> Result<Self, PupError> {
        let len = u64::unpack(u)?;
        if len & LENT != 0 && u.has_segment() {
            let bytes = (len & !LENT).checked_mul(size_of::<Page>() as u64);
            return u.segment(bytes.ok_or_else(|| u.fault(Fault::NoSegment))?).map(PageRun::Segment);
        }
        let len = usize::try_from(len).map_err(|_| u.fault(Fault::Length { len, left: u.left() }))?;
        u.check_len(len, size_of::<Page>())?;
        u.bytes(len * size_of::<Page>()).map(PageRun::Bytes)
    }

    /// All of their bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            PageRun::Segment(segment) => segment.bytes(),
            PageRun::Bytes(bytes) => bytes,
        }
    }

    /// Puts them to an address, in place of what is there; gives whether pages were moved, and not bytes copied.
    ///
    /// # Safety
    /// As [`Segment::move_to`].
    ///
    /// # Errors
    /// As [`Segment::move_to`].
    pub unsafe fn move_to(self, to: NonNull<u8>) -> io::Result<bool> {
        match self {
            // SAFETY: by the contract.
            PageRun::Segment(segment) => unsafe { segment.move_to(to) },
            PageRun::Bytes(bytes) => {
                // SAFETY: by the contract so many bytes there can be written to, and are nobody else's.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.as_ptr(), bytes.len()) };
                Ok(false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

    use super::*;
    use crate::{Lender, Packed, Purpose, SegmentBuffer, from_bytes, to_bytes};

    const PAGE: usize = size_of::<Page>();

    /// Addresses that pages are put to.
    struct Place {
        at: NonNull<u8>,
        len: usize,
    }

    impl Place {
        fn of_pages(pages: usize) -> Place {
            let len = pages * PAGE;
            let access = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: new memory, wherever there is room.
            let at = unsafe { mmap_anonymous(std::ptr::null_mut(), len, access, MapFlags::PRIVATE) }.unwrap();
            Place { at: NonNull::new(at.cast()).unwrap(), len }
        }

        fn page(&self, number: usize) -> NonNull<u8> {
            assert!(number * PAGE < self.len);
            // SAFETY: within the place.
            unsafe { self.at.add(number * PAGE) }
        }

        fn bytes(&self) -> &[u8] {
            // SAFETY: mapped, and only written to by who has it borrowed for a moment.
            unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            // SAFETY: its own addresses, whatever is mapped there by now.
            unsafe { munmap(self.at.as_ptr().cast(), self.len) }.unwrap();
        }
    }

    fn pages(count: usize) -> Vec<Page> {
        (0..count).map(|number| Page([number as u8 + 1; PAGE])).collect()
    }

    fn bytes_of(pages: &[Page]) -> Vec<u8> {
        pages.iter().flat_map(|page| page.0).collect()
    }

    /// As it arrives from a link.
    fn arrived(pages: &[Page]) -> Segment {
        let mut buffer = SegmentBuffer::new(pages.len() * PAGE, align_of::<Page>()).unwrap();
        buffer.fill(&bytes_of(pages));
        buffer.finish().unwrap()
    }

    #[test]
    fn pages_that_arrive_are_moved_to_their_place() {
        let (sent, place) = (pages(5), Place::of_pages(7));
        let segment = arrived(&sent);
        assert!(segment.bytes().as_ptr().addr().is_multiple_of(PAGE));
        // SAFETY: the place is this test's.
        let moved = unsafe { segment.move_to(place.page(1)) }.unwrap();
        assert!(moved, "nobody else has them");
        assert_eq!(place.bytes()[PAGE..6 * PAGE], bytes_of(&sent));
        assert!(place.bytes()[..PAGE].iter().chain(&place.bytes()[6 * PAGE..]).all(|byte| *byte == 0));
        // SAFETY: as above; what is there now can be written to.
        unsafe { place.page(1).as_ptr().write(99) };
        assert_eq!(place.bytes()[PAGE], 99);
    }

    #[test]
    fn pages_that_somebody_else_has_are_copied() {
        let (sent, place) = (pages(5), Place::of_pages(5));
        let (segment, shared) = {
            let segment = arrived(&sent);
            (segment.clone(), segment)
        };
        // SAFETY: the place is this test's.
        assert!(!unsafe { segment.move_to(place.page(0)) }.unwrap());
        assert_eq!((place.bytes(), shared.bytes()), (&bytes_of(&sent)[..], &bytes_of(&sent)[..]));
        // SAFETY: as above.
        assert!(unsafe { shared.move_to(place.page(0)) }.unwrap(), "it is the last one");
        assert_eq!(place.bytes(), bytes_of(&sent));
    }

    #[test]
    fn what_is_in_other_memory_is_copied() {
        let place = Place::of_pages(4);
        for segment in [Segment::of_vec(pages(4)), Segment::of_vec(vec![1_u8; 4 * PAGE - 1])] {
            let bytes = segment.bytes().to_vec();
            // SAFETY: the place is this test's.
            assert!(!unsafe { segment.move_to(place.page(0)) }.unwrap());
            assert_eq!(place.bytes()[..bytes.len()], bytes);
        }
    }

    #[test]
    fn runs_go_beside_the_bytes_or_among_them() {
        for (count, is_beside) in [(0, false), (3, false), (4, true), (9, true)] {
            let sent = pages(count);
            let mut lender = Lender::new(Packer::new(Purpose::Migration));
            lender.slice(&sent);
            let (packer, segments) = lender.finish();
            assert_eq!(
                segments.iter().map(Segment::align).collect::<Vec<_>>(),
                vec![PAGE; usize::from(is_beside)]
            );
            let (bytes, segments) = Packed::from((packer, segments)).into_parts();
            let mut u = Unpacker::with_segments(&bytes, Purpose::Migration, segments);
            let run = PageRun::unpack(&mut u).unwrap();
            u.finish().unwrap();
            assert_eq!(run.bytes(), bytes_of(&sent));
            let place = Place::of_pages(count.max(1));
            // SAFETY: the place is this test's.
            let moved = unsafe { run.move_to(place.page(0)) }.unwrap();
            assert_eq!((moved, &place.bytes()[..count * PAGE]), (is_beside, &bytes_of(&sent)[..]));
        }
    }

    #[test]
    fn they_are_values_like_others() {
        let sent = pages(5);
        let bytes = to_bytes(&sent);
        assert_eq!(bytes.len(), 8 + 5 * PAGE);
        assert!(from_bytes::<Vec<Page>>(&bytes).unwrap() == sent);
        let run = PageRun::unpack(&mut Unpacker::new(&bytes, Purpose::Migration)).unwrap();
        assert_eq!(run.bytes(), &bytes[8..]);
    }

    #[test]
    fn runs_that_are_not_there_are_errors() {
        let bytes = to_bytes(&pages(2));
        let read = |bytes: &[u8], segments| {
            PageRun::unpack(&mut Unpacker::with_segments(bytes, Purpose::Migration, segments)).map(drop)
        };
        assert!(read(&bytes[..bytes.len() - 1], vec![]).is_err());
        let marked = |len: u64| (len | LENT).to_le_bytes();
        assert!(read(&marked(4), vec![]).is_err());
        assert!(read(&marked(5), vec![arrived(&pages(4))]).is_err());
        assert!(read(&marked(u64::MAX >> 2), vec![arrived(&pages(4))]).is_err());
        assert_eq!(read(&marked(4), vec![arrived(&pages(4))]), Ok(()));
    }
}
