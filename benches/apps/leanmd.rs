//! Molecular dynamics.

// Of the example's modules the loop needs a part; their tests are compiled here too, but not run.
#![allow(dead_code, unused_imports)]

#[path = "../../examples/leanmd/atoms.rs"]
mod atoms;
#[path = "../../examples/leanmd/cell_list.rs"]
mod cell_list;
#[path = "../../examples/leanmd/elements.rs"]
mod elements;
#[path = "../../examples/leanmd/fluid.rs"]
mod fluid;
#[path = "../../examples/leanmd/frozen.rs"]
mod frozen;
#[path = "../../examples/leanmd/kernel.rs"]
mod kernel;
#[path = "../../examples/common/options.rs"]
mod numbers;
#[path = "../../examples/leanmd/options.rs"]
mod options;
#[path = "../../examples/leanmd/pdb.rs"]
mod pdb;
#[path = "../../examples/leanmd/potential.rs"]
mod potential;
#[path = "../../examples/leanmd/serial.rs"]
mod serial;
#[path = "../../examples/leanmd/system.rs"]
mod system;

use clap::Parser;

use crate::common::{ns_each, sample};

const STEPS: u32 = 20;

pub fn measure(what: &'static str) {
    let steps = ["--steps", &STEPS.to_string()].map(String::from);
    sample(what, crate::reported_us("leanmd", &steps), one_loop());
}

fn one_loop() -> f64 {
    let options = options::Options::parse_from(["leanmd"]);
    let system = options.system().expect("a fluid");
    let mut serial = serial::Serial::new(&system, potential::Potential::new(options.cutoff), options.pace());
    ns_each(u64::from(STEPS), || serial.run(STEPS)) / 1000.0
}
