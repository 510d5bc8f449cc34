//! What it costs to log messages (`--ft logging`), and what is saved after losses: everything beside `--ft off` or `--ft double` in the same
//! round.

use talisman::launch::{Report, ResultValue};

use crate::common::{Budget, Row, alone, example, row, sample, table};
use crate::size::{MB_100, Size};
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

pub fn measure() {
    (0..rounds(ROUNDS)).for_each(|_| messages());
    let rows: Vec<_> =
        SIZES.iter().flat_map(|(bytes, _, budgets)| rows_of_messages(*bytes, *budgets)).collect();
    table("A message from node to node and back, half of it", "µs", &rows);
    (0..rounds(3)).for_each(|_| losses());
    let rows = [
        row(ALL, Budget::Times(1.5)),
        row(ALL_DOUBLE, Budget::Open),
        row(REDONE, Budget::Times(0.2)),
        row(RECOVERY, Budget::Open),
        row(BLOCKED, Budget::Open),
    ];
    table(&format!("{NODES} nodes of jacobi3d that are killed one after another"), "ms", &rows);
    table("The same", "MB", &[row(KEPT, Budget::Open)]);
}

fn messages() {
    for (bytes, usual, _) in SIZES {
        for transport in TRANSPORTS {
            let rounds = if is_smoke() { usual / 20 } else { usual };
            let one_way = |mode: &str| {
                let shape = format!("--nodes 2 --pes 1 --transport {transport} {mode}");
                let report =
                    example::report("pingpong", words(&format!("--bytes {bytes} --rounds {rounds} {shape}")));
                seconds(&report, "one_way_s") * 1e6
            };
            // What is kept is forgotten every few hundred messages, as with a budget.
            let logs = format!("--ft logging {NO_CUTS} --log-budget 256MiB");
            let (ours, limit) = (one_way(&logs), one_way("--ft off"));
            sample(message(bytes, transport), ours, limit);
        }
    }
}

fn rows_of_messages(bytes: u32, budgets: [Budget; 2]) -> [Row; 2] {
    [0, 1].map(|nth| row(message(bytes, TRANSPORTS[nth]), budgets[nth]))
}

fn message(bytes: u32, transport: &str) -> String {
    format!("{bytes} bytes, {transport}, --ft logging | --ft off")
}

const ALL: &str = "seven kills | none, --ft logging";
const ALL_DOUBLE: &str = "seven kills | none, --ft double";
const REDONE: &str = "node-milliseconds done again for a loss, --ft logging | --ft double";
const RECOVERY: &str = "one loss, from known to live, --ft logging | --ft double";
const BLOCKED: &str = "entries wait for a checkpoint, --ft logging | --ft double";

fn losses() {
    let size: Size = MB_100;
    let steps = if is_smoke() { STEPS / 2 } else { STEPS };
    let run = |mode: &str, kills: usize| {
        let apart = steps / (LOST.len() as u32 + 1);
        let kills: String = LOST[..kills]
            .iter()
            .zip(1..)
            .map(|(node, nth)| format!(" --kill {node}@step{}", nth * apart))
            .collect();
        let mode = format!(
            "{} --steps {steps} --nodes {NODES} --pes 1 --ckpt-every {EVERY}steps {mode}{kills}",
            size.options()
        );
        example::report("jacobi3d", words(&mode))
    };
    let [logging, double] =
        ["--ft logging", "--ft double --respawn"].map(|mode| (run(mode, 0), run(mode, LOST.len())));
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
