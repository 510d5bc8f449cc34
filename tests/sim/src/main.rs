//! Runs the runtime in simulated worlds, and looks whether it does what it should: see `docs/simulation.md`.

#[allow(dead_code, reason = "the sweep will read it")]
mod coverage;
#[allow(dead_code, reason = "the sweep will read it")]
mod mutations;
#[cfg(test)]
mod sources;

fn main() {}
