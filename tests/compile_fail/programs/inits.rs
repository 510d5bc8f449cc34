//! Mistakes in `#[init]` and `#[restored]`.
use talisman::prelude::*;

#[derive(Pup)]
struct None_;

#[chare(single)]
impl None_ {
    #[entry]
    fn start(&mut self) {}
}

#[derive(Pup)]
struct Odd;

#[chare(single)]
impl Odd {
    #[init]
    fn with_self(&mut self) -> Self {
        Odd
    }
    #[init]
    fn nothing() {}
    #[init]
    async fn waits() -> Self {
        Odd
    }
    #[init]
    fn map() -> Self {
        Odd
    }
    #[init]
    #[entry]
    fn both() -> Self {
        Odd
    }
    #[restored]
    fn restored(&mut self) {}
    #[restored]
    fn again(&mut self) {}
    #[init]
    fn without_body() -> Self;
}

fn main() {}
