//! The example `jacobi3d`: blocks that wait for their neighbours at every step, some of them to a tolerance, with a reduction
//! every few steps whose result all of them get.

use talisman::rng::Rng;
use talisman::simulation::Plan;

use super::{Checked, Size, examples};

#[path = "../../../../examples/jacobi3d/main.rs"]
#[allow(dead_code, reason = "it is a program of its own, too")]
mod program;

const CHECKS: &[&str] = &["cells differ from the serial solver's", "the serial solver ended elsewhere"];

pub fn run(seed: u64, size: Size, plan: &Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let block: [u64; 3] = std::array::from_fn(|_| 1 + rng.below(5));
    // Two or three blocks along each axis, the last of them smaller.
    let grid = block.map(|cells| cells + 1 + rng.below(cells * u64::from(size.0.min(3)).min(2)));
    let steps = (10 * u64::from(size.0) + rng.below(20)).to_string();
    let (grid, block) = (triple(grid), triple(block));
    let mut words = vec!["--grid", &grid, "--block", &block, "--steps", &steps, "--check"];
    if rng.below(2) == 0 {
        words.extend(["--tolerance", "1e-3", "--look-every", "4"]);
    }
    examples::run(concat!(module_path!(), "::program"), &words, CHECKS, plan, logging).with_lines()
}

fn triple(numbers: [u64; 3]) -> String {
    numbers.map(|number| number.to_string()).join(",")
}
