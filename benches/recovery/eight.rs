//! Eight checkpoints in a hundred steps of `jacobi3d`, as in figure 3 of the paper.

use crate::common::{Budget, example, row, sample, table};
use crate::copying::at_once;
use crate::size::{GB_1, MB_50, MB_200, Size};
use crate::{is_smoke, rounds, words};

const ROUNDS: u32 = 9;
const NODES: u32 = 4;
const CHECKPOINTS: u32 = 8;

pub fn measure() {
    let sizes = if is_smoke() { &[MB_50][..] } else { &[MB_50, MB_200, GB_1][..] };
    // One size after the other: what a run gives back, the next one of its size has.
    for size in sizes {
        (0..rounds(ROUNDS)).for_each(|_| one(*size));
    }
    let rows: Vec<_> = sizes
        .iter()
        .flat_map(|size| {
            [
                row(what(*size, OURS), Budget::Times(1.05)),
                row(what(*size, COPIES), Budget::Open),
                row(what(*size, BEYOND), Budget::Open),
            ]
        })
        .collect();
    table("Eight checkpoints in a hundred steps of jacobi3d, 4 nodes: all of it", "ms", &rows);
}

const OURS: &str = "with checkpoints | without";
const COPIES: &str = "with only their copies made | without";
const BEYOND: &str = "with checkpoints | with only their copies made";

fn one(size: Size) {
    let with = |mode: &str| {
        let options = format!("{} --steps 100 --nodes {NODES} --pes 1 {mode}", size.options());
        example::report("jacobi3d", words(&options))
    };
    let (ours, without) = (with("--ft double --ckpt-every 12steps"), with("--ft off"));
    let taken = ours.checkpoints.len() as u32;
    assert!(taken >= CHECKPOINTS - 1, "{taken} checkpoints of {CHECKPOINTS} were committed before the end");
    let ms = |report| example::per_step_s(report) * 100.0 * 1e3;
    sample(what(size, OURS), ms(&ours), ms(&without));
    let bytes = ours.checkpoints[0].bytes;
    let limit = at_once(NODES, bytes / u64::from(NODES));
    let copies = f64::from(taken) * (limit.used_s + limit.sent_s) * 1e3;
    sample(what(size, COPIES), ms(&without) + copies, ms(&without));
    sample(what(size, BEYOND), ms(&ours), ms(&without) + copies);
}

fn what(size: Size, part: &str) -> String {
    format!("{}, {part}", size.name)
}
