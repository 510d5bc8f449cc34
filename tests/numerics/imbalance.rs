//! The modules of the stencil with a hot spot.

#![allow(dead_code, reason = "the program uses what its tests do not")]

#[path = "../../examples/imbalance/cut.rs"]
mod cut;
#[path = "../../examples/imbalance/hot_spot.rs"]
mod hot_spot;
#[path = "../../examples/imbalance/options.rs"]
mod options;
#[path = "../../examples/imbalance/patch.rs"]
mod patch;
#[path = "../../examples/imbalance/serial.rs"]
mod serial;
#[path = "../../examples/imbalance/tally.rs"]
mod tally;
