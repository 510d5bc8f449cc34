//! Programs in unit tests have a main chare, and with it a `fn main`; nothing calls that.

use std::process::ExitCode;

use crate::chare::MainChare;
use talisman_job::Program;

/// What `#[talisman::main]` calls.
///
/// # Panics
/// Always.
pub fn main<C: MainChare, A>(program: Program) -> ExitCode {
    panic!("{} is run by a test", program.name)
}
