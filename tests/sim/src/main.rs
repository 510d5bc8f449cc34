//! Runs the runtime in simulated worlds, and looks whether it does what it should: see `docs/simulation.md`.

fn main() {}
