//! One-sided communication (MPI-4.1, chapter 12).
//!
//! | module | is |
//! |---|---|
//! | [`life`] | making windows together, and freeing them |
//! | [`access`] | reading, writing and combining values of other ranks' memory |
//! | [`asking`] | what all that waits for others is made of |
//! | [`active`], [`passive`] | when that may be done: fences, starting and posting; locks and flushes |
//! | [`shared_memory`] | memory that all ranks of a window address |
//! | [`state`] | names, hints, what a program asks of a window |
//! | [`errors`] | error handlers of windows |
//!
//! What is asked for is done by the process of the rank whose memory it is (`talisman_ampi::window`), also while its program computes
//! nothing of MPI: as soon as that lets others run.

pub mod access;
pub mod active;
pub mod asking;
pub mod errors;
pub mod life;
pub mod passive;
pub mod shared_memory;
pub mod state;

use std::ffi::c_int;

use talisman_ampi::engine::{Context, Rank};
use talisman_ampi::objects::Kind;
use talisman_ampi::process::Process;
use talisman_ampi::window::Window;

use super::call::{known, local};
use crate::abi::Abi;
use crate::class::Class;

/// The number of a window that is there.
///
/// # Safety
/// The handle is the program's.
pub unsafe fn known_window<A: Abi>(handle: A::Handle) -> Result<u32, Class> {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Win, handle) }?;
    local(|process| window(process, number).map(|_| number))
}

/// A window by its number.
pub fn window(process: &mut Process, number: u32) -> Result<&mut Window, Class> {
    process.windows.get_mut(number).ok_or(Class::Win)
}

/// A member of a window's group by its number there: its rank in the world. None for no process.
fn member<A: Abi>(process: &Process, number: u32, member: c_int) -> Result<Option<Rank>, Class> {
    let communicator = process.windows.get(number).ok_or(Class::Win)?.communicator;
    if member == A::PROC_NULL {
        return Ok(None);
    }
    let member = u32::try_from(member).map_err(|_| Class::Rank)?;
    process.comms.get(communicator)?.world_rank(member).ok_or(Class::Rank).map(Some)
}

/// The context in which a window is accessed.
fn context_of(process: &Process, number: u32) -> Result<Context, Class> {
    let communicator = process.windows.get(number).ok_or(Class::Win)?.communicator;
    Ok(process.comms.get(communicator)?.contexts().user)
}

/// Names and addresses.
pub fn functions<A: Abi>() -> Vec<(&'static str, usize)> {
    [
        access::functions::<A>(),
        access::asked::functions::<A>(),
        active::functions::<A>(),
        errors::functions::<A>(),
        life::functions::<A>(),
        passive::functions::<A>(),
        state::functions::<A>(),
        state::attributes::functions::<A>(),
    ]
    .concat()
}
