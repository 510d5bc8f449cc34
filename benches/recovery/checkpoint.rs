//! One checkpoint: for how long no entry runs, and how long it takes until everything is held twice.

use talisman::launch::CheckpointTaken;

use crate::common::{Budget, Row, alone, example, row, sample, table};
use crate::copying::{Copied, at_once};
use crate::size::{GB_1, MB_50, MB_100, MB_200, Size};
use crate::{is_smoke, rounds, words};

const ROUNDS: u32 = 3;

/// By size, and by how many nodes share it.
const JOBS: [(Size, u32); 6] = [(MB_50, 4), (MB_100, 4), (MB_200, 4), (GB_1, 4), (MB_200, 2), (MB_200, 8)];

/// Those whose copies are sent, as between hosts: the nodes of one map each other's memory.
const SENT: [(Size, u32); 3] = [(MB_50, 4), (MB_200, 4), (GB_1, 4)];

/// Checkpoints of a job; from the third on there is memory of older ones.
const CHECKPOINTS: u32 = 6;
const FRESH: usize = 2;
/// Steps between two of them.
const STEPS: u32 = 5;

pub fn measure() {
    let jobs = if is_smoke() { &JOBS[..1] } else { &JOBS[..] };
    for _ in 0..rounds(ROUNDS) {
        jobs.iter().for_each(|(size, nodes)| one(*size, *nodes));
    }
    for _ in 0..rounds(ROUNDS) {
        sent_ones().iter().for_each(|(size, nodes)| sent(*size, *nodes));
    }
    let rows = jobs.iter().flat_map(|(size, nodes)| rows(*size, *nodes));
    let sent = sent_ones()
        .iter()
        .map(|(size, nodes)| row(what(*size, *nodes, SENT_COMMIT), Budget::Times(COMMIT_TIMES)));
    let rows: Vec<Row> = rows.chain(sent).collect();
    table("One checkpoint of jacobi3d, of so much in all", "ms", &rows);
    let bytes: Vec<Row> =
        jobs.iter().map(|(size, nodes)| row(what(*size, *nodes, BYTES), Budget::Open)).collect();
    table("What each node keeps of its own, and of another's, of one version", "MB", &bytes);
}

fn sent_ones() -> &'static [(Size, u32)] {
    if is_smoke() { &SENT[..1] } else { &SENT }
}

fn one(size: Size, nodes: u32) {
    let (taken, limit) = taken(size, nodes, "shm");
    let keep = |part: &str, ours: f64, limit: f64| sample(what(size, nodes, part), ours * 1e3, limit * 1e3);
    for (number, checkpoint) in taken.iter().enumerate() {
        let CheckpointTaken { blocked_s, commit_s, bytes, .. } = *checkpoint;
        if number < FRESH {
            keep(BLOCKED_FRESH, blocked_s, limit.fresh_s);
            keep(COMMIT_FRESH, commit_s, limit.fresh_s + limit.sent_s);
        } else {
            keep(BLOCKED, blocked_s, limit.used_s);
            keep(COMMIT, commit_s, limit.used_s + limit.sent_s);
        }
        alone(what(size, nodes, BYTES), bytes as f64 / f64::from(nodes) * 1e-6);
    }
}

fn sent(size: Size, nodes: u32) {
    let (taken, limit) = taken(size, nodes, "tcp");
    for checkpoint in &taken[FRESH..] {
        let (ours, limit) = (checkpoint.commit_s, limit.used_s + limit.tcp_s);
        sample(what(size, nodes, SENT_COMMIT), ours * 1e3, limit * 1e3);
    }
}

/// The checkpoints of a job, and the limit of one: on average before it and after it. Memory that was used a moment ago is found sooner than any other,
/// above all where the machine is a virtual one.
fn taken(size: Size, nodes: u32, transport: &str) -> (Vec<CheckpointTaken>, Copied) {
    let (steps, grid) = (CHECKPOINTS * STEPS + 1, size.options());
    let options = format!(
        "{grid} --steps {steps} --nodes {nodes} --pes 1 --transport {transport} --ft double --ckpt-every {STEPS}steps"
    );
    let before = at_once(nodes, size.bytes() / u64::from(nodes));
    let report = example::report("jacobi3d", words(&options));
    let bytes = report.checkpoints.first().expect("some were committed").bytes;
    (report.checkpoints, before.mean(at_once(nodes, bytes / u64::from(nodes))))
}

const BLOCKED: &str = "blocked | memcpy";
const BLOCKED_FRESH: &str = "blocked, fresh memory | memcpy";
const COMMIT: &str = "to commit | memcpy, transport";
const COMMIT_FRESH: &str = "to commit, fresh memory | the same";
const SENT_COMMIT: &str = "to commit over TCP | memcpy, TCP";
/// At 0.7 of the bandwidth that copying and the transport allow.
const COMMIT_TIMES: f64 = 1.0 / 0.7;
const BYTES: &str = "bytes";

fn rows(size: Size, nodes: u32) -> [Row; 4] {
    let within = |part, times| row(what(size, nodes, part), Budget::Times(times));
    [
        within(BLOCKED, 1.5),
        within(BLOCKED_FRESH, 1.5),
        within(COMMIT, COMMIT_TIMES),
        within(COMMIT_FRESH, COMMIT_TIMES),
    ]
}

fn what(size: Size, nodes: u32, part: &str) -> String {
    format!("{}, {nodes} nodes, {part}", size.name)
}
