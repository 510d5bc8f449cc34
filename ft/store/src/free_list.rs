//! Slabs of [`Pages`](talisman_pup::Pages) that nobody has, to be lent again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::slab::Slab;

/// By how long they are, and then by the memory that they are in: they are given back together with all that are in the same.
#[derive(Default)]
pub struct FreeList {
    all: BTreeMap<(usize, usize), Vec<Arc<Slab>>>,
    /// Memory that nothing is lent of.
    whole: BTreeSet<(usize, usize)>,
    count: usize,
    bytes: usize,
}

impl FreeList {
    pub fn count(&self) -> usize {
        self.count
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn keep(&mut self, slab: Arc<Slab>) {
        let (group, of) = slab.beside();
        let key = (slab.len, group);
        (self.count, self.bytes) = (self.count + 1, self.bytes + slab.len);
        let all = self.all.entry(key).or_default();
        all.push(slab);
        if all.len() == of {
            self.whole.insert(key);
        }
    }

    /// One of just this length.
    pub fn take(&mut self, len: usize) -> Option<Arc<Slab>> {
        let (&key, all) = self.all.range_mut((len, 0)..=(len, usize::MAX)).next()?;
        let slab = all.pop()?;
        if all.is_empty() {
            self.all.remove(&key);
        }
        self.whole.remove(&key);
        (self.count, self.bytes) = (self.count - 1, self.bytes - len);
        Some(slab)
    }

    /// Those of the longest that nothing beside them is lent of, and all that is beside them. None are left if there are none.
    pub fn give_up(&mut self) -> Vec<Arc<Slab>> {
        let all = self.whole.pop_last().and_then(|key| self.all.remove(&key)).unwrap_or_default();
        self.count -= all.len();
        self.bytes -= all.iter().map(|slab| slab.len).sum::<usize>();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::huge_chunk::HugeChunk;
    use super::super::shared::SharedMemory;
    use super::*;

    const LEN: usize = 512 << 10;

    /// Four that are beside each other.
    fn beside(memory: &Arc<SharedMemory>) -> Vec<Arc<Slab>> {
        let chunk = HugeChunk::map(memory, LEN).expect("there is memory");
        Slab::pieces_of(Arc::new(chunk)).collect()
    }

    fn alone(len: usize) -> Arc<Slab> {
        Slab::of_pages(len - 64, None).expect("there is memory")
    }

    #[test]
    fn what_is_beside_each_other_is_given_up_at_once() {
        let memory = Arc::new(SharedMemory::new().expect("the system has it"));
        let mut spares = FreeList::default();
        let (first, second) = (beside(&memory), beside(&memory));
        assert_eq!((first.len(), second.len()), (4, 4));
        let lent = first[0].clone();
        first.into_iter().skip(1).chain(second).for_each(|slab| spares.keep(slab));
        spares.keep(alone(64 << 10));
        assert_eq!((spares.count(), spares.bytes()), (8, 7 * LEN + (64 << 10)));
        assert_eq!(spares.give_up().len(), 4, "of the other, something is lent");
        assert_eq!(spares.give_up().len(), 1, "that is shorter");
        assert!(spares.give_up().is_empty());
        spares.keep(lent);
        assert_eq!(spares.give_up().len(), 4);
        assert_eq!((spares.count(), spares.bytes()), (0, 0));
    }

    #[test]
    fn what_was_taken_is_not_given_up() {
        let memory = Arc::new(SharedMemory::new().expect("the system has it"));
        let mut spares = FreeList::default();
        beside(&memory).into_iter().for_each(|slab| spares.keep(slab));
        let lent = spares.take(LEN).expect("there are four");
        assert!(spares.take(LEN - 4096).is_none() && spares.give_up().is_empty());
        spares.keep(lent);
        (0..4).for_each(|_| assert!(spares.take(LEN).is_some()));
        assert!(spares.take(LEN).is_none() && spares.give_up().is_empty());
    }
}
