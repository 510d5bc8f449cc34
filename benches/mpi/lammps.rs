//! LAMMPS as a distribution ships it, built for Open MPI: under that, and under `talisman mpirun`.
//!
//! Its own clock says how long its steps take ("Loop time"); what is loaded, begun and ended is measured from outside.

use std::time::Instant;

use talisman::launch::Report;

use crate::common::{Budget, alone, median_of, row, sample, table};
use crate::executables::mpirun;
use crate::job::rounds;
use crate::systems::{self, SYSTEMS};

/// The bench of LAMMPS's own that is called `lj`, by options of `tests/mpirun/programs/in.lj`.
const INPUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/mpi/in.lj");
const ROUNDS: u32 = 5;
const STEPS: u32 = 200;

const PAIR: &str = "`lmp`, 2 ranks on two nodes | Open MPI";
const SIXTEEN: &str = "`lmp`, 16 ranks on two nodes | 2 ranks on two nodes";
const SIXTEEN_THERE: &str = "`lmp` with 16 ranks under Open MPI";
const LOADED: &str = "`lmp`, loaded, begun and ended, each rank more";
const KNOWN: &str = "`lmp`, killed to known";
const RUNNING: &str = "`lmp`, killed to running again";
const MANY: &str = "`lmp`, 500 ranks in a node: one step";

/// Ranks that a process begins with, and those that are loaded beside them.
const FEW: u32 = 1;
const MORE: u32 = 65;

pub fn measure() {
    if let Err(why) = run(&mpirun(&["-n", "1"]), 0) {
        return println!("LAMMPS skipped: {why}");
    }
    for _ in 0..rounds(ROUNDS) {
        let [pair, sixteen] = ["2", "16"].map(|ranks| {
            let ours = loop_s(&mpirun(&["-n", ranks, "--nodes", "2"]));
            (ours, loop_s(&elsewhere(ranks)))
        });
        sample(PAIR, pair.0, pair.1);
        sample(SIXTEEN, sixteen.0, pair.0);
        alone(SIXTEEN_THERE, sixteen.1);
        loaded();
        killed();
    }
    many();
    let there = median_of(SIXTEEN_THERE).unwrap_or(f64::NAN);
    let rows = [
        row(PAIR, Budget::Times(1.02)),
        row(SIXTEEN, Budget::Times(1.1)).beside(SYSTEMS[0].name, there),
        row(LOADED, Budget::AtMost(5.0)),
        row(KNOWN, Budget::Open),
        row(RUNNING, Budget::AtMost(200.0)),
        row(MANY, Budget::Open),
    ];
    table("LAMMPS, 32,000 atoms, 200 steps", "ms", &rows);
}

fn elsewhere(ranks: &str) -> Vec<String> {
    let mut words = systems::launch(&SYSTEMS[0]);
    words.extend(["-n", ranks].map(String::from));
    words
}

/// What it prints in so many steps, if a command starts it.
fn run(start: &[String], steps: u32) -> Result<String, String> {
    let steps = steps.to_string();
    let task = ["lmp", "-log", "none", "-var", "steps", &steps, "-in", INPUT];
    let words: Vec<String> = start.iter().cloned().chain(task.map(String::from)).collect();
    systems::run(&words)
}

/// Milliseconds of its steps, by its own clock; no number if it is not there.
fn loop_s(start: &[String]) -> f64 {
    let printed = run(start, STEPS).unwrap_or_else(|why| panic!("{why}"));
    let line = printed.lines().find_map(|line| line.strip_prefix("Loop time of "));
    let seconds: Option<f64> = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    seconds.expect("LAMMPS says so") * 1e3
}

/// A job with a few ranks, and one with some more: each takes a look at its input and ends.
fn loaded() {
    let took = |ranks: u32| {
        let begun = Instant::now();
        run(&mpirun(&["-n", &ranks.to_string()]), 0).unwrap_or_else(|why| panic!("{why}"));
        begun.elapsed().as_secs_f64() * 1e3
    };
    alone(LOADED, (took(MORE) - took(FEW)) / f64::from(MORE - FEW));
}

/// One of two nodes with eight ranks each is killed.
fn killed() {
    let file = std::env::temp_dir().join(format!("talisman-bench-lammps-{}.json", std::process::id()));
    let path = file.display().to_string();
    let ft = ["--ft", "double", "--ckpt-every", "300ms", "--kill", "1@1500ms", "--report", &path];
    let words = mpirun(&[&["-n", "16", "--nodes", "2"], &ft[..]].concat());
    run(&words, STEPS).unwrap_or_else(|why| panic!("{why}"));
    let report = Report::read(&file).unwrap_or_else(|error| panic!("{error}"));
    std::fs::remove_file(&file).expect("the report is ours");
    let [failure] = &report.failures[..] else { panic!("one node is killed, not {:?}", report.failures) };
    let detect_s = failure.detect_s.expect("the launcher was asked for the kill");
    alone(KNOWN, detect_s * 1e3);
    alone(RUNNING, (detect_s + failure.recover_s.expect("the job went on")) * 1e3);
}

fn many() {
    let begun = Instant::now();
    match run(&mpirun(&["-n", "500"]), 1) {
        Ok(_) => alone(MANY, begun.elapsed().as_secs_f64() * 1e3),
        Err(why) => println!("500 ranks of LAMMPS: {why}"),
    }
}
