//! The cluster whose times are predicted.

use super::skeleton::Cost;

#[path = "../../../../benches/common/machine.rs"]
mod machine;

pub use machine::machine;

/// A core of it, which has the memory bandwidth for a cell in 0.5 ns.
pub fn cost() -> Cost {
    Cost { relax_ns: 0.5, face_ns: 1.0, change_ns: 0.25 }
}
