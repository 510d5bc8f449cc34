//! The slabs of a part, mapped by the process that keeps the other copy of it: see [`SharedMemory`](super::shared::SharedMemory).
//!
//! They are the owner's own pages. What is lost with a process, and what is not, is the same as with a copy: the pages stay when the owner
//! ends, however it ends, and a machine that fails takes both with it in either case. The owner does not write to them again before
//! the version is not needed any more. (To have them read-only for the owner too would take a fifth of the time of a checkpoint, and its own
//! copy, from which it goes on when another is lost, has never been guarded like that.)
//!
//! Should it go on sooner than a buddy has heard of that, the buddy can tell: each slab begins with a *stamp*, a number that no other filling of
//! it has, written before anything else is.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use rustix::fs::{Mode, OFlags, SealFlags, fcntl_get_seals, fstat, open};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use talisman_pup::{Pup, Segment};

/// Where the slabs of a part are, for others of the host.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Shared {
    /// The owner's descriptor of the memory that they are pages of.
    pub descriptor: u32,
    pub slabs: Vec<SharedSlab>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct SharedSlab {
    /// Where the owner has mapped it.
    pub at: u64,
    pub len: u64,
    /// Where it is in that memory.
    pub from: u64,
    pub stamp: u64,
}

impl Shared {
    /// Maps them, but those that are among these windows of the same process already, where the others are from now on. They come in the
    /// order of their addresses.
    ///
    /// # Errors
    /// The process is not to be found, may not be looked into, or has nothing of that kind.
    pub fn map(&self, process: u32, windows: &mut Windows) -> io::Result<Vec<Arc<Mapping>>> {
        let mut slabs: Vec<_> = self.slabs.iter().collect();
        slabs.sort_by_key(|slab| slab.at);
        let mut file = None;
        let mapping = |slab: &SharedSlab| {
            let window = windows.find(slab, || {
                let (file, size) = match &file {
                    Some(file) => file,
                    None => file.insert(self.open(process)?),
                };
                Window::new((file, *size), slab)
            })?;
            Ok(Arc::new(Mapping { window, of: slab.clone() }))
        };
        let mapped = slabs.into_iter().map(mapping).collect();
        windows.age();
        mapped
    }

    /// The memory, and how long it is.
    fn open(&self, process: u32) -> io::Result<(OwnedFd, u64)> {
        let path = format!("/proc/{process}/fd/{}", self.descriptor);
        let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        if !fcntl_get_seals(&file)?.contains(SealFlags::SHRINK) {
            return Err(io::Error::other("it may shrink while it is read"));
        }
        let size = fstat(&file)?.st_size.unsigned_abs();
        Ok((file, size))
    }
}

/// Pages of another process, mapped.
struct Window {
    at: NonNull<u8>,
    len: usize,
}

// SAFETY: an address and a length, of memory that this process only reads.
unsafe impl Send for Window {}
// SAFETY: as above.
unsafe impl Sync for Window {}

impl Window {
    fn new((file, size): (&OwnedFd, u64), of: &SharedSlab) -> io::Result<Self> {
        let nothing = || io::Error::other("there is no such slab");
        let is_there = of.from.checked_add(of.len).is_some_and(|end| end <= size);
        let len = usize::try_from(of.len).map_err(io::Error::other)?;
        if !is_there || len < size_of::<AtomicU64>() {
            return Err(nothing());
        }
        // SAFETY: new memory, at an address that the system chooses; it is within a file that does not shrink.
        let at =
            unsafe { mmap(std::ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file, of.from) }?;
        Ok(Window { at: NonNull::new(at.cast()).ok_or_else(nothing)?, len })
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and nobody has any of it any more: every segment of it has a mapping with it. That a mapping as it was
        // made cannot be taken back does not happen.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), self.len) };
    }
}

/// What is mapped of a process: it fills the same slabs again for later versions, and to map them anew costs more than all the rest.
#[derive(Default)]
pub struct Windows {
    /// By where they are and how long, each with how many parts have been mapped since it was needed.
    all: BTreeMap<(u64, u64), (Arc<Window>, u32)>,
}

/// What so many parts have not needed is not kept.
const KEPT_FOR: u32 = 8;

impl Windows {
    /// One that is there, or else a new one.
    fn find(&mut self, of: &SharedSlab, new: impl FnOnce() -> io::Result<Window>) -> io::Result<Arc<Window>> {
        let (window, unused) = match self.all.entry((of.from, of.len)) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(missing) => missing.insert((Arc::new(new()?), 0)),
        };
        *unused = 0;
        Ok(window.clone())
    }

    fn age(&mut self) {
        self.all.retain(|_, (_, unused)| {
            *unused += 1;
            *unused <= KEPT_FOR
        });
    }
}

/// A slab of another process.
pub struct Mapping {
    window: Arc<Window>,
    of: SharedSlab,
}

impl Mapping {
    /// Where the owner has it.
    pub fn begins_at(&self) -> u64 {
        self.of.at
    }

    /// What the owner has at this address, if that is in here.
    pub fn segment(self: &Arc<Self>, at: u64, len: usize, align: usize) -> Option<Segment> {
        let from = usize::try_from(at.checked_sub(self.of.at)?).ok()?;
        let is_here = from.checked_add(len).is_some_and(|end| end <= self.window.len);
        if !is_here || !align.is_power_of_two() {
            return None;
        }
        // SAFETY: within the mapping.
        let at = unsafe { self.window.at.add(from) };
        let is_aligned = at.as_ptr().addr().is_multiple_of(align);
        // SAFETY: mapped, and so initialised, for as long as `self` lives. The owner leaves the bytes what they are while the version is
        // needed; who reads them later finds that out (`is_unchanged`), and takes them for nothing but plain bytes before.
        is_aligned.then(|| unsafe { Segment::lent(at, len, align, self.clone()) })
    }

