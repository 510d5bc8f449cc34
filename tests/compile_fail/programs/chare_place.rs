//! `#[chare]` where it does not belong, and a chare that borrows.
use talisman::prelude::*;

#[chare(single)]
struct NoImpl;

#[derive(Pup)]
struct OfTrait;

trait Speak {}

#[chare(single)]
impl Speak for OfTrait {
    #[init]
    fn new() -> Self {
        OfTrait
    }
}

#[chare(single)]
impl [u8] {
    #[init]
    fn new() -> Self {
        todo!()
    }
}

struct Borrows<'a> {
    cells: &'a [f64],
}

#[chare(single)]
impl<'a> Borrows<'a> {
    #[init]
    fn new() -> Self {
        Borrows { cells: &[] }
    }
}

fn main() {}
