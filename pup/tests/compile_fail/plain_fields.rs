extern crate talisman_pup as talisman;
use talisman::pup::Pup;

#[derive(Pup, Clone, Copy)]
#[repr(C)]
#[pup(plain)]
struct Flag {
    up: bool,
    size: usize,
}

#[derive(Pup, Clone, Copy)]
#[pup(plain)]
struct NoRepr {
    a: u8,
}

#[derive(Pup)]
#[repr(C)]
#[pup(plain)]
struct NotCopy {
    a: u8,
}

fn main() {}
