//! The ruler.

#![allow(dead_code, reason = "the program uses what its tests do not")]

#[path = "../../examples/golomb/ruler.rs"]
mod ruler;
