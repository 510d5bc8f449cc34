//! A program of ranks, and how its values come into a rank and out of it.

use talisman_pup::Value;

use super::running::{CallError, texts};
use crate::api::Universe;
use crate::slot::SlotSpace;
use crate::thread::running;

/// What each rank of a world runs. The value is given to all of them alike: options, sizes, names of files.
///
/// It is made known by [`program!`](crate::program), and started by [`run`](crate::run).
pub trait Program: Value {
    /// What a rank returns.
    type Output: Value;

    /// Runs on a thread of the rank's own, which may wait in calls of MPI.
    fn main(self, universe: Universe) -> Self::Output;
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

/// The program of this rank has returned.
pub(crate) fn finish<R: Value>(result: &R) {
    texts(|texts| texts.result = talisman_pup::to_bytes(result)).expect("a rank ends");
}
