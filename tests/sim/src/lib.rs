//! What runs of the runtime in simulated worlds are made of: see `docs/simulation.md`.

#![allow(
    missing_docs,
    reason = "programs that are taken in say what they do, not what each of their parts is"
)]
#![allow(clippy::duplicate_mod, reason = "examples that are taken in have a file in common")]

pub mod workloads;
