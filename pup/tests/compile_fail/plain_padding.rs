extern crate talisman_pup as talisman;
use talisman::pup::Pup;

#[derive(Pup, Clone, Copy)]
#[repr(C)]
#[pup(plain)]
struct Atom {
    kind: u8,
    at: [f64; 3],
}

fn main() {}
