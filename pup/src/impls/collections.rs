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
        T::pack_slice(front, p);
        T::pack_slice(back, p);
    }
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        match T::PLAIN {
            Some(_) => self.pack(l.packer()),
            None => lend_each(self.len(), self, l),
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
        self.iter().for_each(|x| x.pack(p));
    }
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        lend_each(self.len(), self, l);
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
        for (key, value) in self {
            key.pack(p);
            value.pack(p);
        }
    }
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        l.packer().len(self.len());
        for (key, value) in self {
            key.lend(l);
            value.lend(l);
        }
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
        self.iter().for_each(|x| x.pack(p));
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
    T::pack_slice(slice, p);
}

fn lend_each<'a, T: Pup + 'a>(len: usize, all: impl IntoIterator<Item = &'a T>, l: &mut Lender<'a>) {
    l.packer().len(len);
    all.into_iter().for_each(|x| x.lend(l));
}

/// No map or set packs a key twice, so bytes that do are not those of one.
#[inline]
pub(super) fn unique(new: bool, u: &Unpacker<'_>) -> Result<(), PupError> {
    if new { Ok(()) } else { Err(u.invalid("a key that came before")) }
}
