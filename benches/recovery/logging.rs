//! What it costs to log messages (`--ft logging`), and what is saved after losses: everything beside `--ft off` or `--ft double` in the same
//! round.

use talisman::launch::{Report, ResultValue};

use crate::common::{Budget, Row, alone, example, row, sample, table};
use crate::size::{MB_100, MB_128, Size};
use crate::{is_smoke, rounds, words};

const ROUNDS: u32 = 9;
/// More steps than there are.
const NO_CUTS: &str = "--ckpt-every 1000000000steps";
const TRANSPORTS: [&str; 2] = ["tcp", "shm"];
/// Bytes of a message, round trips, and how much longer it may take over TCP and through memory.
const SIZES: [(u32, u32, [Budget; 2]); 4] = [
    (8, 20_000, [Budget::Times(1.10), Budget::Times(1.25)]),
    (1 << 10, 20_000, [Budget::Times(1.10), Budget::Times(1.20)]),
    (8 << 10, 10_000, [Budget::Open, Budget::Times(1.30)]),
    (1 << 20, 300, [Budget::Times(1.10), Budget::Times(1.10)]),
];
const NODES: u32 = 8;
/// Who is lost, in this order: none with its keeper.
const LOST: [u32; 7] = [1, 4, 6, 2, 7, 3, 5];
const STEPS: u32 = 200;
const EVERY: u32 = 20;

/// Ways to log. What waits for others takes longer, and is sent less often.
const VARIANTS: [(&str, u32); 3] = [("logging", 1), ("logging:strict", 10), ("logging:ticket", 10)];

pub fn messages() {
    (0..rounds(ROUNDS)).for_each(|_| to_and_fro());
    let of_variant = |(variant, _): (&'static str, u32)| {
        let rows =
            SIZES.iter().flat_map(move |(bytes, _, budgets)| rows_of_messages(*bytes, variant, *budgets));
        rows.collect::<Vec<_>>()
    };
    let rows: Vec<_> = VARIANTS.into_iter().flat_map(of_variant).collect();
    table("A message from node to node and back, half of it", "µs", &rows);
}

pub fn losses() {
    (0..rounds(3)).for_each(|_| seven());
    curve();
    let rows = [
        row(ALL, Budget::Times(1.5)),
        row(ALL_DOUBLE, Budget::Open),
        row(REDONE, Budget::Times(0.2)),
        row(RECOVERY, Budget::Open),
        row(BLOCKED, Budget::Open),
    ];
    table(&format!("{NODES} nodes of jacobi3d that are killed one after another"), "ms", &rows);
    table("The same", "MB", &[row(KEPT, Budget::Open)]);
    let of_kills = |mode: &'static str| {
        (1..=LOST.len()).map(move |kills| row(of_curve(kills, mode), Budget::Times(1.5)))
    };
    let rows: Vec<_> = ["logging", "double"].into_iter().flat_map(of_kills).collect();
    table(&format!("Figure 7: {NODES} nodes of jacobi3d, 16 MB each"), "ms", &rows);
    kept_over_time();
}

fn to_and_fro() {
    for (bytes, usual, _) in SIZES {
        for (variant, fewer) in VARIANTS {
            for transport in TRANSPORTS {
                one_message(
                    bytes,
                    (usual / fewer / if is_smoke() { 20 } else { 1 }).max(5),
                    transport,
                    variant,
                );
            }
        }
    }
}

fn one_message(bytes: u32, rounds: u32, transport: &str, variant: &str) {
    let one_way = |mode: &str| {
        let shape = format!("--nodes 2 --pes 1 --transport {transport} {mode}");
        let report =
            example::report("pingpong", words(&format!("--bytes {bytes} --rounds {rounds} {shape}")));
        seconds(&report, "one_way_s") * 1e6
    };
    // What is kept is forgotten every few hundred messages, as with a budget.
    let logs = format!("--ft {variant} {NO_CUTS} --log-budget 256MiB");
    let (ours, limit) = (one_way(&logs), one_way("--ft off"));
    sample(message(bytes, transport, variant), ours, limit);
}

fn rows_of_messages(bytes: u32, variant: &'static str, budgets: [Budget; 2]) -> [Row; 2] {
    [0, 1].map(|nth| {
        // The others are there to be compared with.
        let budget = if variant == VARIANTS[0].0 { budgets[nth] } else { Budget::Open };
        row(message(bytes, TRANSPORTS[nth], variant), budget)
    })
}

