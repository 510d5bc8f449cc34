//! The memory of [`Pages`](talisman_pup::Pages): slabs of one value each, which a checkpoint keeps in place of a copy.
//!
//! A part whose values are in them names them like the slabs that it has filled itself ([`Room::hold_pages`](super::slabs::Room::hold_pages)),
//! so a buddy of the same host maps them, and for all others they are read where they are.

use std::any::Any;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::free_list::FreeList;
use super::huge_chunk::HugeChunk;
use super::huge_pages::HUGE_PAGE;
use super::shared::SharedMemory;
use super::slab::{LINE, Slab};
use talisman_pup::{PageMemory, PageSource, Segment};

/// Fewer bytes are copied sooner than they are found in memory of their own, by everybody who has to.
const LEAST: usize = 64 << 10;
/// A process may map some 65,000 pieces of memory, and maps each of these, and as many of others for two versions.
const MOST: usize = 8192;

/// The slabs of a process, those that are lent and those that are to be lent again.
pub struct PagePool {
    /// What others can map, if there is such memory.
    memory: Option<Arc<SharedMemory>>,
    all: Mutex<All>,
    places: AtomicUsize,
}

#[derive(Default)]
struct All {
    spare: FreeList,
    lent_bytes: usize,
    /// How many, by their length.
    lent: BTreeMap<usize, usize>,
}

/// A slab that is lent.
struct Lease {
    slab: Arc<Slab>,
    /// Where the values begin in it.
    from: usize,
    pool: Arc<PagePool>,
}

impl PagePool {
    pub fn new(memory: Option<Arc<SharedMemory>>) -> Self {
        PagePool { memory, all: Mutex::default(), places: AtomicUsize::new(0) }
    }

    fn all(&self) -> MutexGuard<'_, All> {
        // Nothing in a critical section panics half way.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Arrays that a program goes through side by side should not begin at the same place of a page each: what is written to one would
    /// look to the processor as if it might be what is read of another, and all would have the same few places in its caches.
    fn next_place(&self) -> usize {
        self.places.fetch_add(5, Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) -> Option<Arc<Slab>> {
        let len = Slab::len_for(bytes)?;
        if let Some(slab) = self.all().lend_spare(len)? {
            return Some(slab);
        }
        let slab = self.piece(len).or_else(|| Slab::of_pages(bytes, self.memory.as_ref()));
        match &slab {
            Some(slab) => slab.zero(),
            None => self.all().ended(len),
        }
        slab
    }

    /// One of several that are in a large page, if as much as that is lent already in slabs of this length. The others are spare.
    fn piece(&self, len: usize) -> Option<Arc<Slab>> {
        let is_much = self.all().lent_of(len) > HUGE_PAGE;
        let memory = self.memory.as_ref().filter(|_| is_much)?;
        let mut pieces = Slab::pieces_of(HugeChunk::new(memory, len)?);
        let first = pieces.next();
        let mut all = self.all();
        pieces.for_each(|piece| all.spare.keep(piece));
        first
    }

    /// Nobody has it any more. As much as is lent is kept for later, as much as the next version takes.
    fn take_back(&self, slab: Arc<Slab>) {
        let mut all = self.all();
        all.ended(slab.len);
        all.spare.keep(slab);
        let too_much = all.too_much();
        drop(all);
        // The system has work to do for each.
        drop(too_much);
    }
}

impl All {
    /// Counts one more as lent, of this length: one that is there, or else one that is to be made. None if there are too many.
    fn lend_spare(&mut self, len: usize) -> Option<Option<Arc<Slab>>> {
        let spare = self.spare.take(len);
        if spare.is_none() && self.lent.values().sum::<usize>() + self.spare.count() >= MOST {
            return None;
        }
        self.lent_bytes += len;
        *self.lent.entry(len).or_default() += 1;
        Some(spare)
    }

    /// So many bytes are lent in slabs of this length.
    fn lent_of(&self, len: usize) -> usize {
        self.lent.get(&len).map_or(0, |lent| lent * len)
    }

