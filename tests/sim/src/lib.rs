//! Swarms of simulated runs: what a seed stands for, how its run may end, and what is done with one that ends otherwise.
//!
//! ```text
//! seed ─► case ─► calm run ─┬─► verdict ─► table
//!                faulty run ┘       └─► shrink ─► the line that replays it
//! ```
//!
//! `tests/sim/README.md` tells what is simulated, and how to read what is printed.

#![allow(clippy::duplicate_mod, reason = "examples that are taken in have a file in common")]

pub mod case;
pub mod ci;
pub mod command_line;
pub mod coverage;
pub mod crash_points;
pub mod ends;
pub mod memory;
pub mod mutation_check;
pub mod mutations;
pub mod oracles;
pub mod played;
pub mod pool;
pub mod rare;
pub mod regressions;
pub mod replay;
pub mod run;
pub mod scale;
pub mod shrink;
#[cfg(test)]
mod sources;
pub mod swarm;
pub mod table;
pub mod traces;
pub mod verdict;
#[allow(missing_docs, reason = "programs tell in their documents what they do, not each of their parts")]
pub mod workloads;
