//! The stencil's modules.

#![allow(dead_code, reason = "the program uses what its tests do not")]

#[path = "../../examples/jacobi3d/block.rs"]
mod block;
#[path = "../../examples/jacobi3d/grid.rs"]
mod grid;
#[path = "../../examples/jacobi3d/serial.rs"]
mod serial;