    /// The largest, as long as more is spare than is lent, but for as much as is in a large page.
    fn too_much(&mut self) -> Vec<Arc<Slab>> {
        let mut too_much = Vec::new();
        while self.spare.bytes() > self.lent_bytes + HUGE_PAGE {
            let before = too_much.len();
            too_much.extend(self.spare.give_up());
            if too_much.len() == before {
                break;
            }
        }
        too_much
    }

    fn ended(&mut self, len: usize) {
        self.lent_bytes -= len;
        let lent = self.lent.get_mut(&len).expect("it was lent");
        *lent -= 1;
        if *lent == 0 {
            self.lent.remove(&len);
        }
    }
}

impl PageSource for PagePool {
    fn lease(self: Arc<Self>, bytes: usize) -> Option<Box<dyn PageMemory>> {
        if bytes < LEAST {
            return None;
        }
        let slab = self.take(bytes)?;
        slab.begin();
        let from = LINE * (1 + self.next_place() % ((slab.len - bytes) / LINE));
        Some(Box::new(Lease { slab, from, pool: self }))
    }
}

// SAFETY: everything behind the first line of a slab that nobody else has: it is in the pool before and after. The system has initialised it,
// and it begins at a page.
unsafe impl PageMemory for Lease {
    fn at(&self) -> NonNull<u8> {
        // SAFETY: a slab is longer than a line.
        unsafe { self.slab.at.add(self.from) }
    }

    fn len(&self) -> usize {
        self.slab.len - self.from
    }

    /// Buddies that have mapped it may not have heard yet that the version is not needed any more: they see it by the stamp.
    fn renew(&self) {
        self.slab.begin();
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.pool.take_back(self.slab.clone());
    }
}

/// The slab that a segment is in, if it is of this kind.
pub fn slab_of(segment: &Segment) -> Option<Arc<Slab>> {
    let memory: &dyn Any = segment.page_memory()?;
    memory.downcast_ref::<Lease>().map(|lease| lease.slab.clone())
}

#[cfg(test)]
mod tests {
    use super::super::shm_map::Windows;
    use crate::slabs::Room;
    use crate::test_source::TestSource;
    use rustix::param::page_size;

    use super::*;
    use talisman_pup::{Lender, Packed, Packer, Pages, Pup, Purpose, lease_from};

    fn pool() -> Arc<PagePool> {
        Arc::new(PagePool::new(Some(Arc::new(SharedMemory::new().expect("the system has it")))))
    }

    fn spare(pool: &PagePool) -> usize {
        pool.all().spare.bytes()
    }

    #[test]
    fn what_is_given_back_is_lent_again() {
        for pool in [pool(), Arc::new(PagePool::new(None))] {
            let lease = |bytes| pool.clone().lease(bytes).expect("there is memory");
            let (first, second) = (lease(LEAST), lease(LEAST));
            assert!(first.at().as_ptr().addr().is_multiple_of(64));
            assert!(first.len() >= LEAST && second.len() >= LEAST);
            // Where in its first page it begins differs.
            let page = |lease: &dyn PageMemory| lease.at().as_ptr().addr() / page_size();
            let at = page(&*first);
            assert_ne!(page(&*second), at);
            drop(first);
            assert_ne!(page(&*lease(2 * LEAST)), at, "it is too small");
            assert_eq!(page(&*lease(LEAST)), at);
        }
    }

    #[test]
    fn no_more_is_kept_than_is_lent() {
        for pool in [pool(), Arc::new(PagePool::new(None))] {
            let bytes = 2 * HUGE_PAGE;
            let mut all: Vec<_> =
                (0..5).map(|_| pool.clone().lease(bytes).expect("there is memory")).collect();
            let one = Slab::len_for(bytes).expect("it is not long");
            for expected in [1, 2, 2, 1, 0] {
                all.pop();
                assert_eq!(spare(&pool), expected * one);
            }
        }
    }

    #[test]
    fn as_much_as_a_large_page_has_is_kept_in_any_case() {
        let pool = pool();
        let lease = || pool.clone().lease(LEAST).expect("there is memory");
        let all: Vec<_> = (0..10).map(|_| lease()).collect();
        drop(all);
        assert_eq!(spare(&pool), 10 * Slab::len_for(LEAST).expect("it is not long"));
    }

