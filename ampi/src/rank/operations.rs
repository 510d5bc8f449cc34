//! Operations of the program, called by its own rank.

use super::CallError;
use super::running::{look, with};
use crate::process::UserCombine;

/// A function that an operation is made with.
type Function = fn(UserCombine<'_>);

/// Whether the rank that calls is in an operation of its program, which was called to combine values.
pub fn is_in_operation() -> bool {
    look(|running| running.slots.agenda.is_in_operation()).unwrap_or(false)
}

/// Calls the operations that are due, and does what comes after them. Each is called on the stack of the rank, which has
/// its state back meanwhile.
pub(super) fn call_operations() -> Result<(), CallError> {
    while let Some((left, right)) = look(|running| running.slots.agenda.lengths()).flatten() {
        // In the rank's memory, with which they move.
        let (mut left, mut right) = (vec![0; left], vec![0; right]);
        let called = with(|running| running.slots.agenda.begin(&mut left, &mut right))?;
        let Some(called) = called else { break };
        let operands = called.with(&left, &mut right);
        // SAFETY: such a function, by the promise of who made the operation (`call`); none is null.
        let function = unsafe { std::mem::transmute::<usize, Function>(operands.function as usize) };
        function(operands);
        with(|running| running.end_operation(&right))??;
    }
    Ok(())
}
