//! The wandering hot spot on four nodes of one PE, on the model of a machine.

use super::figures::{Budget, Figures, table};
use super::machine::machine;
use super::skeleton::{self, NODES, Options, figures, with};
use super::steps;

/// What the issue asks of each.
const BALANCERS: [(&str, Budget); 11] = [
    ("off", Budget { time_least: Some(2.0), ..OPEN }),
    ("greedy", Budget { time: Some(1.15), after: Some(1.05), ..OPEN }),
    (
        "greedy-refine",
        Budget { time: Some(1.15), after: Some(1.10), moved: Some(0.15), time_least: None, over_busy: None },
    ),
    ("refine", OPEN),
    ("comm", OPEN),
    ("rcb", OPEN),
    ("sfc", OPEN),
    ("graph", OPEN),
    ("diffusion", OPEN),
    ("gossip", OPEN),
    ("hierarchical", OPEN),
];

const OPEN: Budget = Budget { time: None, over_busy: None, time_least: None, after: None, moved: None };

pub fn measure() -> bool {
    let options = Options { steps: steps(400), ..Options::default() };
    let rows: Vec<(Figures, Budget)> = BALANCERS
        .into_iter()
        .filter(|(name, _)| is_known(name))
        .map(|(name, budget)| {
            let outcome = skeleton::run(options, &machine(), &with(name));
            (figures(name, &outcome, f64::from(NODES)), budget)
        })
        .collect();
    table(
        "Modelled: a hot spot that wanders, 4 nodes of one PE, 64 objects each, 10 steps between two points",
        &rows,
    )
}

fn is_known(name: &str) -> bool {
    name == "off" || talisman::lb::strategies::by_name(name).is_ok()
}
