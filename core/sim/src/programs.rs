//! The programs in this executable, to be started in a simulated world as from a command line.
//!
//! A program's main chare and options are private to it. With the feature `programs` its `#[talisman::main]` leaves an
//! entry in a list, so that whole programs can be taken in as modules and run unchanged.

use super::{Plan, Ran, simulate};
use talisman_core::chare::{Args, MainChare};
use talisman_job::command_line::{self, ProgramArgs};

/// A program of this executable.
pub struct Program {
    module: &'static str,
    run: fn(&[&str], &Plan, bool) -> Result<Ran, String>,
}

inventory::collect!(Program);

impl Program {
    /// The program in this module, with its main chare and the arguments of that.
    pub const fn of<C: MainChare, A: ProgramArgs + Args + Send>(module: &'static str) -> Self {
        Program { module, run: run_words::<C, A> }
    }
}

/// Runs the program of a module with these words of its command line. `logging`: the log has all events.
///
/// # Errors
/// No program is in that module, or the words are no command line for it.
pub fn run_program(module: &str, words: &[&str], plan: &Plan, logging: bool) -> Result<Ran, String> {
    let program = inventory::iter::<Program>().find(|program| program.module == module);
    let program = program.ok_or_else(|| format!("no program is in the module {module}"))?;
    (program.run)(words, plan, logging)
}

fn run_words<C: MainChare, A: ProgramArgs + Args + Send>(
    words: &[&str],
    plan: &Plan,
    logging: bool,
) -> Result<Ran, String> {
    let words = ["program"].iter().chain(words);
    let (_, args) =
        command_line::parse_from::<A>(&talisman_job::program!(), words).map_err(|e| e.to_string())?;
    Ok(simulate::<C>(args, plan, logging))
}

/// Puts a program on the list.
#[doc(hidden)]
#[cfg(feature = "programs")]
#[macro_export]
macro_rules! known_program {
    ($main:ty, ($($args:ty,)*)) => {
        $crate::inventory::submit! { $crate::Program::of::<$main, ($($args,)*)>(module_path!()) }
    };
}

/// There is no list.
#[doc(hidden)]
#[cfg(not(feature = "programs"))]
#[macro_export]
macro_rules! known_program {
    ($main:ty, ($($args:ty,)*)) => {};
}
