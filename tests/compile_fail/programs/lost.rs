//! Mistakes in `#[lost]`.
use talisman::prelude::*;

#[derive(Pup)]
struct Element;

#[chare(array1d)]
impl Element {
    #[init]
    fn new() -> Self {
        Element
    }
    #[lost]
    fn lost(&mut self, _other: Self) {}
}

#[derive(Pup)]
struct Member;

#[chare(group)]
impl Member {
    #[init]
    fn new() -> Self {
        Member
    }
    #[lost]
    fn nobody(&mut self) {}
    #[lost]
    fn again(&mut self, _other: Self) {}
}

#[derive(Pup)]
struct OfNode;

#[chare(nodegroup)]
impl OfNode {
    #[init]
    fn new() -> Self {
        OfNode
    }
    #[lost]
    async fn waits(&mut self, _other: Self) {}
}

fn main() {}
