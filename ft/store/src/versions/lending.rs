//! Parts that other processes read or map where they are, and the memory that they are in.

use std::io;
use std::sync::{Arc, PoisonError};

use talisman_ft::{NodeId, Version};

use super::Store;
use super::kept::Body;
use crate::cma::Lent;
use crate::pages::PagePool;
use crate::readable::Readable;
use crate::shared::SharedMemory;
use crate::shm_map::{Mapping, Shared};
use crate::slab::Slab;
use crate::slabs::{Room, SlabSource};
use talisman_base::ids::PeId;
use talisman_pup::{Packed, PageSource};

impl Store {
    /// From now on parts are where other processes of the host can map them, where the system has such memory.
    pub fn share(&self) {
        // Without it they are read, or sent.
        if let Ok(memory) = SharedMemory::new() {
            let _ = self.memory.set(Arc::new(memory));
        }
    }

    /// From now on values of the program are in memory of this process that parts keep without a copy. After [`Store::share`], if at all.
    pub fn lend_pages(&self) {
        let pool = PagePool::new(self.memory.get().cloned());
        let _ = self.pages.set(Arc::new(pool));
    }

    /// Where a thread of the program has such memory from.
    pub fn pages(&self) -> Option<Arc<dyn PageSource>> {
        Some(self.pages.get()?.clone())
    }

    /// The process is a simulated one.
    pub fn be_readable(&self, readable: Readable) {
        let is_first = self.readable.set(readable).is_ok();
        assert!(is_first, "a process has one memory");
    }

    /// The process ends. If it has been released, others go on from what they have mapped of it.
    pub fn leave(&self) {
        self.memory.get().into_iter().for_each(|memory| memory.leave());
    }

    /// This process is in the place of the one whose that is, as to who may read whose memory.
    pub fn be_as_readable_as(&self, former: &Store) {
        former.readable.get().cloned().into_iter().for_each(|readable| self.be_readable(readable));
    }

    /// Whether a simulated process may read the memory of this one, as far as is known here.
    pub fn lends_to(&self, node: NodeId) -> bool {
        self.readable.get().is_some_and(|readable| readable.lends_to(node))
    }

    /// Another process may read this part of this one, wherever else it is by then, until the version is committed or dropped. Where
    /// it is, if it can be read.
    pub fn lend(&self, version: Version, pe: PeId, part: &Packed) -> Option<Lent> {
        let part = Arc::new(part.clone());
        let lent = match self.readable.get() {
            Some(readable) => readable.lend(&part),
            None => Lent::of(&part, self.shared(version, pe))?,
        };
        self.lock().kept.get_mut(&version)?.lent.push(part);
        Some(lent)
    }

    /// The process is no more.
    pub fn stop_lending(&self) {
        self.lock().kept.values_mut().for_each(|kept| kept.lent.clear());
    }

    /// Reads so many bytes of a buffer that another process lends, from an offset on, to `to`.
    ///
    /// # Safety
    /// As of [`Lent::read`].
    ///
    /// # Errors
    /// It cannot be read, or there is nothing there.
    pub unsafe fn read_lent(
        &self,
        lent: &Lent,
        (buffer, offset): (usize, usize),
        to: *mut [u8],
    ) -> io::Result<()> {
        let Some(readable) = self.readable.get() else {
            // SAFETY: the caller's promise.
            return unsafe { lent.read(buffer, offset, to) };
        };
        let part = readable.find(lent)?;
        let buffers = part.buffers();
        let bytes = buffers.get(buffer).and_then(|buffer| buffer.bytes().get(offset..offset + to.len()));
        let bytes = bytes.ok_or_else(|| io::Error::other("there is no such buffer"))?;
        // SAFETY: as many bytes, in memory that the caller gives, which is nobody else's.
        unsafe { to.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }

    /// The slabs of a part of another process, mapped; none if they cannot be.
    pub fn map(&self, lent: &Lent) -> Vec<Arc<Mapping>> {
        // Nothing in a critical section panics half way.
        lent.mapped(&mut self.windows.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Who has been lost has nothing to map any more, and its pages go with the last version that has any.
    pub fn forget_windows(&self) {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Sees that what was read so far was read from the process that lent it.
    ///
    /// # Errors
    /// It was another one, or that cannot be known any more.
    pub fn check_lent(&self, lent: &Lent) -> io::Result<()> {
        match self.readable.get() {
            Some(readable) => readable.find(lent).map(drop),
            None => lent.check(),
        }
    }

    /// Where others of the host find the slabs of the part of a PE of this process, if they can be mapped.
    pub fn shared(&self, version: Version, pe: PeId) -> Option<Shared> {
        self.lock().kept.get(&version)?.slabs.get(&pe)?.shared()
    }

    /// How many pieces of copies of a version are their owners' memory.
    pub fn mapped(&self, version: Version) -> usize {
        let all = self.lock();
        let of = |body: &Body| match body {
            Body::Copy(copy) => copy.pieces.iter().filter(|(_, sum)| sum.is_none()).count(),
            Body::Own(_) | Body::Written => 0,
        };
        all.kept.get(&version).map_or(0, |kept| kept.parts.values().map(of).sum())
    }

    /// A part that is kept has its large slices in here, which are filled again when its version is not needed any more.
    pub fn keep_slabs(&self, version: Version, pe: PeId, room: Room) {
        if let Some(kept) = self.lock().kept.get_mut(&version) {
            kept.slabs.insert(pe, room);
        }
    }
}

impl SlabSource for Store {
    /// One that a version had which is not needed any more.
    fn spare_slab(&self, len: usize) -> Option<Arc<Slab>> {
        self.lock().spare.slabs.take(len)
    }

    fn new_slab(&self, len: usize) -> Option<Arc<Slab>> {
        Slab::new(len, self.memory.get())
    }
}
