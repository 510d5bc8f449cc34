//! `#[chare]` where it does not belong.
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

fn main() {}
