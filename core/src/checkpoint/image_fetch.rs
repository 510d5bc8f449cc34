//! Taking the copy of a part that is [`Lent`]: what can be mapped is there at once, the rest is read a little at a time, between entries.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crc32fast::Hasher;
use easy_ext::ext;

use super::Checkpoints;
use super::message::Checkpoint;
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::durability::DurabilityOnPe;
use talisman_base::ids::PeId;
use talisman_ft::Version;
use talisman_kernel::pe::Pe;
use talisman_observe::sometimes::sometimes;
use talisman_pup::{Segment, SegmentBuffer};
use talisman_store::cma::Lent;
use talisman_store::pieces::Manifest;
use talisman_store::shm_map::Mapping;
use talisman_store::slabs::Room;
use talisman_store::versions::{Copy, Store};

/// Bytes taken at once: they are in the core's cache still when their checksum is computed, and take some tens of microseconds, so
/// that messages of others do not wait for long.
const AT_ONCE: usize = 256 << 10;
/// For each second of entries, copies are taken for so many: who is lost before the version is committed costs all that was done
/// since the one before, and the work is the same whenever it is done.
const SHARE: u32 = 9;

/// Parts that this PE takes, one after the other.
#[derive(Default)]
pub struct Takings {
    pub(super) all: RefCell<VecDeque<Taking>>,
    /// For how long entries have run since the first of them began, and copies were taken.
    ran: Cell<Duration>,
    took: Cell<Duration>,
    /// What all copies since the start have taken.
    spent: Cell<Duration>,
}

/// A part on its way.
pub struct Taking {
    version: Version,
    from: PeId,
    manifest: Manifest,
    pub(super) lent: Lent,
    /// Buffers that are done with.
    done: usize,
    /// Those of them that have any bytes, each with its checksum if it was read.
    whole: Vec<(Vec<Segment>, Option<u32>)>,
    /// The slabs of the part, if they can be mapped; `None` before that is known.
    mapped: Option<Vec<Arc<Mapping>>>,
    /// The one that is not whole.
    current: Option<(SegmentBuffer, Hasher)>,
    room: Room,
}

#[ext(ImageFetchOnPe)]
pub impl Pe {
    /// The copy of a part is to be taken where it is.
    fn begin_taking(
        &self,
        checkpoints: &Checkpoints,
        (version, from): (Version, PeId),
        manifest: Manifest,
        lent: Lent,
    ) {
        let takings = &checkpoints.copies.takings;
        let (whole, room) = (Vec::new(), Room::default());
        let taking =
            Taking { version, from, manifest, lent, done: 0, whole, mapped: None, current: None, room };
        if takings.all.borrow().is_empty() {
            takings.ran.set(Duration::ZERO);
            takings.took.set(Duration::ZERO);
        }
        takings.all.borrow_mut().push_back(taking);
    }

    /// Whether there are copies to be taken.
    #[inline]
    fn is_taking_copies(&self) -> bool {
        self.checkpoints().is_some_and(|checkpoints| !checkpoints.copies.takings.is_empty())
    }

    /// Whether copies have had their share of this PE's time, so that entries run.
    fn may_run_beside_copies(&self) -> bool {
        let Some(checkpoints) = self.checkpoints() else { return true };
        let takings = &checkpoints.copies.takings;
        takings.took.get() >= takings.ran.get() * SHARE
    }

    /// Takes the next bytes of a copy; entries have run since `since`.
    fn take_copies(&self, since: Duration) {
        let Some(checkpoints) = self.checkpoints() else { return };
        let takings = &checkpoints.copies.takings;
        let start = self.clock.now();
        takings.ran.update(|ran| ran + start.saturating_sub(since));
        let Some(mut taking) = takings.all.borrow_mut().pop_front() else { return };
        match taking.go_on(&self.node.store) {
            Ok(false) => takings.all.borrow_mut().push_front(taking),
            Ok(true) => self.has_taken_copy(checkpoints, taking),
            Err(_) => {
                sometimes("a part of a checkpoint could not be read where it was");
                // Who has been lost meanwhile does not mind; everybody else sends it.
                let version = taking.version;
                self.tell(taking.from, Checkpoint::Bring { version });
            }
        }
        let took = self.clock.now().saturating_sub(start);
        takings.took.update(|before| before + took);
        takings.spent.update(|before| before + took);
    }

