//! Ten losses in one run on 128 modelled nodes, as in figures 7 and 8 of the paper.

use std::path::Path;
use std::time::Duration;

use talisman::launch::RunArgs;
use talisman::launch::checkpoints::{CkptEvery, FaultTolerance};
use talisman::simulation::Losses;

use crate::common::{Budget, alone, row, sample, table};
use crate::is_smoke;
use crate::machine::machine;
use crate::molecules::{self, Options};
use crate::plot;

const NODES: u32 = 128;
const LOST: usize = 10;

/// From a loss until the survivors restore: `-- phases` measures less for eight processes that share two cores.
const PAUSE: Duration = Duration::from_millis(10);

const FIGURE: &str = "docs/src/appendix/recovery-crashes.svg";

pub fn measure() {
    let (options, nodes, lost) = if is_smoke() {
        (Options { x: 4, y: 4, z: 4, steps: 120, slower: 1 }, 16, 2)
    } else {
        (Options { x: 7, y: 10, z: 10, steps: 600, slower: 1 }, NODES, LOST)
    };
    let with = RunArgs {
        nodes,
        pes: Some(1),
        balancer: "greedy-refine".into(),
        ft: FaultTolerance::Double,
        ckpt_every: Some(CkptEvery::Steps(10)),
        ..RunArgs::default()
    };
    let (_, quiet) = molecules::run(options, &machine(), &with, &Losses::default());
    let losses = Losses { nodes: losses(&quiet, nodes, lost), pause: PAUSE };
    let (_, shaken) = molecules::run(options, &machine(), &with, &losses);
    sample(TIME, seconds(&shaken), seconds(&quiet));
    alone(STEPS, shaken.len() as f64);
    table("128 modelled nodes lose ten in one run like leanmd", "s", &[row(TIME, Budget::Times(1.5))]);
    let most = f64::from(options.steps) * 7.0 / 6.0;
    table("The same", "steps", &[row(STEPS, Budget::AtMost(most))]);
    if !is_smoke() {
        let lost: Vec<f64> = losses.nodes.iter().map(|(_, at)| at.as_secs_f64()).collect();
        plot::write(Path::new(FIGURE), &shaken, &lost).unwrap_or_else(|error| panic!("{FIGURE}: {error}"));
        println!("{FIGURE}");
    }
}

const TIME: &str = "with ten losses | without";
const STEPS: &str = "steps done, those done again counted";

/// From the end of the first step to the end of the last.
fn seconds(done: &[(u32, Duration)]) -> f64 {
    let ends = done.first().zip(done.last());
    ends.map_or(f64::NAN, |(first, last)| (last.1 - first.1).as_secs_f64())
}

/// Evenly over the run as it would be without, each half way between two checkpoints.
fn losses(quiet: &[(u32, Duration)], nodes: u32, lost: usize) -> Vec<(u32, Duration)> {
    let apart = quiet.len() / (lost + 1) / 10 * 10;
    let mut late = Duration::ZERO;
    let mut all = Vec::new();
    for n in 1..=lost {
        // What the losses before it cost shifts it: some steps again, and the pause.
        let at = quiet[n * apart + 5].1 + late;
        late += PAUSE + (quiet[n * apart + 5].1 - quiet[n * apart].1);
        all.push(((n as u32 * 37 + 3) % nodes, at));
    }
    all
}
