//! Runs the runtime in simulated worlds, and looks whether it does what it should: see `tests/sim/README.md`.

use std::process::ExitCode;

use clap::Parser;
use talisman_sim::command_line::CommandLine;

fn main() -> ExitCode {
    match CommandLine::parse().run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}
