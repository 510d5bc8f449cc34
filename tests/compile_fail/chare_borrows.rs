//! A chare that borrows.
use talisman::prelude::*;

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
