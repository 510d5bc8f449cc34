//! The molecular dynamics' modules.

#![allow(dead_code, reason = "the program uses what its tests do not")]

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
