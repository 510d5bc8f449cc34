//! A packer for one value after the other, which keeps its memory: for what goes away at once, and beside which nothing goes.

use std::mem::transmute;

use crate::{Lender, Packer, Purpose};

/// More than this is not kept for the next value.
const KEPT_MAX: usize = 64 << 10;

/// Packs values that stay where they are, each behind bytes of the caller's, in the place of the one before it.
#[derive(Debug)]
pub struct ScratchPacker {
    // Nothing is noted in it but while a value is packed.
    lender: Lender<'static>,
}

/// A value is being packed. Nothing that was noted of it stays, nor memory that somebody keeps.
struct Noting<'p>(&'p mut Lender<'static>);

impl Drop for Noting<'_> {
    fn drop(&mut self) {
        self.0.forget_noted();
    }
}

impl ScratchPacker {
    /// A packer that has packed nothing yet.
    pub fn new(purpose: Purpose) -> ScratchPacker {
        ScratchPacker { lender: Lender::new(Packer::new(purpose)) }
    }

    /// Packs a value as `lend` does behind these bytes. All of that; none if its reader needs more than these bytes, or could not read
    /// them, or if a part of the value is large: nothing is copied of that.
    #[inline]
    pub fn pack<'a>(&mut self, start: &[u8], lend: impl FnOnce(&mut Lender<'a>)) -> Option<&[u8]> {
        self.pack_parts(start, false, lend).map(|(all, _)| all)
    }

    /// The same in two parts. The second is the slice with which the value ends, where it is, if that `is_apart` and the slice is worth it.
    #[inline]
    pub fn pack_parts<'a>(
        &mut self,
        start: &[u8],
        is_apart: bool,
        lend: impl FnOnce(&mut Lender<'a>),
    ) -> Option<(&[u8], &'a [u8])> {
        self.lender.begin(start);
        if is_apart {
            self.lender.await_end();
        }
        let noting = Noting(&mut self.lender);
        // To move a packer into a lender and back would cost a sixth of a short call between processes.
        // SAFETY: what the lender notes of the value is read in here alone and forgotten when this returns, also if `lend` panics; but for
        // its end, which is given out for no longer than `'a`.
        lend(unsafe { transmute::<&mut Lender<'static>, &mut Lender<'a>>(&mut *noting.0) });
        let end: &'a [u8] = noting.0.take_end();
        let is_alone = !noting.0.has_noted();
        drop(noting);
        self.lender.packer().written_alone().filter(|_| is_alone).map(|start| (start, end))
    }

    /// Gives away what was packed last, with its memory.
    pub fn take(&mut self) -> Vec<u8> {
        self.lender.take_written()
    }

    /// Uses memory again that was taken, unless it is much.
    #[inline]
    pub fn give_back(&mut self, memory: Vec<u8>) {
        if (self.lender.packer().capacity() + 1..=KEPT_MAX).contains(&memory.capacity()) {
            self.lender.give_written(memory);
        }
    }

    /// Gives back memory of which there is much.
    #[inline]
    pub fn tidy(&mut self) {
        if self.lender.packer().capacity() > KEPT_MAX {
            drop(self.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::ptr::NonNull;
    use std::sync::Arc;

    use super::*;
    use crate::{Fault, Pup, PupError, SEGMENT_MIN, Segment};

    fn written<T: Pup>(packer: &mut ScratchPacker, value: &T) -> Option<Vec<u8>> {
        packer.pack(b"start", |l| value.lend(l)).map(<[u8]>::to_vec)
    }

    #[test]
    fn values_are_written_as_by_themselves_one_after_the_other() {
        let mut packer = ScratchPacker::new(Purpose::Message);
        let short = vec![1.5_f64; 7];
        for value in [(1_u32, String::from("one"), Some(&short)), (7, String::new(), None)] {
            let value = (value.0, value.1, value.2.cloned());
            let expected = [&b"start"[..], &crate::to_bytes(&value)].concat();
            assert_eq!(written(&mut packer, &value), Some(expected));
        }
        assert_eq!(written(&mut packer, &()), Some(b"start".to_vec()));
    }

    #[test]
    fn memory_that_is_given_back_is_used_again_unless_it_is_much() {
        let mut packer = ScratchPacker::new(Purpose::Message);
        let start = written(&mut packer, &7_u32);
        let taken = packer.take();
        let place = taken.as_ptr();
        packer.give_back(taken);
        assert_eq!(written(&mut packer, &7_u32), start);
        let again = packer.take();
        assert_eq!(again.as_ptr(), place);
        packer.give_back(Vec::with_capacity(KEPT_MAX + 1));
        assert_eq!(packer.lender.packer().capacity(), 0);
        packer.give_back(Vec::with_capacity(1000));
        packer.give_back(again);
        assert_eq!(packer.lender.packer().capacity(), 1000, "the larger one is kept");
    }

    #[test]
    fn what_takes_more_than_its_bytes_is_not_given_and_leaves_nothing_behind() {
        let mut packer = ScratchPacker::new(Purpose::Message);
        assert_eq!(written(&mut packer, &vec![1_u8; SEGMENT_MIN]), None, "a slice is only noted");
        let kept = Arc::new(vec![1_u8; SEGMENT_MIN]);
        let keeper: Arc<dyn Any + Send + Sync> = kept.clone();
        let (at, len) = (NonNull::from(&kept[..]).cast(), kept.len());
        // SAFETY: the vector stays as it is, and is kept.
        let held = unsafe { Segment::lent(at, len, 1, keeper) };
        assert_eq!(packer.pack(b"", |l| l.hold(held)), None, "memory that somebody keeps");
        assert_eq!(Arc::strong_count(&kept), 1, "it is not kept any longer");
        assert_eq!(written(&mut packer, &1_u8), Some(b"start\x01".to_vec()));
        let held = Segment::of_vec(vec![1_u8]);
        let panicking = AssertUnwindSafe(|| {
            packer.pack(b"", |l| {
                l.hold(held);
                resume_unwind(Box::new(()));
            });
        });
        assert!(catch_unwind(panicking).is_err() && !packer.lender.has_noted(), "nor if its packing panics");
        assert_eq!(packer.pack(b"", |l| l.packer().need(7)), None, "its reader has to know something");
        let why = PupError::new(0, Fault::Depth);
        assert_eq!(packer.pack(b"", |l| l.packer().refuse(why)), None, "it cannot be read");
        assert_eq!(written(&mut packer, &2_u8), Some(b"start\x02".to_vec()));
    }

    /// Values with slices of every length around that from which on they are kept apart, and with something behind them, or nothing.
    #[test]
    fn both_parts_are_what_one_is() {
        let mut packer = ScratchPacker::new(Purpose::Message);
        for len in [0, 1, 31, 32, 33, 1000] {
            let (longs, bytes) = (vec![7_u64; len], vec![9_u8; 8 * len]);
            let values = (longs.clone(), 5_u8, bytes.clone(), String::from("end"));
            check(&mut packer, &values, 0);
            check(&mut packer, &(1_u8, bytes.clone()), 8 * len);
            check(&mut packer, &(bytes.clone(), longs.clone(), vec![1_u8; 3]), 0);
            check(&mut packer, &vec![bytes.clone(), bytes.clone(), bytes], 8 * len);
            check(&mut packer, &Some((1.5_f32, longs)), 8 * len);
        }
    }

    #[test]
    fn an_end_whose_packing_panics_is_forgotten() {
        let mut packer = ScratchPacker::new(Purpose::Message);
        let bytes = vec![9_u8; 1000];
        let panicking = AssertUnwindSafe(|| {
            packer.pack_parts(b"", true, |l| {
                l.bytes(&bytes);
                resume_unwind(Box::new(()));
            });
        });
        assert!(catch_unwind(panicking).is_err());
        drop(bytes);
        let (start, end) = packer.pack_parts(b"start", false, |l| l.packer().bytes(&[7; 300])).unwrap();
        assert_eq!((start, end), (&[&b"start"[..], &[7; 300]].concat()[..], &[][..]));
    }

    #[track_caller]
    fn check<T: Pup>(packer: &mut ScratchPacker, value: &T, end: usize) {
        let all = written(packer, value).unwrap();
        let (start, apart) = packer.pack_parts(b"start", true, |l| value.lend(l)).unwrap();
        assert_eq!([start, apart].concat(), all);
        assert_eq!(apart.len(), if end < 256 { 0 } else { end });
        // Nothing of that is left for the next.
        assert_eq!(written(packer, value), Some(all));
    }

    #[test]
    fn little_memory_is_kept_and_much_is_given_back() {
        let mut packer = ScratchPacker::new(Purpose::Message);
        let long = vec![vec![1_u8; 100]; 2 * KEPT_MAX / 100];
        assert_eq!(
            written(&mut packer, &long).map(|bytes| bytes.len()),
            Some(5 + crate::to_bytes(&long).len())
        );
        packer.tidy();
        assert_eq!(packer.lender.packer().capacity(), 0);
        _ = written(&mut packer, &7_u64);
        packer.tidy();
        assert!(packer.lender.packer().capacity() > 0);
        assert_eq!(packer.take().len(), 5 + 8);
    }
}
