//! What runs of the runtime in simulated worlds are made of: see `docs/simulation.md`.

#![allow(missing_docs, reason = "programs are taken in that document what they do, not each of their parts")]

pub mod coverage;
pub mod oracles;
pub mod scale;
#[cfg(test)]
mod sources;
pub mod workloads;
