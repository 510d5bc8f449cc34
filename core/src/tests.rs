//! Tests of more than one room.

mod callgrind;
mod frames;
mod instructions;
mod memcheck;
mod untraced;
mod valgrind;
