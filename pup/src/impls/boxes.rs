//! Boxes and arrays: nothing but their content.

use crate::{Lender, Named, Packer, PlainProof, Pup, PupError, Unpacker, bulk};

impl<T: Pup> Pup for Box<T> {
    const MIN_SIZE: usize = T::MIN_SIZE;

    #[inline]
    fn pack(&self, p: &mut Packer) {
        match T::PLAIN {
            Some(_) => (**self).pack(p),
            None if T::MIN_SIZE == 0 => p.nested::<T>(|p| p.justified::<T>(|p| (**self).pack(p))),
            None => p.nested::<T>(|p| (**self).pack(p)),
        }
    }
    #[inline]
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        match T::PLAIN {
            Some(_) => (**self).lend(l),
            None if T::MIN_SIZE == 0 => l.nested::<T>(|l| l.justified::<T>(|l| (**self).lend(l))),
            None => l.nested::<T>(|l| (**self).lend(l)),
        }
    }
    #[inline]
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        match T::PLAIN {
            Some(proof) => bulk::read_box(u, proof),
            None => u.nested_for::<T, _>(|u| u.justified::<T, _>(|u| T::unpack(u).map(Box::new))),
        }
    }
}

impl<T: Named, const N: usize> Named for [T; N] {
    const KEY: u64 = crate::join(crate::join(crate::key("array"), T::KEY), N as u64);
    fn name() -> String {
        format!("[{}; {N}]", T::name())
    }
}

impl<T: Pup, const N: usize> Pup for [T; N] {
    const MIN_SIZE: usize = T::MIN_SIZE.saturating_mul(N);
    const PLAIN: Option<PlainProof<Self>> = match T::PLAIN {
        Some(proof) => Some(proof.array()),
        None => None,
    };

    #[inline]
    fn pack(&self, p: &mut Packer) {
        T::pack_slice(self, p);
    }
    #[inline]
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        match T::PLAIN {
            Some(_) => self.pack(l.packer()),
            None => self.iter().for_each(|x| x.lend(l)),
        }
    }
    #[inline]
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        match Self::PLAIN {
            Some(proof) => bulk::read_one(u, proof),
            None => unpack_each(u),
        }
    }
}

/// Element by element. After an error nothing more is read, and the elements there are get dropped.
fn unpack_each<T: Pup, const N: usize>(u: &mut Unpacker<'_>) -> Result<[T; N], PupError> {
    let mut failed = None;
    let values: [Option<T>; N] = std::array::from_fn(|i| {
        if failed.is_some() {
            return None;
        }
        T::unpack(u).map_err(|e| failed = Some(e.index(i))).ok()
    });
    match failed {
        None => Ok(values.map(|x| x.expect("every element was read"))),
        Some(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::from_bytes;

    thread_local! {
        static ALIVE: Cell<i32> = const { Cell::new(0) };
    }

    struct Counted;

    impl Pup for Counted {
        fn pack(&self, p: &mut Packer) {
            0u8.pack(p);
        }
        fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
            u8::unpack(u)?;
            ALIVE.set(ALIVE.get() + 1);
            Ok(Counted)
        }
    }

    impl Drop for Counted {
        fn drop(&mut self) {
            ALIVE.set(ALIVE.get() - 1);
        }
    }

    #[test]
    fn an_array_cut_short_drops_what_it_has() {
        let error = from_bytes::<[Counted; 4]>(&[0; 2]).err().unwrap();
        assert_eq!((error.path().as_str(), ALIVE.get()), ("[2]", 0));
        let array = from_bytes::<[Counted; 4]>(&[0; 4]).ok().unwrap();
        assert_eq!(ALIVE.get(), 4);
        drop(array);
        assert_eq!(ALIVE.get(), 0);
    }
}
