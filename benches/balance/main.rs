//! What load balancing gains, and what it costs: the stencil of `examples/imbalance`, whose hot spot wanders, against the time that its
//! work would take if it were always evenly spread.
//!
//! `cargo build --profile bench --examples && cargo bench --bench balance`, or a part of it: `-- modelled` (4 nodes on the model of a
//! machine: exact, the same in every run), `speeds` (a PE at half speed), `guest` (others want a PE's core, at times), `real`
//! (processes on this machine), `rival` (processes, and one that competes with them for a core), `barrier` (how even the
//! machine's own cores are). `--smoke` takes fewer steps, `--check` ends with status 1 if a budget is missed.

// Of the example's modules the benchmark needs a part; their tests are compiled here too, but not run.
#![allow(dead_code, unused_imports)]

#[path = "../../examples/imbalance/cut.rs"]
mod cut;
#[path = "../../examples/imbalance/hot_spot.rs"]
mod hot_spot;
#[path = "../../examples/imbalance/tally.rs"]
mod tally;

#[path = "../common/machine.rs"]
mod machine;

mod barrier;
mod figures;
mod guest;
mod modelled;
mod real;
mod rival;
mod skeleton;
mod speeds;

use std::process::ExitCode;

/// Measures and prints; whether the budgets are kept.
type Measure = fn() -> bool;

fn main() -> ExitCode {
    let parts: [(&str, Measure); 6] = [
        ("modelled", modelled::measure),
        ("speeds", speeds::measure),
        ("guest", guest::measure),
        ("real", real::measure),
        ("rival", rival::measure),
        ("barrier", barrier::measure),
    ];
    let kept: Vec<bool> =
        parts.into_iter().filter(|(name, _)| wanted(name)).map(|(_, measure)| measure()).collect();
    let all_kept = kept.into_iter().all(|kept| kept);
    if all_kept || !has_flag("--check") { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether a part is to be measured: all are if none is named.
fn wanted(part: &str) -> bool {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    words.is_empty() || words.iter().any(|word| part.contains(word.as_str()))
}

/// Whether a flag was given on the command line.
fn has_flag(flag: &str) -> bool {
    std::env::args().any(|word| word == flag)
}

/// As many steps, or a tenth of them with `--smoke` on the command line: to see whether all goes.
fn steps(usual: u32) -> u32 {
    if has_flag("--smoke") { usual / 10 } else { usual }
}
