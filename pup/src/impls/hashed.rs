//! Hash maps and sets. Their order of iteration differs from run to run, so entries are packed in the order of their
//! packed bytes: equal maps give equal bytes, as replay and the comparison of checkpoints need.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash};
use std::ops::Range;

use super::collections::unique;
use crate::{Named, Packer, Pup, PupError, Unpacker};

impl<K: Named, V: Named, S> Named for HashMap<K, V, S> {
    const KEY: u64 = crate::join(crate::join(crate::key("HashMap"), K::KEY), V::KEY);
    fn name() -> String {
        format!("HashMap<{}, {}>", K::name(), V::name())
    }
}

/// Any hasher with a default; the hasher itself does not travel. The order of *iteration* after arrival is the hasher's
/// business: use a `BTreeMap`, or a hasher with a fixed seed, where it matters.
impl<K: Pup + Eq + Hash, V: Pup, S: BuildHasher + Default> Pup for HashMap<K, V, S> {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        p.len(self.len());
        pack_sorted::<(K, V), _>(self.iter(), <(K, V)>::MIN_SIZE, p, |(key, value), p| {
            key.pack(p);
            value.pack(p);
        });
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let len = u.len()?;
        u.check_len(len, <(K, V)>::MIN_SIZE)?;
        let mut map = HashMap::with_capacity_and_hasher(u.room::<(K, V)>(len), S::default());
        u.each::<(K, V)>(len, <(K, V)>::MIN_SIZE, |u| {
            let (key, value) = Pup::unpack(u)?;
            unique(map.insert(key, value).is_none(), u)
        })?;
        Ok(map)
    }
}

impl<T: Named, S> Named for HashSet<T, S> {
    const KEY: u64 = crate::join(crate::key("HashSet"), T::KEY);
    fn name() -> String {
        format!("HashSet<{}>", T::name())
    }
}

/// As for `HashMap`.
impl<T: Pup + Eq + Hash, S: BuildHasher + Default> Pup for HashSet<T, S> {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        p.len(self.len());
        pack_sorted::<T, _>(self.iter(), T::MIN_SIZE, p, |x, p| x.pack(p));
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let len = u.len()?;
        u.check_len(len, T::MIN_SIZE)?;
        let mut set = HashSet::with_capacity_and_hasher(u.room::<T>(len), S::default());
        u.each::<T>(len, T::MIN_SIZE, |u| {
            let x = T::unpack(u)?;
            unique(set.insert(x), u)
        })?;
        Ok(set)
    }
}

/// `T` is what an entry takes in memory, and `min` the fewest bytes it takes here.
fn pack_sorted<T, I: Iterator>(entries: I, min: usize, p: &mut Packer, pack: impl Fn(I::Item, &mut Packer)) {
    let pack = |entry, p: &mut Packer| match min {
        0 => p.justified::<T>(|p| pack(entry, p)),
        _ => pack(entry, p),
    };
    p.nested::<T>(|p| {
        if p.is_sizing() {
            return entries.for_each(|entry| pack(entry, p));
        }
        let (bytes, mut ranges) = packed_apart(entries, p, pack);
        ranges.sort_unstable_by(|a, b| bytes[a.clone()].cmp(&bytes[b.clone()]));
        ranges.into_iter().for_each(|range| p.bytes(&bytes[range]));
    });
}

/// All entries in one buffer of their own, and where each of them is.
fn packed_apart<I: Iterator>(
    entries: I,
    p: &mut Packer,
    pack: impl Fn(I::Item, &mut Packer),
) -> (Vec<u8>, Vec<Range<usize>>) {
    let mut apart = p.apart();
    let ranges = entries
        .map(|entry| {
            let start = apart.size();
            pack(entry, &mut apart);
            start..apart.size()
        })
        .collect();
    (p.add(apart), ranges)
}
