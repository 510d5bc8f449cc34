//! The memory of [`Pages`](crate::pup::Pages): slabs of one value each, which a checkpoint keeps in place of a copy.
//!
//! A part whose values are in them names them like the slabs that it has filled itself ([`Room::hold_pages`](super::slabs::Room::hold_pages)),
//! so a buddy of the same host maps them, and for all others they are read where they are.

use std::any::Any;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::shared::SharedMemory;
use super::slab::{LINE, Slab};
use crate::pup::{PageMemory, PageSource, Segment};

/// Fewer bytes are copied sooner than they are found in memory of their own, by everybody who has to.
const LEAST: usize = 64 << 10;
/// A process may map some 65,000 pieces of memory, and maps each of these, and as many of others for two versions.
const MOST: usize = 8192;

/// The slabs of a process, those that are lent and those that are to be lent again.
pub(super) struct PagePool {
    /// What others can map, if there is such memory.
    memory: Option<Arc<SharedMemory>>,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    /// By their size.
    spare: BTreeMap<usize, Vec<Arc<Slab>>>,
    spare_bytes: usize,
    lent_bytes: usize,
    lent: usize,
}

/// A slab that is lent.
struct Lease {
    slab: Arc<Slab>,
    pool: Arc<PagePool>,
}

impl PagePool {
    pub(super) fn new(memory: Option<Arc<SharedMemory>>) -> Self {
        PagePool { memory, all: Mutex::default() }
    }

    fn all(&self) -> MutexGuard<'_, All> {
        // Nothing in a critical section panics half way.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, bytes: usize) -> Option<Arc<Slab>> {
        let len = Slab::len_for(bytes)?;
        if let Some(slab) = self.all().lend_spare(len)? {
            return Some(slab);
        }
        let slab = Slab::of_pages(bytes, self.memory.as_ref());
        match &slab {
            Some(slab) => slab.page_in(slab.len),
            None => self.all().ended(len),
        }
        slab
    }

    /// Nobody has it any more. As much as is lent is kept for later, as much as the next version takes.
    fn take_back(&self, slab: Arc<Slab>) {
        let mut all = self.all();
        all.ended(slab.len);
        if all.spare_bytes + slab.len <= all.lent_bytes {
            all.spare_bytes += slab.len;
            all.spare.entry(slab.len).or_default().push(slab);
        }
    }
}

impl All {
    /// Counts one more as lent, of this size: one that is there, or else one that is to be made. None if there are too many.
    fn lend_spare(&mut self, len: usize) -> Option<Option<Arc<Slab>>> {
        let spare = self.spare.get_mut(&len).and_then(Vec::pop);
        match &spare {
            Some(_) => self.spare_bytes -= len,
            None if self.lent + self.spare.values().map(Vec::len).sum::<usize>() >= MOST => return None,
            None => {}
        }
        self.lent_bytes += len;
        self.lent += 1;
        Some(spare)
    }

    fn ended(&mut self, len: usize) {
        self.lent_bytes -= len;
        self.lent -= 1;
    }
}

impl PageSource for PagePool {
    fn lease(self: Arc<Self>, bytes: usize) -> Option<Box<dyn PageMemory>> {
        if bytes < LEAST {
            return None;
        }
        let slab = self.take(bytes)?;
        slab.begin();
        Some(Box::new(Lease { slab, pool: self }))
    }
}

// SAFETY: everything behind the first line of a slab that nobody else has: it is in the pool before and after. The system has initialised it,
// and it begins at a page.
unsafe impl PageMemory for Lease {
    fn at(&self) -> NonNull<u8> {
        // SAFETY: a slab is longer than a line.
        unsafe { self.slab.at.add(LINE) }
    }

    fn len(&self) -> usize {
        self.slab.len - LINE
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
pub(super) fn slab_of(segment: &Segment) -> Option<Arc<Slab>> {
    let memory: &dyn Any = segment.page_memory()?;
    memory.downcast_ref::<Lease>().map(|lease| lease.slab.clone())
}
