//! The program that is mapped into the slots of this process.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use thiserror::Error;

use super::{SlotError, SlotSpace};
use crate::thread::Saved;

/// A program that was built for processes of the system, as it lies in the room for images of a slot: text that is the
/// same everywhere, and data that each rank has for itself. Who reads executables implements it; a slot knows nothing of
/// how they are made.
pub trait Images: Debug + Sync {
    /// Bytes that it takes from the beginning of the room on: whole pages.
    fn span(&self) -> usize;

    /// The same in all processes that have the same program, and different for different ones.
    fn mark(&self) -> u64;

    /// Where it has to be, if it cannot be in a slot: the same everywhere. The addresses are this process's, without access,
    /// before the first rank has it. One rank of a process can have it then.
    fn fixed(&self) -> Option<usize> {
        None
    }

    /// Parts that are written to, as offsets in bytes from the beginning: whole pages, in their order. Only what is in
    /// them travels; all else is mapped again where the rank arrives.
    fn written(&self) -> &[Range<usize>];

    /// Maps it for a rank that begins, and makes it ready to run. Addresses that are no part of it stay as they are.
    ///
    /// # Safety
    /// `base` is the beginning of the room of a slot that is in place; nothing else is there.
    ///
    /// # Errors
    /// If the system refuses, or a symbol is missing.
    unsafe fn load(&self, base: usize) -> Result<(), ImagesError>;

    /// Maps it as its files have it, for pages that have arrived. Parts that are written to can be.
    ///
    /// # Safety
    /// As many bytes as it [spans](Images::span) are the caller's from `base` on, which is a multiple of 64 KiB, and need
    /// not be in a slot.
    ///
    /// # Errors
    /// If the system refuses.
    unsafe fn map_again(&self, base: usize) -> io::Result<()>;

    /// A rank that has it is at its addresses from now on. What is allocated is the rank's, here and in the next three.
    fn arrive(&self, base: usize);

    /// A rank that has it is about to leave its addresses.
    fn leave(&self, base: usize);

    /// A rank that has it was at its addresses, and is gone for good.
    fn end(&self, base: usize);

    /// Whether something of a rank that has ended still runs in its memory, such as threads that it has started: it stays
    /// mapped then, for good.
    fn stays(&self, _base: usize) -> bool {
        false
    }

    /// A rank that has it is about to be copied where it is: the copy may arrive elsewhere, or here later.
    fn note(&self, base: usize);

    /// What a copy that has arrived has noted of things which it may share with other ranks, such as lengths of files: names
    /// and numbers, on the heap of who calls.
    fn noted(&self, _base: usize) -> Vec<(Vec<u8>, u64)> {
        Vec::new()
    }

    /// A copy has arrived, and so have all others of the same time; none runs yet. The greatest numbers of all that was
    /// noted.
    ///
    /// # Errors
    /// If something is not as it was then, and the rank must not go on: what.
    fn restored(&self, _base: usize, _noted: &Noted) -> Result<(), String> {
        Ok(())
    }

    /// All that were copied at the same time have been [restored](Images::restored), and go on.
    fn go_on(&self, _base: usize) {}

    /// Whether a rank that has it is held where it is, by what does not move with it. Asked whenever it waits. The reason
    /// is not the rank's.
    fn held(&self, _base: usize) -> Held {
        Held::AsBefore
    }

    /// Whether [`Images::held`] would say something else than that nothing has happened.
    fn is_held_anew(&self, _base: usize) -> bool {
        false
    }

    /// Whether it has a file open that it can write to, or has had one since [`Images::restored`] was called last, or since it began.
    fn writes(&self, _base: usize) -> bool {
        false
    }

    /// Whether it has locked a file, as long as it stays.
    fn locks(&self, _base: usize) -> bool {
        false
    }

    /// A rank that has it runs on this thread from now on: what the thread has for it, it gets. Nothing is to be
    /// allocated.
    fn resume(&self, base: usize);

    /// A rank that has it does not run any more: what the thread has of it goes to the rank.
    fn suspend(&self, base: usize);

    /// The function that an address is in, of the program or of a library of the process, for messages. May be called by
    /// a signal handler, as long as the address is one of code that runs.
    fn function_at(&self, base: usize, address: usize) -> Option<String>;

