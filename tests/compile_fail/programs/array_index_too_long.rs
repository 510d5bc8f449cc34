//! An index of more than 128 bits.
use talisman::prelude::*;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Pup, ArrayIndex)]
struct Long {
    a: u64,
    b: u64,
    c: u8,
}

fn main() {}
