//! Tests of more than one room.

mod frames;
