//! Runs the runtime in simulated worlds, and looks whether it does what it should: see `docs/simulation.md`.

#[allow(dead_code, reason = "the sweep will read it")]
mod coverage;
#[cfg(test)]
mod sources;
#[allow(dead_code, reason = "runs are not yet drawn from seeds here")]
mod oracles;

fn main() {}
