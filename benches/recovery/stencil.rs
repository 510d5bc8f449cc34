//! Figures 5 and 6 of "A Fault Tolerant Protocol for Massively Parallel Systems" (Chakravorty, Kalé 2004): what it costs to log messages
//! while nobody is lost, where little is communicated and where much is. Beside `--ft off` in the same round.
//!
//! Their program is a stencil of five points, cut along one dimension: `jacobi3d` with a grid one cell thick. On one node nothing is logged.

use crate::common::{Budget, Row, example, row, sample, table};
use crate::{is_smoke, rounds, words};

const ROUNDS: u32 = 3;
/// A run without faults takes about so long, in µs: the paper's took 300 s, with a checkpoint each 100 s.
const RUN_US: f64 = 2e6;
const NODES: [u32; 4] = [1, 2, 4, 8];
const OBJECTS: [u32; 2] = [1, 8];
/// More steps than there are.
const NO_CUTS: &str = "--ckpt-every 1000000000steps";

/// How much is computed for what is communicated.
struct Ratio {
    figure: &'static str,
    name: &'static str,
    /// Cells along both axes, the second of which is cut.
    grid: [u32; 2],
    steps: u32,
    /// Times the time of `--ft off`, with one and eight objects for each PE.
    budgets: [Budget; 2],
}

const RATIOS: [Ratio; 2] = [
    Ratio {
        figure: "5",
        name: "low communication",
        grid: [1024, 2048],
        steps: 60,
        budgets: [Budget::Times(1.05), Budget::Times(1.05)],
    },
    Ratio {
        figure: "6",
        name: "high communication",
        grid: [128, 1024],
        steps: 600,
        budgets: [Budget::Open, Budget::Times(1.15)],
    },
];

/// Programs at both ratios, eight objects for each PE of four nodes, with the steps of a usual run.
const PROGRAMS: [(&str, &str, u32, Budget); 4] = [
    ("jacobi3d, low", "--grid 128,128,128 --block 64,32,32", 60, Budget::Times(1.05)),
    ("jacobi3d, high", "--grid 32,32,32 --block 16,8,8", 600, Budget::Times(1.15)),
    ("leanmd, low", "--cells 4,4,2 --atoms-per-cell 60", 20, Budget::Times(1.05)),
    ("leanmd, high", "--cells 4,4,2 --atoms-per-cell 4", 200, Budget::Times(1.15)),
];
const PROGRAM_NODES: u32 = 4;

pub fn measure() {
    for _ in 0..rounds(ROUNDS) {
        for ratio in &RATIOS {
            NODES
                .into_iter()
                .for_each(|nodes| OBJECTS.into_iter().for_each(|objects| stencil(ratio, nodes, objects)));
        }
        PROGRAMS.iter().for_each(|(name, options, steps, _)| program(name, options, *steps));
    }
    for ratio in &RATIOS {
        let title = format!(
            "Figure {}: a stencil of five points, cut along one dimension, {}",
            ratio.figure, ratio.name
        );
        let rows: Vec<Row> = OBJECTS
            .iter()
            .zip(ratio.budgets)
            .flat_map(|(objects, budget)| NODES.map(|nodes| (nodes, *objects, budget)))
            .flat_map(|(nodes, objects, budget)| {
                let what = of_stencil(ratio, nodes, objects);
                [row(format!("{what}, {WITHOUT}"), budget), row(format!("{what}, {WITH}"), budget)]
            })
            .collect();
        table(&title, "µs a step", &rows);
    }
    let rows: Vec<Row> = PROGRAMS
        .iter()
        .flat_map(|(name, _, _, budget)| [WITHOUT, WITH].map(|mode| row(format!("{name}, {mode}"), *budget)))
        .collect();
    table(&format!("Figure 6, of other programs on {PROGRAM_NODES} nodes"), "µs a step", &rows);
}

const WITHOUT: &str = "logging, no checkpoints | off";
const WITH: &str = "logging, checkpoints | off";

fn of_stencil(ratio: &Ratio, nodes: u32, objects: u32) -> String {
    format!("{}, {nodes} nodes, {objects} a PE", ratio.name)
}

fn stencil(ratio: &Ratio, nodes: u32, objects: u32) {
    let [x, y] = ratio.grid;
    let options = format!("--grid {x},{y},1 --block {x},{},1", y / (nodes * objects));
    if nodes > 1 {
        three_ways(&of_stencil(ratio, nodes, objects), "jacobi3d", &options, ratio.steps, nodes);
    }
}

fn program(name: &str, options: &str, steps: u32) {
    let program = name.split(',').next().unwrap_or(name);
    three_ways(name, program, options, steps, PROGRAM_NODES);
}

/// Off, with logs and no checkpoint, and with three; of so many steps, or as many as a run has.
fn three_ways(what: &str, program: &str, options: &str, steps: u32, nodes: u32) {
    let run = |steps: u32, mode: &str| {
        let options = format!("{options} --steps {steps} --nodes {nodes} --pes 1 {mode}");
        example::reported_us(program, words(&options))
    };
    let steps = match is_smoke() {
        true => steps / 5,
        false => steps.max((RUN_US / run(steps, "--ft off")) as u32),
    };
    let with = |mode: &str| run(steps, mode);
    let off = with("--ft off");
    sample(format!("{what}, {WITHOUT}"), with(&format!("--ft logging {NO_CUTS}")), off);
    sample(
        format!("{what}, {WITH}"),
        with(&format!("--ft logging --ckpt-every {}steps", (steps / 3).max(1))),
        off,
    );
}
