//! The range of addresses that slots are in: the same in every process of a job.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use thiserror::Error;

use super::layout::{BASE, Layout, PAGE};

/// All slots of a process end below the addresses at which programs are.
const SPACE_MAX: usize = 32 << 40;
/// More ranks are in no process: each is several mappings, of which the system allows 65,530.
const SLOTS_MAX: usize = 1 << 15;

/// All slots of this process.
#[derive(Debug)]
pub struct SlotSpace {
    base: usize,
    layout: Layout,
    slots: u32,
    /// Slots whose addresses are in use.
    occupied: Mutex<BTreeSet<u32>>,
    /// Told when one of them is free again.
    freed: Condvar,
}

/// Where several nodes are in one process, a rank has its addresses while it runs, and gives them back when it waits. Who
/// waits longer for them waits for a rank that does not end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why slots cannot be had.
#[derive(Debug, Error)]
pub enum SlotError {
    /// Parts of a slot that are no whole pages, or missing.
    #[error("no layout of a slot: {0:?}")]
    Layout(Layout),
    /// Pages of another length.
    #[error("pages of {0} bytes: ranks need pages of 4096 bytes")]
    PageSize(usize),
    /// The addresses are taken, or the system refuses.
    #[error("cannot reserve {len} bytes of addresses at {base:#x} for ranks: {error}")]
    Reserve {
        /// The first address.
        base: usize,
        /// How many bytes.
        len: usize,
        /// Why.
        error: io::Error,
    },
    /// The space was reserved before.
    #[error("addresses for ranks were reserved before")]
    Twice,
    /// All ranks of a process have slots that are divided alike.
    #[error("ranks of this process have slots of {here:?}, not of {layout:?}")]
    OtherLayout {
        /// What they have.
        here: Layout,
        /// What was asked for.
        layout: Layout,
    },
    /// No space was reserved.
    #[error("no addresses are reserved for ranks")]
    NoSpace,
    /// A slot that the space does not have.
    #[error("slot {slot} of {slots}")]
    NoSlot {
        /// Which one.
        slot: u32,
        /// How many there are.
        slots: u32,
    },
    /// Another rank is at these addresses.
    #[error("the addresses of slot {0} are in use")]
    Occupied(u32),
    /// The program is at fixed addresses, and another rank of this process is there.
    #[error(
        "the program of rank {slot} has to be at the addresses where that of rank {first} is, on the same node: a \
         program that is not position-independent needs as many nodes as ranks, and a lost node another one in its place \
         (--respawn)"
    )]
    FixedTwice {
        /// Which one.
        slot: u32,
        /// Whose is there.
        first: u32,
    },
    /// The system has no memory, or no mapping, for it.
    #[error("no memory for slot {slot}: {error}")]
    Memory {
        /// Which one.
        slot: u32,
        /// Why.
        error: io::Error,
    },
}

static SPACE: OnceLock<SlotSpace> = OnceLock::new();

/// Held by who reserves it: another thread's mapping would look like somebody else's.
static RESERVING: Mutex<()> = Mutex::new(());

impl SlotSpace {
    /// Reserves the addresses for this process, for good. Nothing is accessible yet.
    ///
    /// # Errors
    /// If they are taken, or were reserved before.
    pub fn reserve(base: usize, layout: Layout, slots: u32) -> Result<&'static SlotSpace, SlotError> {
        let space = SlotSpace { base, layout, slots, occupied: Mutex::default(), freed: Condvar::new() };
        if !layout.is_valid() || !base.is_multiple_of(layout.slot()) {
            return Err(SlotError::Layout(layout));
        }
        if rustix::param::page_size() != PAGE {
            return Err(SlotError::PageSize(rustix::param::page_size()));
        }
        let _reserving = RESERVING.lock().unwrap_or_else(PoisonError::into_inner);
        if SPACE.get().is_some() {
            return Err(SlotError::Twice);
        }
        let len = space.len();
        map_nothing(base, len, MapFlags::FIXED_NOREPLACE).map_err(|error| SlotError::Reserve {
            base,
            len,
            error,
        })?;
        SPACE.set(space).map_err(|_| SlotError::Twice)?;
        SlotSpace::get()
    }

    /// The space of this process.
    ///
    /// # Errors
    /// If none was reserved.
    pub fn get() -> Result<&'static SlotSpace, SlotError> {
        SPACE.get().ok_or(SlotError::NoSpace)
    }

    /// The space of this process, reserved if it is not yet: as many slots of this layout as there is room for.
    ///
    /// # Errors
    /// If the addresses are taken, or slots of another layout are there.
    pub fn of(layout: Layout) -> Result<&'static SlotSpace, SlotError> {
        let space = match SlotSpace::get() {
            Ok(space) => space,
            Err(_) => {
                let slots = (SPACE_MAX / layout.slot()).min(SLOTS_MAX);
                // Another thread may have been faster.
                SlotSpace::reserve(BASE, layout, slots as u32)
                    .or_else(|error| SlotSpace::get().or(Err(error)))?
            }
        };
        if space.layout == layout {
            Ok(space)
        } else {
            Err(SlotError::OtherLayout { here: space.layout, layout })
        }
    }

    /// How many there are.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// How slots are divided.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The first address of a slot.
    ///
    /// # Errors
    /// If there is no such slot.
    pub fn address(&self, slot: u32) -> Result<usize, SlotError> {
        if slot >= self.slots {
            return Err(SlotError::NoSlot { slot, slots: self.slots });
        }
        Ok(self.base + slot as usize * self.layout.slot())
    }

    /// The slot that an address is in, and its offset there. Asked at every call of the allocator, also by signal
    /// handlers: no lock.
    #[inline]
    pub fn slot_of(&self, address: usize) -> Option<(u32, usize)> {
        let offset = address.wrapping_sub(self.base);
        let slot = offset >> self.layout.slot().trailing_zeros();
        (slot < self.slots as usize).then_some((slot as u32, offset & (self.layout.slot() - 1)))
    }

    pub(super) fn occupy(&self, slot: u32) -> Result<(), SlotError> {
        if self.occupied().insert(slot) { Ok(()) } else { Err(SlotError::Occupied(slot)) }
    }

    /// Waits until nobody is at these addresses. Whoever comes first then has them.
    ///
    /// # Errors
    /// If somebody is there for too long.
    pub(super) fn wait_until_free(&self, slot: u32) -> Result<(), SlotError> {
        let is_taken = |occupied: &mut BTreeSet<u32>| occupied.contains(&slot);
        let waited = self.freed.wait_timeout_while(self.occupied(), PATIENCE, is_taken);
        let (_occupied, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() { Err(SlotError::Occupied(slot)) } else { Ok(()) }
    }

    pub(super) fn leave(&self, slot: u32) {
        self.occupied().remove(&slot);
        self.freed.notify_all();
    }

    fn occupied(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        self.occupied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn len(&self) -> usize {
        self.layout.slot() * self.slots as usize
    }
}

/// Maps a range without access, in place of whatever is there.
pub(super) fn map_nothing(at: usize, len: usize, fixed: MapFlags) -> io::Result<()> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | fixed;
    // SAFETY: `FIXED_NOREPLACE` replaces nothing; with `FIXED` callers give the addresses of a slot that they have
    // occupied, in which nothing lives any more.
    let mapped = unsafe { mmap_anonymous(at as *mut c_void, len, ProtFlags::empty(), flags) }?;
    if mapped as usize == at { Ok(()) } else { Err(io::ErrorKind::AddrInUse.into()) }
}
