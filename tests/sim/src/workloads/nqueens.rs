//! The example `nqueens`: chares by the hundred, each made, run and gone, until nothing is left.

use talisman::rng::Rng;
use talisman::simulation::Plan;

use super::{Checked, Size, examples};

#[path = "../../../../examples/nqueens/main.rs"]
#[allow(dead_code, reason = "it is a program of its own, too")]
mod program;

const CHECKS: &[&str] = &["the published number is", "chares were created and"];

pub fn run(seed: u64, size: Size, plan: &Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let queens = (5 + size.0).min(10);
    let grain = 2 + rng.below(3);
    let words = ["--queens", &queens.to_string(), "--grain", &grain.to_string()];
    examples::run(concat!(module_path!(), "::program"), &words, CHECKS, plan, logging)
}
