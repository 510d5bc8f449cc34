//! Molecular dynamics.

// Of the example's modules the loop needs a part; their tests are compiled here too, but not run.
#![allow(dead_code, unused_imports)]

#[path = "../../examples/leanmd/atoms.rs"]
mod atoms;
#[path = "../../examples/leanmd/cell_list.rs"]
mod cell_list;
#[path = "../../examples/leanmd/columns.rs"]
mod columns;
#[path = "../../examples/leanmd/elements.rs"]
mod elements;
#[path = "../../examples/leanmd/fluid.rs"]
mod fluid;
#[path = "../../examples/leanmd/frozen.rs"]
mod frozen;
#[path = "../../examples/leanmd/kernel.rs"]
mod kernel;
#[path = "../../examples/leanmd/locations.rs"]
mod locations;
#[path = "../../examples/common/memory.rs"]
mod memory;
#[path = "../../examples/leanmd/names.rs"]
mod names;
#[path = "../../examples/common/options.rs"]
mod numbers;
#[path = "../../examples/leanmd/options.rs"]
mod options;
#[path = "../../examples/leanmd/pdb.rs"]
mod pdb;
#[path = "../../examples/leanmd/population.rs"]
mod population;
#[path = "../../examples/leanmd/potential.rs"]
mod potential;
#[path = "../../examples/leanmd/residues.rs"]
mod residues;
#[path = "../../examples/leanmd/serial.rs"]
mod serial;
#[path = "../../examples/leanmd/system.rs"]
mod system;

use std::path::Path;

use clap::Parser;

use crate::common::{alone, ns_each, sample};

const STEPS: u32 = 20;

/// Of the fluid or, with `pdb`, of a structure: time per step for the row `what`, and per tested pair of atoms for the rows of
/// the serial loop and of the whole program.
pub fn measure(what: &'static str, [serial_pair, program_pair]: [&'static str; 2], pdb: Option<&Path>) {
    let mut arguments = vec!["--steps".to_string(), STEPS.to_string()];
    arguments.extend(pdb.into_iter().flat_map(|path| ["--pdb".into(), path.display().to_string()]));
    let options =
        options::Options::parse_from(["leanmd".into()].into_iter().chain(arguments.iter().cloned()));
    let system = options.system(1).expect("a fluid, or a structure that can be read");
    let ours = crate::reported_us("leanmd", &arguments);
    let serial = one_loop(&options, &system);
    sample(what, ours, serial);
    let pairs = tested_pairs(&system) as f64;
    alone(serial_pair, serial * 1000.0 / pairs);
    alone(program_pair, ours * 1000.0 / pairs);
}

fn one_loop(options: &options::Options, system: &system::System) -> f64 {
    let mut serial = serial::Serial::new(system, potential::Potential::new(options.cutoff), options.pace());
    ns_each(u64::from(STEPS), || serial.run(STEPS)) / 1000.0
}

/// Pairs of atoms that stand in the same cell or in neighbouring ones, at the start: those whose distance a program
/// without blocks of atoms looks at in each step.
fn tested_pairs(system: &system::System) -> usize {
    let atoms = system.by_cell();
    let mut tested = 0;
    for (cell, here) in &atoms {
        for other in system.grid.owned_pairs(*cell) {
            let (here, there) = (here.len(), atoms.get(&other.cell).map_or(0, Vec::len));
            tested += if other.pair.is_alone() { here * there.saturating_sub(1) / 2 } else { here * there };
        }
    }
    tested
}
