//! Programs in unit tests have a main chare, and with it a `fn main`; nothing calls that.

use std::process::ExitCode;

use crate::chare::MainChare;
use talisman_job::Program;

/// What `#[talisman::main]` calls, with the main chare and what it takes.
///
/// # Panics
/// Always.
pub fn main<C: MainChare, A>(program: Program) -> ExitCode {
    let args = std::any::type_name::<A>();
    panic!("{} with {args} in {} is run by a test", C::name(), program.name)
}
