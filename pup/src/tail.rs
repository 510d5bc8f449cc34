//! The last bytes of what is read, where somebody else has them: they are copied once, to where they go.

use std::fmt;
use std::mem::MaybeUninit;

/// Bytes that follow others and may not be looked at where they are, but can be copied from there.
///
/// # Safety
/// [`copy_to`](Tail::copy_to) writes every byte that it is given, if they are as many as [`len`](Tail::len) says, and that stays the same.
#[expect(clippy::len_without_is_empty, reason = "a reader that has none is given none")]
pub unsafe trait Tail {
    /// How many bytes.
    fn len(&self) -> usize;

    /// Copies them all.
    ///
    /// # Panics
    /// If they are not as many.
    fn copy_to(&self, to: &mut [MaybeUninit<u8>]);
}

impl fmt::Debug for dyn Tail + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes elsewhere", self.len())
    }
}

/// All that is left: bytes that are here, and a tail.
pub(crate) struct Ending<'a> {
    pub here: &'a [u8],
    pub tail: &'a dyn Tail,
}

impl Ending<'_> {
    /// Writes every byte of `to`, which is as long.
    pub(crate) fn copy_to(&self, to: &mut [MaybeUninit<u8>]) {
        let (start, end) = to.split_at_mut(self.here.len());
        // SAFETY: both are of one length, and what is borrowed to be written to is no other's.
        unsafe { start.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(self.here.as_ptr(), start.len()) };
        self.tail.copy_to(end);
    }
}

/// The bytes of a tail, in tests.
#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Fault, Pup, PupError, Purpose, Unpacker};

    pub struct Bytes<'a>(pub &'a [u8]);

    // SAFETY: all are copied.
    unsafe impl Tail for Bytes<'_> {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn copy_to(&self, to: &mut [MaybeUninit<u8>]) {
            assert_eq!(to.len(), self.len());
            to.iter_mut().zip(self.0).for_each(|(to, byte)| _ = to.write(*byte));
        }
    }

    /// Reads a value of which these bytes are here and the others a tail.
    fn read<T: Pup>(bytes: &[u8], here: usize) -> Result<T, PupError> {
        let (here, tail) = bytes.split_at(here);
        let tail = Bytes(tail);
        let mut u = Unpacker::with_tail(here, Purpose::Message, &tail);
        let value = T::unpack(&mut u)?;
        u.finish()?;
        Ok(value)
    }

    #[test]
    fn a_slice_that_ends_in_the_tail_is_read_wherever_that_begins() {
        let value = (7_u16, vec![1.5_f64, 2.5, -3.5]);
        let bytes = crate::to_bytes(&value);
        for here in 10..bytes.len() {
            assert_eq!(read(&bytes, here), Ok(value.clone()), "{here} bytes here");
        }
    }

    #[test]
    fn nothing_but_the_last_slice_reaches_into_the_tail() {
        let value = (vec![1_u8; 9], vec![2_u8; 9]);
        let bytes = crate::to_bytes(&value);
        for here in 0..bytes.len() {
            let ends_in_last = here >= 8 + 9 + 8;
            assert_eq!(read::<(Vec<u8>, Vec<u8>)>(&bytes, here).is_ok(), ends_in_last, "{here} bytes here");
        }
        let text = crate::to_bytes(&String::from("text that is checked where it is"));
        assert!(read::<String>(&text, 10).is_err());
    }

    #[test]
    fn lengths_that_are_not_those_of_the_tail_are_refused() {
        let bytes = crate::to_bytes(&vec![1_u32; 8]);
        for len in (0..8).chain([9, u64::MAX, u64::MAX / 4 + 1, 1 << 40]) {
            let wrong = [&len.to_le_bytes(), &bytes[8..]].concat();
            assert!(read::<Vec<u32>>(&wrong, 20).is_err(), "{len}");
        }
    }

    #[test]
    fn values_without_bytes_are_none_of_a_tail() {
        let bytes = (1_u64 << 40).to_le_bytes();
        // More than a reader may make of nothing.
        assert!(
            read::<Vec<[u64; 0]>>(&bytes, 8).is_err() && crate::from_bytes::<Vec<[u64; 0]>>(&bytes).is_err()
        );
    }

    #[test]
    fn a_tail_that_nobody_has_read_is_left() {
        let error = read::<u64>(&[0; 12], 8).unwrap_err();
        assert_eq!(error.fault(), &Fault::Trailing { left: 4 });
    }
}
