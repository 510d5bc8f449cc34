//! Tests of more than one room.

mod callgrind;
mod expected_chares;
mod frames;
mod host;
mod in_place;
mod instructions;
mod memcheck;
mod next_calls;
mod untraced;
mod valgrind;
