//! The arguments of a message as raw words: in place when they fit, else behind a box.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Words of arguments in an [`Envelope`](super::envelope::Envelope): what is left of its 128 bytes.
pub const WORDS: usize = 8;

/// The arguments of one message, untyped.
pub type Words = [MaybeUninit<u64>; WORDS];

/// Arguments of type `A` in [`Words`].
pub struct ArgsCell<A>(PhantomData<A>);

impl<A> ArgsCell<A> {
    const INLINE: bool = size_of::<A>() <= size_of::<Words>() && align_of::<A>() <= align_of::<u64>();

    /// Bytes of the words that are used.
    pub const SIZE: u8 = if Self::INLINE { size_of::<A>() as u8 } else { size_of::<Box<A>>() as u8 };

    /// Puts arguments into words. What is put has to be taken, or it leaks.
    #[inline(always)]
    pub fn store(args: A) -> Words {
        let mut words = [const { MaybeUninit::uninit() }; WORDS];
        // SAFETY: fresh words.
        unsafe { Self::store_at(words.as_mut_ptr(), args) };
        words
    }

    /// # Safety
    /// `words` points to [`WORDS`] writable words.
    #[inline(always)]
    pub unsafe fn store_at(words: *mut MaybeUninit<u64>, args: A) {
        if Self::INLINE {
            // SAFETY: `INLINE` says that size and alignment fit.
            unsafe { words.cast::<A>().write(args) }
        } else {
            // SAFETY: one pointer fits.
            unsafe { words.cast::<Box<A>>().write(Box::new(args)) }
        }
    }

    /// # Safety
    /// The words hold an `A` put there by [`ArgsCell::store`].
    pub unsafe fn peek(words: &Words) -> &A {
        if Self::INLINE {
            // SAFETY: the caller's promise.
            unsafe { &*words.as_ptr().cast::<A>() }
        } else {
            // SAFETY: the caller's promise.
            unsafe { &*words.as_ptr().cast::<Box<A>>() }
        }
    }

    /// # Safety
    /// The words hold an `A` put there by [`ArgsCell::store`], and are not used again.
    #[inline(always)]
    pub unsafe fn take(words: &mut Words) -> A {
        if Self::INLINE {
            // SAFETY: the caller's promise.
            unsafe { words.as_ptr().cast::<A>().read() }
        } else {
            // SAFETY: the caller's promise.
            *unsafe { words.as_ptr().cast::<Box<A>>().read() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn small_arguments_stay_in_place_and_large_or_aligned_ones_are_boxed() {
        assert_eq!(ArgsCell::<(u32, usize, Vec<f64>)>::SIZE, 40);
        assert_eq!(ArgsCell::<[u64; 8]>::SIZE, 64);
        assert_eq!(ArgsCell::<[u64; 9]>::SIZE, 8);
        assert_eq!(ArgsCell::<(u128,)>::SIZE, 8);
    }

    fn round_trip<A: PartialEq + std::fmt::Debug + Clone>(args: A) {
        let mut words = ArgsCell::store(args.clone());
        // SAFETY: stored just above, as the same type.
        unsafe {
            assert_eq!(ArgsCell::<A>::take(&mut words), args);
        }
    }

    #[test]
    fn what_is_put_is_taken() {
        round_trip(());
        round_trip((1u8, String::from("x")));
        round_trip(([1u64; 9], vec![2.5]));
        round_trip((7u128,));
    }

    #[test]
    fn taken_arguments_are_dropped_once() {
        let witness = Rc::new(());
        let mut words = ArgsCell::store((witness.clone(), [0u64; 9]));
        // SAFETY: stored just above, as the same type.
        drop(unsafe { ArgsCell::<(Rc<()>, [u64; 9])>::take(&mut words) });
        assert_eq!(Rc::strong_count(&witness), 1);
    }
}
