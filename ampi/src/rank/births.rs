//! Ranks that begin while the job runs (MPI-4.0, 11.8).
//!
//! Who starts them inserts their elements, each of which prepares the program where it is and says whether it can begin. They
//! begin when all can; else they go, and the job goes on without them.

use std::panic::Location;

use talisman_pup::Pup;

use super::posts::{bytes_of, next_post};
use super::running::{CallError, outside};
use crate::comm::World;
use crate::engine::Rank as Number;

/// A key and a value.
pub type Hint = (Vec<u8>, Vec<u8>);

/// What is to be run by some of the ranks that begin together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Command {
    /// The program, and its arguments.
    pub words: Vec<Vec<u8>>,
    /// What is said of it besides.
    pub hints: Vec<Hint>,
    /// By how many.
    pub ranks: u32,
}

/// Which ranks run one of several commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Birth {
    /// The first of them, and how many.
    pub first: Number,
    /// How many they are.
    pub ranks: u32,
    /// The number of the command.
    pub number: u32,
    /// The first of all that begin together.
    pub world: Number,
    /// How many they all are.
    pub size: u32,
}

/// Makes ranks of these commands, and waits until each has said whether it can begin. They begin if all can; else they go.
///
/// # Errors
/// If no rank calls. Within that: why one cannot.
pub(crate) fn start(
    world: &World,
    commands: &[Command],
    (call, place): (&'static str, &'static Location<'static>),
) -> Result<Result<(), String>, CallError> {
    let bytes = bytes_of(|running| {
        let made = running.slots.outside.bear(world.clone(), commands.to_vec());
        talisman_pup::to_bytes(&made)
    })?;
    let mut outcome: Result<(), String> = read(&bytes);
    if outcome.is_err() {
        // None was made.
        return Ok(outcome);
    }
    for _ in 0..world.size {
        let said: Result<(), String> = read(&next_post(call, place)?);
        outcome = outcome.and(said);
    }
    outside(|outside| outside.begin(world.first, world.size, outcome.is_ok()))?;
    Ok(outcome)
}

fn read(bytes: &[u8]) -> Result<(), String> {
    talisman_pup::from_bytes(bytes).unwrap_or_else(|error| Err(error.to_string()))
}
