//! A program of ranks, and how its values come into a rank and out of it.

use talisman_pup::{Packer, Pup, PupError, Unpacker, Value};

use super::posts::texts;
use super::running::CallError;
use crate::api::Universe;
use crate::slot::{Images, ImagesError, Reserved, SlotSpace, set_images};
use crate::thread::{self, running};

/// What each rank of a world runs. The value is given to all of them alike: options, sizes, names of files.
///
/// It is made known by [`program!`](crate::program), and started by [`run`](crate::run).
pub trait Program: Value {
    /// What a rank returns.
    type Output: Value;

    /// Runs on a thread of the rank's own, which may wait in calls of MPI.
    fn main(self, universe: Universe) -> Self::Output;

    /// What is mapped into each rank's slot before it begins: a program that was built for processes. Asked in each
    /// process that has ranks, before the first is there.
    ///
    /// # Errors
    /// If it cannot be read.
    fn images(&self) -> Result<Option<&'static dyn Images>, ImagesError> {
        Ok(None)
    }
}

/// What slots of a program's ranks are like, and the program: wherever it is known, addresses are reserved and what is
/// mapped is ready.
#[derive(Debug)]
pub struct Memory<P> {
    reserved: Reserved,
    program: P,
    has_images: bool,
}

impl<P: Program> Memory<P> {
    /// Prepares this process.
    ///
    /// # Errors
    /// If what is to be mapped cannot be read.
    pub fn new(reserved: Reserved, program: P) -> Result<Self, ImagesError> {
        let images = program.images()?;
        images.map_or(Ok(()), set_images)?;
        Ok(Memory { reserved, has_images: images.is_some(), program })
    }

    pub(super) fn program(&self) -> &P {
        &self.program
    }

    /// Whether something is to be mapped.
    pub(super) fn has_images(&self) -> bool {
        self.has_images
    }
}

/// Written by hand: what is unpacked is prepared.
impl<P: Program> Pup for Memory<P> {
    fn pack(&self, p: &mut Packer) {
        self.reserved.pack(p);
        self.program.pack(p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let reserved = Reserved::unpack(u)?;
        let program = P::unpack(u)?;
        Memory::new(reserved, program).map_err(|error| u.invalid(error))
    }
}

/// The first function of a rank. Everything that it keeps is in the rank's memory.
pub(super) fn enter<P: Program>() {
    assert!(
        running_owns(&Box::new(0u8)),
        "ranks allocate in their own memory: add `talisman_ampi::program!(…);` to the program, which sets its allocator"
    );
    let program = arguments::<P>();
    let result = program.main(Universe::new());
    finish(&result);
}

/// Whether a value lies in the memory of the rank that calls.
fn running_owns(value: &u8) -> bool {
    let slot = SlotSpace::get().ok().and_then(|space| space.slot_of(std::ptr::from_ref(value).addr()));
    slot.map(|(slot, _)| slot) == running()
}

/// What the program of this rank is given. It is unpacked by the rank, so it lies in the rank's memory.
pub(crate) fn arguments<P: Value>() -> P {
    let mut bytes = vec![0; length().expect("a rank begins")];
    texts(|texts| bytes.copy_from_slice(&texts.arguments)).expect("a rank begins");
    talisman_pup::from_bytes(&bytes).expect("was read before the rank was made")
}

fn length() -> Result<usize, CallError> {
    texts(|texts| texts.arguments.len())
}

/// Ends the rank that calls with this result, which is of its program's [`Output`](Program::Output), wherever it is in
/// its program: nothing on its stack is dropped.
///
/// # Panics
/// If no rank calls.
pub fn end<R: Value>(result: &R) -> ! {
    finish(result);
    thread::end()
}

/// The program of this rank has returned.
pub(crate) fn finish<R: Value>(result: &R) {
    texts(|texts| texts.result = talisman_pup::to_bytes(result)).expect("a rank ends");
}
