//! The molecular dynamics' modules.

#![allow(dead_code, reason = "the program uses what its tests do not")]

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
#[path = "../../examples/leanmd/water.rs"]
mod water;
