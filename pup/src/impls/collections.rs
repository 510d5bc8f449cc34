//! Sequences and ordered collections: a length in elements, then the elements.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque};

use crate::id::named;
use crate::{Lender, Named, Packer, Pup, PupError, Unpacker};

/// The bytes of a length.
const LEN: usize = 8;

impl<T: Named> Named for [T] {
    const KEY: u64 = crate::join(crate::key("slice"), T::KEY);
    fn name() -> String {
        format!("[{}]", T::name())
    }
}

named!("Vec", Vec<T>, [T], T);
impl<T: Pup> Pup for Vec<T> {
    const MIN_SIZE: usize = LEN;

    #[inline]
    fn pack(&self, p: &mut Packer) {
        pack_slice(self, p);
    }
    #[inline]
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        l.slice(self);
    }
    #[inline]
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let len = u.len()?;
        T::unpack_vec(len, u)
    }
}

impl<T: Pup> Pup for Box<[T]> {
    const MIN_SIZE: usize = LEN;

    #[inline]
    fn pack(&self, p: &mut Packer) {
        pack_slice(self, p);
    }
    #[inline]
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        l.slice(self);
    }
    #[inline]
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Vec::unpack(u).map(Vec::into_boxed_slice)
    }
}

named!("Cow", Cow<'_, [T]>, [T: Clone], T);
/// Arrives owned.
impl<T: Pup + Clone> Pup for Cow<'_, [T]> {
    const MIN_SIZE: usize = LEN;

    #[inline]
    fn pack(&self, p: &mut Packer) {
        pack_slice(self, p);
    }
    #[inline]
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        l.slice(self);
    }
    #[inline]
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Vec::unpack(u).map(Cow::Owned)
    }
}

named!("VecDeque", VecDeque<T>, [T], T);
impl<T: Pup> Pup for VecDeque<T> {
    const MIN_SIZE: usize = LEN;

    fn pack(&self, p: &mut Packer) {
        let (front, back) = self.as_slices();
        p.len(self.len());
        match T::PLAIN {
            Some(_) => {
                T::pack_slice(front, p);
                T::pack_slice(back, p);
                spend_if_empty::<T>(self.len(), p);
            }
            None => pack_each::<T, T>(self, p),
        }
    }
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        match T::PLAIN {
            Some(_) => self.pack(l.packer()),
            None => lend_each::<T, T>(self.len(), self, l),
        }
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Vec::unpack(u).map(VecDeque::from)
    }
}

named!("BinaryHeap", BinaryHeap<T>, [T], T);
/// In the heap's own order, which arrives unchanged: elements that compare equal keep their places.
impl<T: Pup + Ord> Pup for BinaryHeap<T> {
    const MIN_SIZE: usize = LEN;

    fn pack(&self, p: &mut Packer) {
        pack_slice(self.as_slice(), p);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Vec::unpack(u).map(BinaryHeap::from)
    }
}

named!("LinkedList", LinkedList<T>, [T], T);
impl<T: Pup> Pup for LinkedList<T> {
    const MIN_SIZE: usize = LEN;

    fn pack(&self, p: &mut Packer) {
        p.len(self.len());
        pack_each::<(T, [usize; 2]), T>(self, p);
    }
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        lend_each::<(T, [usize; 2]), T>(self.len(), self, l);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let len = u.len()?;
        let mut list = LinkedList::new();
        u.each::<(T, [usize; 2])>(len, T::MIN_SIZE, |u| {
            list.push_back(T::unpack(u)?);
            Ok(())
        })?;
        Ok(list)
    }
}

named!("BTreeMap", BTreeMap<K, V>, [K, V], K V);
/// In the order of the keys. A key that comes twice is refused.
impl<K: Pup + Ord, V: Pup> Pup for BTreeMap<K, V> {
    const MIN_SIZE: usize = LEN;

    fn pack(&self, p: &mut Packer) {
        p.len(self.len());
        p.nested::<(K, V)>(|p| {
            for (key, value) in self {
                let before = p.size();
                key.pack(p);
                value.pack(p);
                if <(K, V)>::MIN_SIZE == 0 {
                    p.justify::<(K, V)>(before);
                }
            }
        });
    }
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        l.packer().len(self.len());
        l.nested::<(K, V)>(|l| {
            for (key, value) in self {
                let before = l.packer().size();
                key.lend(l);
                value.lend(l);
                if <(K, V)>::MIN_SIZE == 0 {
                    l.packer().justify::<(K, V)>(before);
                }
            }
        });
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let len = u.len()?;
        let mut map = BTreeMap::new();
        u.each::<(K, V)>(len, <(K, V)>::MIN_SIZE, |u| {
            let (key, value) = Pup::unpack(u)?;
            unique(map.insert(key, value).is_none(), u)
        })?;
        Ok(map)
    }
}

named!("BTreeSet", BTreeSet<T>, [T], T);
/// In order. An element that comes twice is refused.
impl<T: Pup + Ord> Pup for BTreeSet<T> {
    const MIN_SIZE: usize = LEN;

    fn pack(&self, p: &mut Packer) {
        p.len(self.len());
        pack_each::<T, T>(self, p);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let len = u.len()?;
        let mut set = BTreeSet::new();
        u.each::<T>(len, T::MIN_SIZE, |u| {
            let x = T::unpack(u)?;
            unique(set.insert(x), u)
        })?;
        Ok(set)
    }
}

#[inline]
fn pack_slice<T: Pup>(slice: &[T], p: &mut Packer) {
    p.len(slice.len());
    match T::PLAIN {
        Some(_) => {
            T::pack_slice(slice, p);
            spend_if_empty::<T>(slice.len(), p);
        }
        None if T::MIN_SIZE == 0 => pack_each::<T, T>(slice, p),
        None => p.nested::<T>(|p| T::pack_slice(slice, p)),
    }
}

/// Plain values that have no bytes take none of a slice.
#[inline]
fn spend_if_empty<T>(len: usize, p: &mut Packer) {
    if size_of::<T>() == 0 {
        p.spend_empty::<T>(len);
    }
}

/// Writes elements one level deeper. `M` is what one of them takes in memory.
#[inline]
fn pack_each<'a, M, T: Pup + 'a>(all: impl IntoIterator<Item = &'a T>, p: &mut Packer) {
    p.nested::<M>(|p| {
        for x in all {
            match T::MIN_SIZE {
                0 => p.justified::<M>(|p| x.pack(p)),
                _ => x.pack(p),
            }
        }
    });
}

/// The same, lent, with their number.
#[inline]
pub(crate) fn lend_each<'a, M, T: Pup + 'a>(
    len: usize,
    all: impl IntoIterator<Item = &'a T>,
    l: &mut Lender<'a>,
) {
    l.packer().len(len);
    l.nested::<M>(|l| {
        for x in all {
            match T::MIN_SIZE {
                0 => l.justified::<M>(|l| x.lend(l)),
                _ => x.lend(l),
            }
        }
    });
}

/// No map or set packs a key twice, so bytes that do are not those of one.
#[inline]
pub(super) fn unique(new: bool, u: &Unpacker<'_>) -> Result<(), PupError> {
    if new { Ok(()) } else { Err(u.invalid("a key that came before")) }
}
