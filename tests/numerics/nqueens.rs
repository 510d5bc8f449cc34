//! The board.

#![allow(dead_code, reason = "the program uses what its tests do not")]

#[path = "../../examples/nqueens/board.rs"]
mod board;
