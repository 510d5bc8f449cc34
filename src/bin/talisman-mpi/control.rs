//! What this executable keeps of a rank, in the rank's slot: behind the program that is mapped there.

use std::ptr::NonNull;

use talisman_ampi::slot::{Images, PAGE, SlotSpace};
use talisman_ampi::thread;
use talisman_loader::libc::{State, owner_of_thread};

use crate::images;
use crate::programs;
use crate::streams::Streams;

/// Of one rank.
pub struct Control {
    pub rank: u32,
    /// What the C library would keep of a process.
    pub state: State,
    pub streams: Streams,
    /// It has called `MPI_Init`, and `MPI_Finalize`.
    pub has_begun: bool,
    pub has_finished: bool,
    /// It has a session that is not finalized.
    pub has_session: bool,
    /// How often ranks of this process had gone on when what it has open was noted last.
    pub noted: u64,
}

impl Control {
    /// Of a rank that has not begun. What it needs is allocated by the rank.
    pub fn new(rank: u32, state: State, is_labelled: bool) -> Control {
        Control {
            rank,
            state,
            streams: Streams::new(rank, is_labelled),
            has_begun: false,
            has_finished: false,
            has_session: false,
            noted: 0,
        }
    }
}

/// Bytes that it takes in a slot.
pub const LEN: usize = size_of::<Control>().next_multiple_of(PAGE);

/// The rank that runs on this thread, or that has started it.
pub fn caller() -> Option<u32> {
    thread::running().or_else(owner_of_thread)
}

/// Where the images of the rank that calls begin.
pub fn base_of_caller() -> Option<usize> {
    let (space, rank) = (SlotSpace::get().ok()?, caller()?);
    let fixed = images::of_process().and_then(|images| images.fixed());
    let place = programs::of_caller().map_or(0, |(place, _)| place);
    fixed.or_else(|| Some(space.address(rank).ok()? + space.layout().images_start() + place))
}

/// That of the rank that calls.
fn of_caller() -> Option<NonNull<Control>> {
    let images = images::of_process()?;
    NonNull::new((base_of_caller()? + images.control()) as *mut Control)
}

/// Works on that of the rank that calls.
///
/// # Panics
/// If none does.
pub fn with<T>(work: impl FnOnce(&mut Control) -> T) -> T {
    try_with(work).expect("a rank calls")
}

/// The same; none if no rank calls.
pub fn try_with<T>(work: impl FnOnce(&mut Control) -> T) -> Option<T> {
    let mut control = of_caller()?;
    // SAFETY: made when the rank's program was loaded; the rank runs on this thread, and works on it once at a time. Its other
    // threads note here alone that they have begun or ended MPI.
    Some(work(unsafe { control.as_mut() }))
}

/// The rank that runs has its standard streams written out.
pub fn flush() {
    for file in with(|control| control.streams.open_ones()).into_iter().flatten() {
        // SAFETY: a stream of the rank's that it has not closed. What it writes comes to the rank's control block,
        // which nobody has borrowed.
        unsafe { libc::fflush(file) };
    }
}
