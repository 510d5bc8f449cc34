//! A program of ranks, and how its values come into a rank and out of it.

use talisman_pup::{Packer, Pup, PupError, Unpacker, Value};

use super::births::{Birth, Command};
use super::posts::texts;
use super::running::CallError;
use crate::api::Universe;
use crate::slot::{Images, ImagesError, Reserved, SlotSpace, set_images, set_images_of};
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

    /// The ranks that have these images, if they have begun later than others.
    fn born(&self) -> Option<Birth> {
        None
    }

    /// What ranks run that are started by one of this program's (`MPI_Comm_spawn`), by this command.
    ///
    /// # Errors
    /// If there is no such program, or this one cannot start others.
    fn another(&self, command: &Command, birth: Birth) -> Result<Self, String> {
        let _ = (command, birth);
        Err("programs of the runtime's own do not start others".into())
    }
}

/// What slots of a program's ranks are like, and the program: wherever it is known, addresses are reserved and what is
/// mapped is ready.
#[derive(Debug)]
pub struct Memory<P> {
    reserved: Reserved,
    program: P,
    /// Of programs that are mapped: whether this process is prepared for it.
    has_images: bool,
}

impl<P: Program> Memory<P> {
    /// Prepares this process.
    ///
    /// # Errors
    /// If what is to be mapped cannot be read.
    pub fn new(reserved: Reserved, program: P) -> Result<Self, ImagesError> {
        let mut memory = Memory { reserved, has_images: false, program };
        memory.prepare()?;
        Ok(memory)
    }

    /// Of ranks that run another program: whoever has it, it is prepared by and by.
    pub(super) fn of_another(&self, program: P) -> Self {
        Memory { reserved: self.reserved, has_images: false, program }
    }

    /// Prepares this process.
    ///
    /// # Errors
    /// If what is to be mapped cannot be read.
    pub(super) fn prepare(&mut self) -> Result<(), ImagesError> {
        if let Some(images) = self.program.images()? {
            match self.program.born() {
                None => set_images(images)?,
                Some(Birth { first, ranks, .. }) => {
                    set_images_of(first..first.saturating_add(ranks), images)?
                }
            }
            self.has_images = true;
        }
        Ok(())
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
        self.has_images.pack(p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let reserved = Reserved::unpack(u)?;
        let (program, is_prepared) = <(P, bool)>::unpack(u)?;
        let mut memory = Memory { reserved, has_images: false, program };
        if is_prepared {
            memory.prepare().map_err(|error| u.invalid(error))?;
        }
        Ok(memory)
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