    /// Where the program of a rank is that does not run, in words: function, file and line of its call that has not
    /// returned. What its thread goes on with, and its stack from there on.
    fn place_of(&self, _base: usize, _saved: &Saved, _stack: &[u8]) -> Option<String> {
        None
    }
}

/// What ranks have noted, by its name: the greatest number.
pub type Noted = BTreeMap<Vec<u8>, u64>;

/// Whether a rank has to stay where it is, and cannot be made anew from a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing has happened that could have changed it.
    AsBefore,
    /// No.
    No,
    /// Yes, for this reason: a sentence about the rank, which begins with "it".
    Yes(String),
}

/// Why a slot cannot have a program.
#[derive(Debug, Error)]
pub enum ImagesError {
    /// It needs more room.
    #[error("the program and its libraries take {span} bytes, and slots have room for {room}")]
    Room {
        /// Bytes that it takes.
        span: usize,
        /// Bytes that there are.
        room: usize,
    },
    /// Another one is in the slots of this process.
    #[error("ranks of this process run another program")]
    OtherProgram,
    /// Another one is in this slot of this process.
    #[error("rank {slot} runs another program in this process")]
    OtherProgramOf {
        /// Which one.
        slot: u32,
    },
    /// None is.
    #[error("ranks of this process run no program that was mapped")]
    NoProgram,
    /// It is at addresses where another rank's is.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// The system refuses.
    #[error("the program cannot be mapped: {0}")]
    Map(#[from] io::Error),
    /// What its loader says.
    #[error("{0}")]
    Load(String),
}

/// The addresses of the program of a rank, which has so many bytes; empty if there is none.
pub(crate) fn images_of(slot: u32, len: usize) -> Range<usize> {
    let room = SlotSpace::get().and_then(|space| Ok(space.address(slot)? + space.layout().images_start()));
    room.map_or(0..0, |room| {
        let start = home_of_images(slot, room);
        start..start + len
    })
}

/// Where the program of a rank begins that has this room in its slot.
pub(super) fn home_of_images(slot: u32, room: usize) -> usize {
    images(slot).ok().and_then(|images| images.fixed()).unwrap_or(room)
}

static IMAGES: OnceLock<&'static dyn Images> = OnceLock::new();

/// Says which program is mapped into slots of this process, for good.
///
/// # Errors
/// If another one was.
pub fn set_images(images: &'static dyn Images) -> Result<(), ImagesError> {
    let first = *IMAGES.get_or_init(|| images);
    if first.mark() == images.mark() { Ok(()) } else { Err(ImagesError::OtherProgram) }
}

/// Programs of slots that have another one than the others, by their numbers. Asked by signal handlers as well: no lock.
static OTHERS: OnceLock<Box<[AtomicPtr<&'static dyn Images>]>> = OnceLock::new();

/// Says which program is mapped into these slots of this process, for good, whatever others have.
///
/// # Errors
/// If another one was, or there are no such slots.
pub fn set_images_of(slots: Range<u32>, images: &'static dyn Images) -> Result<(), ImagesError> {
    let space = SlotSpace::get()?;
    let places = OTHERS.get_or_init(|| (0..space.slots()).map(|_| AtomicPtr::default()).collect());
    let slot = slots.end.saturating_sub(1);
    let those = places.get(slots.start as usize..slots.end as usize);
    let those = those.ok_or(SlotError::NoSlot { slot, slots: space.slots() })?;
    for (slot, place) in slots.zip(those) {
        match other(place) {
            None => place.store(Box::into_raw(Box::new(images)), Ordering::Release),
            Some(first) if first.mark() == images.mark() => {}
            Some(_) => return Err(ImagesError::OtherProgramOf { slot }),
        }
    }
    Ok(())
}

fn other(place: &AtomicPtr<&'static dyn Images>) -> Option<&'static dyn Images> {
    // SAFETY: null, or of a box that nobody takes back, written before the address was.
    unsafe { place.load(Ordering::Acquire).as_ref() }.copied()
}

/// The program that is mapped into a slot of this process.
#[inline]
pub(crate) fn images(slot: u32) -> Result<&'static dyn Images, ImagesError> {
    if let Some(images) = OTHERS.get().and_then(|places| other(places.get(slot as usize)?)) {
        return Ok(images);
    }
    IMAGES.get().copied().ok_or(ImagesError::NoProgram)
}
