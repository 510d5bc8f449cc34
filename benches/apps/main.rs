//! What the runtime costs a whole program, on one PE: time per step of the example programs against a plain loop that does the
//! same arithmetic.
//!
//! `cargo build --profile bench --examples && cargo bench --bench apps`. For jacobi3d there are two: one
//! without blocks, and one over the same blocks that copies their faces by hand; what is more than the latter is the runtime's.
//! Parts: `-- jacobi3d`, `-- leanmd`, `-- structure`, `-- states`.

#[path = "../common/mod.rs"]
mod common;

mod jacobi3d;
mod leanmd;
mod states;

use std::path::Path;

use common::{Budget, CHARM, Row, example, row, table, wanted};

const JACOBI_16: &str = "jacobi3d 64³, blocks of 4,096 cells | one loop";
const JACOBI_32: &str = "jacobi3d 64³, blocks of 32,768 cells | one loop";
const CUT_16: &str = "… | loop over such blocks, faces copied by hand (4,096)";
const CUT_32: &str = "… | loop over such blocks, faces copied by hand (32,768)";
const ASYNC_16: &str = "jacobi3d with async entries, 4,096 | states by hand";
const ASYNC_8: &str = "jacobi3d with async entries, 512 | states by hand";
const LEANMD: &str = "leanmd, 4³ cells of 100 atoms | one loop";
const PROTEIN: &str = "leanmd, a protein in water | one loop";
const FLUID_PAIR: [&str; 2] = ["fluid, one loop", "fluid, whole program"];
const PROTEIN_PAIR: [&str; 2] = ["protein in water, one loop", "protein in water, whole program"];

const ROUNDS: usize = 15;

/// Nanoseconds that LeanMD takes in Charm++.
const CHARM_PAIR: f64 = 2.4;

/// The structure that LeanMD is often run with, if it is there.
const STRUCTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/5dfr_solv-cube_equil.pdb");

fn main() {
    for _ in 0..ROUNDS {
        if wanted("jacobi3d") {
            jacobi3d::measure(JACOBI_16, CUT_16, 16);
            jacobi3d::measure(JACOBI_32, CUT_32, 32);
        }
        if wanted("leanmd") {
            leanmd::measure(LEANMD, FLUID_PAIR, None);
        }
        if wanted("structure") && Path::new(STRUCTURE).exists() {
            leanmd::measure(PROTEIN, PROTEIN_PAIR, Some(Path::new(STRUCTURE)));
        }
        if wanted("states") {
            states::measure(ASYNC_16, 16);
            states::measure(ASYNC_8, 8);
        }
    }
    let budget = Budget::Times(1.05);
    let rows = [
        row(JACOBI_16, Budget::Open),
        row(CUT_16, budget),
        row(JACOBI_32, Budget::Open),
        row(CUT_32, budget),
        row(ASYNC_16, Budget::Times(1.1)),
        row(ASYNC_8, Budget::Open),
        row(LEANMD, budget),
        row(PROTEIN, budget),
    ];
    table("Whole programs on one PE", "µs per step", &rows);
    let pair = |what| row(what, Budget::AtMost(CHARM_PAIR)).beside(CHARM, CHARM_PAIR);
    let pairs: Vec<Row> = [FLUID_PAIR, PROTEIN_PAIR].into_iter().flatten().map(pair).collect();
    table("leanmd on one PE", "ns per tested pair of atoms", &pairs);
}

/// Microseconds per step on one PE.
fn reported_us(example: &str, arguments: &[String]) -> f64 {
    let one_pe = ["--pes", "1"].map(String::from);
    example::reported_us(example, arguments.iter().chain(&one_pe))
}