    fn has_taken_copy(&self, checkpoints: &Checkpoints, taking: Taking) {
        sometimes("a part of a checkpoint was read where it was");
        let Taking { version, from, manifest, whole: pieces, mapped, room, .. } = taking;
        let copy = Copy { manifest, pieces, mapped: mapped.unwrap_or_default() };
        self.node.store.put_copy(version, self.view(), from, copy);
        self.node.store.keep_slabs(version, from, room);
        self.keep_for_good(checkpoints, version, from);
    }
}

impl Takings {
    /// What copies have taken of this PE's time since the start.
    pub(super) fn spent(&self) -> Duration {
        self.spent.get()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.borrow().is_empty()
    }
}

impl Taking {
    /// Takes the next bytes, into memory that there is if there is any; whether that was all.
    fn go_on(&mut self, store: &Store) -> io::Result<bool> {
        let mut most = AT_ONCE;
        while let Some((len, align)) = self.manifest.buffers.get(self.done).copied() {
            if let Some(segment) = self.mapped(store, len, align) {
                self.whole.push((vec![segment], None));
                self.done += 1;
                continue;
            }
            let (mut buffer, mut sum) = match self.current.take() {
                Some(current) => current,
                None => (memory(&mut self.room, store, len, align)?, Hasher::new()),
            };
            most -= take_into(&mut buffer, &mut sum, store, (&self.lent, self.done), most)?;
            if buffer.left() > 0 {
                self.current = Some((buffer, sum));
                return Ok(false);
            }
            self.done += 1;
            if len > 0 {
                self.whole.extend(buffer.finish().map(|segment| (vec![segment], Some(sum.finalize()))));
            }
        }
        store.check_lent(&self.lent)?;
        match self.mapped.iter().flatten().all(|slab| slab.is_unchanged()) {
            true => Ok(true),
            false => Err(io::Error::other("its owner has given it up")),
        }
    }

    /// The next buffer, if it is in a slab that is mapped.
    fn mapped(&mut self, store: &Store, len: u64, align: u32) -> Option<Segment> {
        let mapped = self.mapped.get_or_insert_with(|| store.map(&self.lent));
        let (len, at) = (usize::try_from(len).ok().filter(|len| *len > 0)?, self.lent.at(self.done)?);
        // They are in the order of their addresses.
        let next = mapped.partition_point(|slab| slab.begins_at() <= at);
        mapped.get(next.checked_sub(1)?)?.segment(at, len, align as usize)
    }
}

fn memory(room: &mut Room, store: &Store, len: u64, align: u32) -> io::Result<SegmentBuffer> {
    let (len, align) = (usize::try_from(len).map_err(io::Error::other)?, align as usize);
    match room.buffer(store, len, align) {
        Some(buffer) => Ok(buffer),
        None => SegmentBuffer::new(len, align).map_err(io::Error::other),
    }
}

/// The next bytes of a buffer, at most so many; how many those were.
fn take_into(
    buffer: &mut SegmentBuffer,
    sum: &mut Hasher,
    store: &Store,
    (lent, number): (&Lent, usize),
    most: usize,
) -> io::Result<usize> {
    let before = buffer.filled().len();
    let n = buffer.left().min(most);
    let to = std::ptr::slice_from_raw_parts_mut(buffer.spare().cast::<u8>(), n);
    // SAFETY: memory of the buffer that nobody else has, for `n` bytes, which are all written if there is no error.
    unsafe {
        store.read_lent(lent, (number, before), to)?;
        buffer.advance(n);
    }
    sum.update(&buffer.filled()[before..]);
    Ok(n)
}
