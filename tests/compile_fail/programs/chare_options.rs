//! `#[chare(…)]` with options that are none.
use talisman::prelude::*;

macro_rules! state {
    ($($name:ident)*) => { $( #[derive(Pup)] struct $name; )* };
}
state!(Nothing Seventh Both OrderedGroup Nameless Indexless);

#[chare]
impl Nothing {
    #[init]
    fn new() -> Self {
        Nothing
    }
}

#[chare(array7d)]
impl Seventh {
    #[init]
    fn new() -> Self {
        Seventh
    }
}

#[chare(single, group)]
impl Both {
    #[init]
    fn new() -> Self {
        Both
    }
}

#[chare(group, ordered)]
impl OrderedGroup {
    #[init]
    fn new() -> Self {
        OrderedGroup
    }
}

#[chare(single, name = "")]
impl Nameless {
    #[init]
    fn new() -> Self {
        Nameless
    }
}

#[chare(array)]
impl Indexless {
    #[init]
    fn new() -> Self {
        Indexless
    }
}

fn main() {}
