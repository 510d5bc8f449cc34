//! Runs the runtime in simulated worlds, and looks whether it does what it should: see `docs/simulation.md`.

use clap::Parser;
use talisman_sim::scale;

#[derive(Parser)]
enum Command {
    /// Many nodes and chares in one process
    Scale(scale::Args),
}

fn main() {
    match Command::parse() {
        Command::Scale(args) => scale::main(&args),
    }
}
