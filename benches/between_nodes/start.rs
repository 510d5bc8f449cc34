//! Starting and ending a job: one that ends with any of its nodes, and one that survives losses, for which a process more is started.

use std::process::{Child, Command, ExitCode};

use rustix::time::{ClockId, clock_gettime};
use talisman::prelude::*;

use crate::common::{Budget, Row, nanos, row, sample, table};
use crate::job::{Job, TRANSPORTS, Transport, rounds};

pub const PROGRAM: &str = "@start";
/// Does nothing: the limit of a process.
pub const NOTHING: &str = "@nothing";

const ROUNDS: u32 = 11;
const NODES: u32 = 8;
/// The nodes, and what starts them.
const PROCESSES: u32 = NODES + 1;
/// Of `--ft`.
const MODES: [&str; 2] = ["off", "double"];

pub fn measure() {
    for _ in 0..rounds(ROUNDS) {
        for (transport, ft) in kinds() {
            one(transport, ft);
        }
    }
    let at_most = |what| row(what, Budget::AtMost(100.0));
    let rows: Vec<Row> = kinds()
        .flat_map(|(transport, ft)| [at_most(start(transport, ft)), at_most(exit(transport, ft))])
        .collect();
    table("Starting and ending 8 nodes", "ms", &rows);
}

fn kinds() -> impl Iterator<Item = (Transport, &'static str)> {
    TRANSPORTS.into_iter().flat_map(|transport| MODES.map(|ft| (transport, ft)))
}

fn one(transport: Transport, ft: &str) {
    let begin = clock_ms();
    let options = vec!["--ft".to_owned(), ft.to_owned()];
    let printed = Job { program: PROGRAM, nodes: NODES, transport, options }.run();
    let end = clock_ms();
    let times: Vec<f64> = printed.split_whitespace().map(|word| word.parse().expect("a time")).collect();
    let [first, last] = times[..] else { panic!("it prints two times, not {printed}") };
    let limit = as_many_processes_ms();
    sample(start(transport, ft), first - begin, limit);
    sample(exit(transport, ft), end - last, limit);
}

fn start(transport: Transport, ft: &str) -> String {
    format!("start of 8 nodes to the first line of main, {transport}, --ft {ft} | 9 processes")
}

fn exit(transport: Transport, ft: &str) -> String {
    format!("end of main to the end of the job, {transport}, --ft {ft} | 9 processes")
}

/// Milliseconds until as many processes have started and ended that do nothing.
fn as_many_processes_ms() -> f64 {
    let start = nanos();
    let me = std::env::current_exe().expect("the system tells");
    let spawn = |_| Command::new(&me).arg(NOTHING).spawn().expect("this program can be started again");
    let mut all: Vec<Child> = (0..PROCESSES).map(spawn).collect();
    all.iter_mut().for_each(|child| assert!(child.wait().expect("it is ours").success()));
    (nanos() - start) as f64 / 1e6
}

/// Milliseconds on a clock that all processes share.
fn clock_ms() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}

pub fn program() -> ExitCode {
    main()
}

#[derive(clap::Parser, Pup)]
struct Options {
    program: String,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let first = clock_ms();
    drop(options);
    writeln!(cx.output(), "{first}");
    writeln!(cx.output(), "{}", clock_ms());
}
