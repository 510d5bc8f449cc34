extern crate talisman_pup as talisman;
use std::rc::Rc;
use std::sync::Arc;
use talisman::pup::{Named, Pup, Value};

struct Opaque;

#[derive(Pup)]
struct NotPup {
    log: std::fs::File,
}

#[derive(Pup)]
struct Shared {
    cells: Rc<Vec<f64>>,
    table: Vec<Arc<String>>,
}

#[derive(Pup)]
struct NoDefault {
    #[pup(skip)]
    opaque: Opaque,
}

#[derive(Pup)]
struct NoSerde {
    #[pup(serde)]
    opaque: Opaque,
}

mod wrong {
    pub fn pack(_: &u32, _: &mut talisman::pup::Packer) {}
}

#[derive(Pup)]
struct WrongModule {
    #[pup(with = wrong)]
    count: u64,
}

fn main() {
    fn pup<T: Pup>() {}
    fn named<T: Named>() {}
    pup::<&str>();
    pup::<&mut Vec<std::rc::Weak<u8>>>();
    named::<Opaque>();
    pup::<Generic<Opaque>>();
    fn value<T: Value>() {}
    value::<Opaque>();
    value::<Rc<u8>>();
}

#[derive(Pup)]
struct Generic<T>(Vec<T>);