    /// Where the system has large pages, and finds them soon; elsewhere each is by itself.
    #[test]
    fn many_may_be_in_large_pages() {
        let pool = pool();
        let all: Vec<_> = (0..100).map(|_| pool.clone().lease(LEAST).expect("there is memory")).collect();
        let in_one = HUGE_PAGE.div_ceil(Slab::len_for(LEAST).expect("it is not long"));
        assert!(pool.all().spare.count() < in_one, "of the last one");
        let mut places: Vec<_> = all.iter().map(|lease| lease.at().as_ptr().addr() / page_size()).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 100, "each has pages of its own");
        drop(all);
        assert!(pool.all().spare.count() <= 2 * in_one, "{}", pool.all().spare.count());
    }

    #[test]
    fn little_and_too_many_are_not_lent() {
        let pool = pool();
        assert!(pool.clone().lease(LEAST - 1).is_none());
        assert!(pool.lease(usize::MAX).is_none());
        let mut all = All::default();
        (0..MOST).for_each(|_| assert!(matches!(all.lend_spare(LEAST), Some(None))));
        assert!(all.lend_spare(LEAST).is_none());
        all.ended(LEAST);
        assert!(all.lend_spare(LEAST).is_some());
    }

    /// A store with such memory, values in it, their part, and where others find that.
    fn packed() -> (TestSource, Pages<u64>, Packed, Room) {
        let (store, mut room) = (TestSource::default(), Room::default());
        store.share();
        store.lend_pages();
        let _leasing = lease_from(store.pages());
        let values = Pages::filled(7_u64, LEAST);
        let mut lender = Lender::new(Packer::new(Purpose::Migration));
        values.lend(&mut lender);
        let copy = |bytes: &[u8], _| panic!("{} bytes are copied", bytes.len());
        let packed: Packed = lender.finish_in(copy).into();
        room.hold_pages(&packed);
        (store, values, packed, room)
    }

    #[test]
    fn others_map_what_was_not_copied() {
        let (_store, values, packed, room) = packed();
        let shared = room.shared().expect("it can be mapped");
        let mapped = shared.map(std::process::id(), &mut Windows::default()).expect("it is there");
        let at = values.as_ptr().addr() as u64;
        let found = mapped[0].segment(at, values.len() * 8, 8).expect("it is in there");
        assert_ne!(found.bytes().as_ptr(), values.as_ptr().cast(), "not where the owner has it");
        drop((values, room));
        assert_eq!(Packed::new(Default::default(), vec![found], Vec::new()).segments(), packed.segments());
    }

    #[test]
    fn what_is_written_to_when_no_version_needs_it_is_not_what_it_was() {
        let (store, mut values, packed, room) = packed();
        let _leasing = lease_from(store.pages());
        let mapped = room
            .shared()
            .and_then(|shared| shared.map(std::process::id(), &mut Windows::default()).ok())
            .expect("it is there");
        let before = values.as_ptr();
        let clone = values.clone();
        values.to_mut()[0] = 8;
        assert!(values.as_ptr() != before && mapped[0].is_unchanged(), "it is written elsewhere");
        values = clone;
        drop((packed, room));
        assert!(mapped[0].is_unchanged());
        values.to_mut()[0] = 9;
        assert!(values.as_ptr() == before && !mapped[0].is_unchanged());
    }

    fn is_in(values: &Pages<u64>, slab: u64) -> bool {
        let first = values.as_ptr().addr() as u64;
        (slab..slab + Slab::len_for(8 * LEAST).expect("it is not long") as u64).contains(&first)
    }

    #[test]
    fn what_is_lent_again_is_not_what_it_was() {
        let (store, values, packed, room) = packed();
        let mapped = room
            .shared()
            .and_then(|shared| shared.map(std::process::id(), &mut Windows::default()).ok())
            .expect("it is there");
        let _leasing = lease_from(store.pages());
        let other = Pages::filled(1_u64, LEAST);
        let at = mapped[0].begins_at();
        assert!(is_in(&values, at) && !is_in(&other, at));
        drop((values, packed, room));
        assert!(mapped[0].is_unchanged());
        let again = Pages::filled(1_u64, LEAST);
        assert!(is_in(&again, at) && !mapped[0].is_unchanged());
    }
}
