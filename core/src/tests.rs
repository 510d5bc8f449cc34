//! Tests of more than one room.

mod callgrind;
mod frames;
mod host;
mod in_place;
mod instructions;
mod memcheck;
mod newcomers;
mod untraced;
mod valgrind;