    /// Whether the owner has left it as it was: what was read of it before was the part.
    pub fn is_unchanged(&self) -> bool {
        // What is read before is not read after.
        fence(Ordering::SeqCst);
        // SAFETY: mapped, large enough and aligned like a page; the owner writes to it as an atomic too.
        let stamp = unsafe { self.window.at.cast::<AtomicU64>().as_ref() };
        stamp.load(Ordering::SeqCst) == self.of.stamp
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slabs::Room;
    use crate::test_source::TestSource;

    /// Memory that others can map, with a slice of these bytes in it, and where it is.
    fn filled(bytes: &[u8]) -> (TestSource, Room, Segment) {
        let (store, mut room) = (TestSource::default(), Room::default());
        store.share();
        let mut buffer = room.buffer(&store, bytes.len(), 64).expect("there is memory");
        buffer.fill(bytes);
        let slice = buffer.finish().expect("it was filled");
        (store, room, slice)
    }

    fn own() -> u32 {
        std::process::id()
    }

    fn at(slice: &Segment) -> u64 {
        slice.bytes().as_ptr().addr() as u64
    }

    #[test]
    fn what_is_mapped_is_what_the_owner_has_and_stays_without_it() {
        let (store, room, slice) = filled(&[7; 1000]);
        let shared = room.shared().expect("its slabs can be mapped");
        let mapped = shared.map(own(), &mut Windows::default()).unwrap();
        let found = mapped[0].segment(at(&slice) + 10, 900, 2).expect("it is there");
        assert_eq!((found.bytes(), found.align()), (&[7; 900][..], 2));
        assert_ne!(found.bytes().as_ptr().addr() as u64, at(&slice) + 10, "not where the owner has it");
        assert!(mapped[0].segment(at(&slice), 1 << 20, 1).is_none(), "not so much is there");
        assert!(mapped[0].segment(at(&slice) - 100, 8, 1).is_none(), "nothing of the slab is before it");
        assert!(mapped[0].segment(at(&slice) + 1, 8, 8).is_none(), "it is not aligned");
        assert!(mapped[0].segment(at(&slice), 8, 3).is_none(), "nothing is aligned like that");
        assert!(mapped[0].segment(u64::MAX, 8, 1).is_none() && mapped[0].is_unchanged());
        drop((room, slice));
        assert!(!mapped[0].is_unchanged(), "the memory was given back");
        drop(store);
    }

    #[test]
    fn memory_that_is_filled_again_is_not_what_it_was() {
        let (store, room, slice) = filled(&[7; 1000]);
        let mapped =
            room.shared().expect("its slabs can be mapped").map(own(), &mut Windows::default()).unwrap();
        let mut slabs = super::super::slabs::Slabs::default();
        drop(slice);
        slabs.add(room);
        let slab = slabs.take(1).expect("nobody has it");
        assert!(mapped[0].is_unchanged(), "nothing has been written yet");
        let mut again = Room::default();
        again.begin(slab);
        assert!(!mapped[0].is_unchanged());
        let mut buffer = again.buffer(&store, 1000, 64).expect("there is a slab");
        buffer.fill(&[8; 1000]);
        assert_eq!(
            again.shared().expect("as before").slabs[0].from,
            mapped[0].of.from,
            "it is the same memory"
        );
    }

    #[test]
    fn what_is_mapped_stays_so_for_later_versions() {
        let (_store, room, _slice) = filled(&[7; 1000]);
        let (shared, mut windows) = (room.shared().expect("its slabs can be mapped"), Windows::default());
        let mut at = |slabs: &[SharedSlab]| {
            let shared = Shared { slabs: slabs.to_vec(), ..shared.clone() };
            let mapped = shared.map(own(), &mut windows).unwrap();
            mapped.first().map(|slab| Arc::downgrade(&slab.window))
        };
        let first = at(&shared.slabs).expect("there is one");
        assert!(first.ptr_eq(&at(&shared.slabs).expect("it is there again")));
        (1..KEPT_FOR).for_each(|_| assert!(at(&[]).is_none()));
        assert!(first.upgrade().is_some(), "it may be needed again");
        at(&[]);
        assert!(first.upgrade().is_none());
        assert!(at(&shared.slabs).is_some(), "it is mapped anew");
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let (_store, room, _slice) = filled(&[7; 1000]);
        let shared = room.shared().expect("its slabs can be mapped");
        assert!(shared.map(u32::MAX, &mut Windows::default()).is_err(), "there is no such process");
        assert!(
            Shared { descriptor: 0, ..shared.clone() }.map(own(), &mut Windows::default()).is_err(),
            "that is something else"
        );
        assert!(
            Shared { descriptor: u32::MAX, ..shared.clone() }.map(own(), &mut Windows::default()).is_err(),
            "that is nothing"
        );
        let with = |change: fn(&mut SharedSlab)| {
            let mut shared = shared.clone();
            change(&mut shared.slabs[0]);
            shared.map(own(), &mut Windows::default())
        };
        assert!(with(|slab| slab.len = u64::MAX).is_err());
        assert!(with(|slab| slab.from = 1 << 40).is_err());
        assert!(with(|slab| slab.from = 1).is_err(), "pages begin elsewhere");
        assert!(with(|slab| slab.len = 0).is_err());
    }
}
