//! Tests of more than one room.

mod frames;
mod memcheck;
mod untraced;