fn message(bytes: u32, transport: &str, variant: &str) -> String {
    format!("{bytes} bytes, {transport}, --ft {variant} | --ft off")
}

const ALL: &str = "seven kills | none, --ft logging";
const ALL_DOUBLE: &str = "seven kills | none, --ft double";
const REDONE: &str = "node-milliseconds done again for a loss, --ft logging | --ft double";
const RECOVERY: &str = "one loss, from known to live, --ft logging | --ft double";
const BLOCKED: &str = "entries wait for a checkpoint, --ft logging | --ft double";

/// One run that loses so many, evenly over it.
fn run(size: Size, mode: &str, kills: usize) -> Report {
    let steps = if is_smoke() { STEPS / 2 } else { STEPS };
    let apart = steps / (LOST.len() as u32 + 1);
    let kills = LOST[..kills].iter().zip(1..);
    let kills: String = kills.map(|(node, nth)| format!(" --kill {node}@step{}", nth * apart)).collect();
    let mode = format!(
        "{} --steps {steps} --nodes {NODES} --pes 1 --ckpt-every {EVERY}steps {mode}{kills}",
        size.options()
    );
    example::report("jacobi3d", words(&mode))
}

/// Figure 7, from one loss to seven, beside none.
fn curve() {
    for (name, mode) in [("logging", "--ft logging"), ("double", "--ft double --respawn")] {
        let none = run(MB_128, mode, 0).wall_s * 1e3;
        for kills in 1..=LOST.len() {
            sample(of_curve(kills, name), run(MB_128, mode, kills).wall_s * 1e3, none);
        }
    }
}

fn of_curve(kills: usize, mode: &str) -> String {
    format!("{kills} kills | none, --ft {mode}")
}

/// Steps after which it is looked how much is kept.
const LOOKED_AT: [u32; 5] = [25, 50, 100, 200, 400];

/// What a node keeps of messages and logs grows with its messages, until a checkpoint, and with a budget no further than that.
fn kept_over_time() {
    let most = |steps: u32, mode: &str| {
        let options = format!("--grid 64,64,64 --block 32,32,16 --steps {steps} --nodes 4 --pes 1");
        let report = example::report("jacobi3d", words(&format!("{options} --ft logging {mode}")));
        report.logging.iter().map(|kept| kept.bytes_max).max().unwrap_or(0) as f64 / 1e6
    };
    for steps in LOOKED_AT {
        sample(of_kept(steps), most(steps, &format!("{NO_CUTS} --log-budget 8MiB")), most(steps, NO_CUTS));
    }
    let rows = LOOKED_AT.map(|steps| row(of_kept(steps), Budget::AtMost(8.389)));
    table("Most that a node keeps of messages and logs", "MB", &rows);
}

fn of_kept(steps: u32) -> String {
    format!("jacobi3d, 4 nodes, {steps} steps, --log-budget 8MiB | none")
}

fn seven() {
    let [logging, double] = ["--ft logging", "--ft double --respawn"]
        .map(|mode| (run(MB_100, mode, 0), run(MB_100, mode, LOST.len())));
    sample(ALL, logging.1.wall_s * 1e3, logging.0.wall_s * 1e3);
    sample(ALL_DOUBLE, double.1.wall_s * 1e3, double.0.wall_s * 1e3);
    // What one node does again takes no longer than until it is live; of the others, all do it.
    let recovery =
        |report: &Report| mean(report.failures.iter().filter_map(|failure| failure.recover_s)) * 1e3;
    let step_ms = example::per_step_s(&double.0) * 1e3;
    let redone =
        mean(double.1.failures.iter().filter_map(|failure| failure.steps_redone).map(|steps| steps as f64));
    sample(REDONE, recovery(&logging.1), redone * step_ms * f64::from(NODES));
    sample(RECOVERY, recovery(&logging.1), recovery(&double.1));
    let blocked = |report: &Report| mean(report.checkpoints.iter().map(|taken| taken.blocked_s)) * 1e3;
    sample(BLOCKED, blocked(&logging.0), blocked(&double.0));
    let kept = logging.0.logging.iter().map(|kept| kept.bytes_max).max().unwrap_or(0);
    alone(KEPT, kept as f64 / 1e6);
}

const KEPT: &str = "most that a node keeps";

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let all: Vec<f64> = values.collect();
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

fn seconds(report: &Report, name: &str) -> f64 {
    match report.results.value(name) {
        Some(ResultValue::F64(seconds)) => *seconds,
        other => panic!("the program reports `{name}`, not {other:?}"),
    }
}
