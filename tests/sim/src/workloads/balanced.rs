//! Examples whose objects are balanced, whichever way: what they compute does not depend on it.
//!
//! `imbalance` is the example of that name, a stencil with a hot spot that wanders; `gradient` is `leanmd`, denser to one side.

use talisman::rng::Rng;
use talisman::simulation::Plan;

use super::{Checked, Size, examples, leanmd, sync};

#[path = "../../../../examples/imbalance/main.rs"]
#[allow(dead_code, reason = "it is a program of its own, too")]
mod program;

const CHECKS: &[&str] = &["cells differ from the serial loop's", "the objects relaxed"];

/// Cells along each side, for each of which there may be an object: more than a world has PEs.
const GRID: u64 = 40;

pub fn imbalance(seed: u64, size: Size, plan: &Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let plan = balanced(&mut rng, plan);
    let grid = (GRID + rng.below(9)).to_string();
    let steps = (6 * u64::from(size.0) + rng.below(12)).to_string();
    let (lap, sync_every) = ((20 + rng.below(200)).to_string(), (2 + rng.below(4)).to_string());
    let mut words = vec!["--grid", &grid, "--steps", &steps, "--lap", &lap, "--report-every", "7", "--check"];
    words.extend(["--objects-per-pe", if rng.below(2) == 0 { "1" } else { "2" }]);
    words.extend(["--peak", if rng.below(2) == 0 { "3" } else { "30" }]);
    match rng.below(4) {
        0 => words.push("--no-sync"),
        _ => words.extend(["--sync-every", &sync_every]),
    }
    let module = concat!(module_path!(), "::program");
    judged(examples::run(module, &words, CHECKS, &plan, logging))
}

pub fn gradient(seed: u64, size: Size, plan: &Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let plan = balanced(&mut rng, plan);
    let cells = format!("{},{},1", 2 + size.0.min(3), 1 + rng.below(2));
    let atoms = (4 + rng.below(8)).to_string();
    let steps = (3 * u64::from(size.0) + rng.below(6)).to_string();
    let mut words = vec!["--cells", &cells, "--atoms-per-cell", &atoms, "--steps", &steps, "--open"];
    words.extend(["--gradient", "0.8", "--migrate-every", "4", "--energy-every", "3"]);
    words.extend(["--energy-bound", "1e-2", "--check"]);
    // Without, objects are moved in the midst of steps.
    if rng.below(4) > 0 {
        words.extend(["--sync-every", "2"]);
    }
    judged(examples::run(leanmd::MODULE, &words, leanmd::CHECKS, &plan, logging))
}

fn balanced(rng: &mut Rng, plan: &Plan) -> Plan {
    sync::with_options(plan, &sync::balancing(rng, &plan.options))
}

/// Steps of balancing are sound, and who had how much work is no result: that is what balancing changes.
fn judged(mut checked: Checked) -> Checked {
    checked.wrong.extend(sync::wrong_steps(&checked.ran));
    checked.result.retain(|value| !value.contains("max_over_average_ratio"));
    checked
}
