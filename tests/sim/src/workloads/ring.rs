//! The example `ring`: one message after the other, for three milliseconds and more. Whatever delays one delays the program.

use talisman::rng::Rng;
use talisman::simulation::Plan;

use super::{Checked, Size, examples};

#[path = "../../../../examples/ring.rs"]
#[allow(dead_code, reason = "it is a program of its own, too")]
mod program;

const CHECKS: &[&str] = &["members saw the token"];

pub fn run(seed: u64, size: Size, plan: &Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let members = 2 + rng.below(12);
    let laps = (1 + u64::from(size.0) * 200 / members).to_string();
    let words = ["--members", &members.to_string(), "--laps", &laps];
    examples::run(concat!(module_path!(), "::program"), &words, CHECKS, plan, logging)
}
