//! State and arguments that cannot be packed: one error each.
use std::rc::Rc;
use talisman::prelude::*;

struct NoDerive {
    cells: Vec<f64>,
}

#[chare(array1d)]
impl NoDerive {
    #[init]
    fn new() -> Self {
        NoDerive { cells: vec![] }
    }
    #[entry]
    fn add(&mut self, x: f64) {
        self.cells.push(x)
    }
}

struct Message {
    x: f64,
}

#[derive(Pup)]
struct Argument;

#[chare(group)]
impl Argument {
    #[init]
    fn new(_message: Message) -> Self {
        Argument
    }
    #[entry]
    fn take(&mut self, n: u32, m: Message) {
        let _ = (n, m.x);
    }
    #[entry]
    fn give(&mut self) -> Message {
        Message { x: 1.0 }
    }
    #[entry]
    async fn give_later(&mut self, cx: &mut Cx<Self>) -> Message {
        cx.barrier().await;
        Message { x: 1.0 }
    }
}

#[derive(Pup)]
struct Generic<T> {
    cells: Vec<T>,
}

#[chare(array1d)]
impl<T: Send + 'static> Generic<T> {
    #[init]
    fn new() -> Self {
        Generic { cells: vec![] }
    }
    #[entry]
    fn add(&mut self, x: T) {
        self.cells.push(x)
    }
}
talisman::register!(Generic<f64>);

#[derive(Pup)]
struct KeepsFile {
    size: u64,
}

#[chare(array1d)]
impl KeepsFile {
    #[init]
    fn new() -> Self {
        KeepsFile { size: 0 }
    }
    #[entry]
    async fn file(&mut self, cx: &mut Cx<Self>) {
        let log: std::fs::File = std::fs::File::open("x").unwrap();
        cx.barrier().await;
        self.size = log.metadata().unwrap().len();
    }
}

#[derive(Pup)]
struct Counted {
    cells: Vec<f64>,
    #[pup(skip)]
    cache: Rc<Vec<f64>>,
}

#[chare(array1d)]
impl Counted {
    #[init]
    fn new() -> Self {
        Counted { cells: vec![], cache: Default::default() }
    }
    #[entry]
    fn add(&mut self, x: f64) {
        self.cells.push(x + self.cache[0])
    }
    #[entry]
    async fn wait(&mut self, cx: &mut Cx<Self>) {
        cx.barrier().await;
    }
}

#[talisman::main]
async fn main(cx: &mut Cx) {
    let b: Array<NoDerive> = NoDerive::array(4).new();
    b.add(1.0);
    b.at(2).add(2.0);
    cx.quiescence().await;
}
