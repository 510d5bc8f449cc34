//! What a rank has besides MPI: output, time, the runtime's services.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use super::{Communicator, Error};
use crate::comm::Communicators;
use crate::rank::{Wish, is_other_thread, outside, pause};
use crate::thread::{running, suspend};

/// What a rank's program is given. A rank has one; it can be copied.
#[derive(Clone, Copy, Debug)]
pub struct Universe(());

impl Universe {
    pub(crate) fn new() -> Universe {
        Universe(())
    }

    /// That of the rank that calls, or that has started the thread that does; none if there is none.
    pub fn of_caller() -> Option<Universe> {
        (running().is_some() || is_other_thread()).then_some(Universe(()))
    }

    /// All ranks (`MPI_COMM_WORLD`).
    pub fn world(&self) -> Communicator {
        Communicator::of(Communicators::WORLD)
    }

    /// This rank alone (`MPI_COMM_SELF`).
    pub fn alone(&self) -> Communicator {
        Communicator::of(Communicators::ALONE)
    }

    /// The program's output: `writeln!(universe.output(), "…")`. Lines appear exactly once, also where nodes are lost
    /// and what ranks did is done again; `println!` repeats them.
    pub fn output(&self) -> Output {
        Output(())
    }

    /// The program's standard error: `writeln!(universe.errors(), "…")`. In a job that survives losses (`--ft`) its lines
    /// come once too, and as late as those of the output; else at once.
    pub fn errors(&self) -> Errors {
        Errors(())
    }

    /// Time since the job started (`MPI_Wtime`).
    ///
    /// # Panics
    /// If no rank calls.
    pub fn time(&self) -> Duration {
        outside(|outside| outside.now()).expect("a rank calls")
    }

    /// The PE that this rank is on now.
    ///
    /// # Panics
    /// If no rank calls.
    pub fn pe(&self) -> u32 {
        outside(|outside| outside.pe().0).expect("a rank calls")
    }

    /// PEs of the job.
    ///
    /// # Panics
    /// If no rank calls.
    pub fn pes(&self) -> u32 {
        outside(|outside| outside.pe().1).expect("a rank calls")
    }

    /// The program finished its step `step` (counted from 1): for `--progress` and `--report`. One rank says so.
    ///
    /// # Panics
    /// If no rank calls.
    pub fn step(&self, step: u64) {
        outside(|outside| outside.step(step)).expect("a rank calls");
    }

    /// A result of the program, for `--report`.
    ///
    /// # Panics
    /// If no rank calls.
    pub fn result(&self, name: &str, value: f64) {
        outside(|outside| outside.result(name, value)).expect("a rank calls");
    }

    /// Lets the other ranks of this PE run.
    ///
    /// # Panics
    /// If no rank calls.
    pub fn yield_now(&self) {
        suspend();
    }

    /// Goes on on this PE.
    ///
    /// # Panics
    /// If there is no such PE, or no rank calls.
    pub fn move_to(&self, pe: u32) {
        assert!(pe < self.pes(), "there is no PE {pe}");
        outside(|outside| outside.ask(Wish::Move(pe))).expect("a rank calls");
        suspend();
    }

    /// A good moment for balancing: all ranks call it, and each may be elsewhere afterwards (`AMPI_Migrate`).
    ///
    /// # Errors
    /// If no rank calls.
    #[track_caller]
    pub fn migrate_here_is_good(&self) -> Result<(), Error> {
        outside(|outside| outside.ask(Wish::Balance))?;
        Ok(pause("migrate_here_is_good", Location::caller())?)
    }

    /// A good moment for a checkpoint: all ranks call it, and go on when the job can go back to it.
    ///
    /// # Errors
    /// If no rank calls.
    #[track_caller]
    pub fn checkpoint_here_is_good(&self) -> Result<(), Error> {
        use super::traits::CommunicatorCollectives;
        let world = self.world();
        world.barrier()?;
        if world.rank() == 0 {
            outside(|outside| outside.ask(Wish::Checkpoint))?;
        }
        Ok(pause("checkpoint_here_is_good", Location::caller())?)
    }
}

/// The program's output, from [`Universe::output`].
#[derive(Debug)]
pub struct Output(());

impl Output {
    /// What `write!` and `writeln!` call.
    ///
    /// # Panics
    /// If no rank calls.
    pub fn write_fmt(&mut self, text: fmt::Arguments<'_>) {
        // The program's own values are shown on the rank's heap.
        let text = text.to_string();
        outside(|outside| outside.print(&text)).expect("a rank calls");
    }
}

/// The program's standard error, from [`Universe::errors`].
#[derive(Debug)]
pub struct Errors(());

impl Errors {
    /// What `write!` and `writeln!` call.
    ///
    /// # Panics
    /// If no rank calls.
    pub fn write_fmt(&mut self, text: fmt::Arguments<'_>) {
        // As for the output.
        let text = text.to_string();
        outside(|outside| outside.print_errors(&text)).expect("a rank calls");
    }
}
