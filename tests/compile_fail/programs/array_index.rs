//! `#[derive(ArrayIndex)]` on what cannot name an element.
use talisman::prelude::*;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Pup, ArrayIndex)]
enum Side {
    Left,
    Right,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Pup, ArrayIndex)]
struct Generic<T> {
    value: T,
}

fn main() {}
