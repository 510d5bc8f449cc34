//! `Option`, `Result`, cells, and types without data.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ops::Bound;

use crate::id::named;
use crate::{Fault, Lender, Packer, Pup, PupError, Unpacker};

named!("Option", Option<T>, [T], T);
impl<T: Pup> Pup for Option<T> {
    const MIN_SIZE: usize = 1;

    #[inline]
    fn pack(&self, p: &mut Packer) {
        self.is_some().pack(p);
        if let Some(x) = self {
            x.pack(p);
        }
    }
    #[inline]
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        self.is_some().pack(l.packer());
        if let Some(x) = self {
            x.lend(l);
        }
    }
    #[inline]
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        match u8::unpack(u)? {
            0 => Ok(None),
            1 => T::unpack(u).map(Some),
            tag => Err(u.fault(Fault::Tag { tag: tag.into(), of: "Option" })),
        }
    }
}

named!("Result", Result<T, E>, [T, E], T E);
impl<T: Pup, E: Pup> Pup for Result<T, E> {
    const MIN_SIZE: usize = 1;

    #[inline]
    fn pack(&self, p: &mut Packer) {
        self.is_err().pack(p);
        match self {
            Ok(x) => x.pack(p),
            Err(e) => e.pack(p),
        }
    }
    #[inline]
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        self.is_err().pack(l.packer());
        match self {
            Ok(x) => x.lend(l),
            Err(e) => e.lend(l),
        }
    }
    #[inline]
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        match u8::unpack(u)? {
            0 => T::unpack(u).map(Ok),
            1 => E::unpack(u).map(Err),
            tag => Err(u.fault(Fault::Tag { tag: tag.into(), of: "Result" })),
        }
    }
}

named!("Bound", Bound<T>, [T], T);
impl<T: Pup> Pup for Bound<T> {
    const MIN_SIZE: usize = 1;

    fn pack(&self, p: &mut Packer) {
        match self {
            Bound::Included(x) => (0u8.pack(p), x.pack(p)).1,
            Bound::Excluded(x) => (1u8.pack(p), x.pack(p)).1,
            Bound::Unbounded => 2u8.pack(p),
        }
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        match u8::unpack(u)? {
            0 => T::unpack(u).map(Bound::Included),
            1 => T::unpack(u).map(Bound::Excluded),
            2 => Ok(Bound::Unbounded),
            tag => Err(u.fault(Fault::Tag { tag: tag.into(), of: "Bound" })),
        }
    }
}

named!("Cell", Cell<T>, [T], T);
impl<T: Pup + Copy> Pup for Cell<T> {
    const MIN_SIZE: usize = T::MIN_SIZE;

    #[inline]
    fn pack(&self, p: &mut Packer) {
        self.get().pack(p);
    }
    #[inline]
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        T::unpack(u).map(Cell::new)
    }
}

named!("RefCell", RefCell<T>, [T], T);
/// Panics, as `RefCell` does, when it is packed while mutably borrowed; no borrow outlives an entry method.
impl<T: Pup> Pup for RefCell<T> {
    const MIN_SIZE: usize = T::MIN_SIZE;

    #[inline]
    fn pack(&self, p: &mut Packer) {
        self.borrow().pack(p);
    }
    #[inline]
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        T::unpack(u).map(RefCell::new)
    }
}

named!("PhantomData", PhantomData<T>, [T: ?Sized], T);
impl<T: ?Sized> Pup for PhantomData<T> {
    fn pack(&self, _: &mut Packer) {}
    fn unpack(_: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(PhantomData)
    }
}
