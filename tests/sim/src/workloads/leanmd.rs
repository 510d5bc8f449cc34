//! The example `leanmd`: a dense and a sparse array, elements inserted by elements, and each message of a cell to many pairs.

use talisman::rng::Rng;
use talisman::simulation::Plan;

use super::{Checked, Size, examples};

#[path = "../../../../examples/leanmd/main.rs"]
#[allow(dead_code, reason = "it is a program of its own, too")]
mod program;

pub(super) const MODULE: &str = concat!(module_path!(), "::program");

pub(super) const CHECKS: &[&str] = &[
    "differ from the serial simulation's",
    "in the serial simulation",
    "the total energy changed",
    "that cutoff and skin allow",
];

pub fn run(seed: u64, size: Size, plan: &Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let mut cells = [1; 3];
    (0..size.0.min(4)).for_each(|_| cells[rng.below(3) as usize] += 1);
    let cells = cells.map(|cells: u64| cells.to_string()).join(",");
    let atoms = (3 + rng.below(8)).to_string();
    let steps = (3 * u64::from(size.0) + rng.below(6)).to_string();
    let mut words = vec!["--cells", &cells, "--atoms-per-cell", &atoms, "--steps", &steps];
    words.extend(["--migrate-every", "4", "--energy-every", "3", "--energy-bound", "1e-2", "--check"]);
    if rng.below(2) == 0 {
        words.push("--open");
    }
    examples::run(MODULE, &words, CHECKS, plan, logging).with_lines()
}
