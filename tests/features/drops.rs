//! Every value of the program is dropped when the job has ended, however it ends.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use talisman::prelude::*;

/// Values that live; tests that count them take turns.
static ALIVE: AtomicI64 = AtomicI64::new(0);
static TURN: Mutex<()> = Mutex::new(());

/// Counts itself while it lives, however it was made.
struct Alive;

impl Default for Alive {
    fn default() -> Self {
        ALIVE.fetch_add(1, Ordering::SeqCst);
        Alive
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Pup)]
struct Counted {
    n: u64,
    #[pup(skip)]
    alive: Alive,
}

impl Counted {
    fn new(n: u64) -> Self {
        Counted { n, alive: Default::default() }
    }
}

#[derive(Pup)]
struct Element {
    state: Counted,
    others: Vec<Counted>,
}

#[chare(array1d, ordered)]
impl Element {
    #[init]
    fn new(value: Vec<Counted>) -> Self {
        Element { state: Counted::new(7), others: value }
    }

    #[entry]
    fn kept(n: u32, value: Counted);

    #[entry]
    fn take(&mut self, cx: &mut Cx<Self>, value: Counted, large: [u64; 20]) {
        let n = large[0] + self.others.len() as u64;
        if n.is_multiple_of(3) {
            self.others.push(value);
        }
        cx.migrate_to((cx.pe() + n as u32) % cx.pes());
    }

    #[entry]
    fn give(&mut self) -> Vec<Counted> {
        self.others.drain(..).collect()
    }

    #[entry]
    async fn wait(&mut self, cx: &mut Cx<Self>) {
        let first: Counted = cx.when(Self::kept, 1).await;
        let second: Counted = cx.when(Self::kept, 2).await;
        let _ = (first.n, second.n);
    }

    #[entry]
    fn flood(&mut self, cx: &mut Cx<Self>) {
        for to in 0..8 {
            cx.array().at(to).kept(1, Counted::new(1));
            cx.array().at(to).kept(3, Counted::new(3));
            cx.array().at(to).take(Counted::new(2), [to as u64; 20]);
        }
        if cx.index() == 4 {
            cx.destroy();
        }
    }

    #[entry]
    fn end(&mut self, cx: &mut Cx<Self>, how: u32) {
        // What is sent here is never received.
        for to in 0..8 {
            cx.array().at(to).take(Counted::new(5), [1; 20]);
            cx.array().at(to).with_priority(&Priority::int(to)).take(Counted::new(6), [1; 20]);
            cx.array().insert(200 + to).new(vec![Counted::new(8)]);
        }
        let value = Counted::new(9);
        match how {
            0 => cx.exit(),
            1 => cx.fail("on purpose"),
            _ => panic!("on purpose, with {}", value.n),
        }
    }
}

#[derive(clap::Parser, Pup)]
struct Options {
    #[arg(long, default_value_t = 0)]
    how: u32,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let array: Array<Element> = Element::array(8).new(vec![Counted::new(1)]);
    array.at(100).take(Counted::new(4), [0; 20]); // never made
    array.wait();
    array.flood();
    let shared = cx.share(Counted::new(11));
    let _: u64 = shared.n;
    cx.quiescence().await;
    let all: Vec<Vec<Counted>> = array.give().reduce(Concat).await;
    drop(all);
    array.flood();
    array.at(2).end(options.how);
    let all: Vec<Vec<Counted>> = array.give().reduce(Concat).await;
    drop(all);
    // Nobody comes further: the job ends before.
    cx.quiescence().await;
}

#[test]
fn at_the_end_of_a_job() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    for (name, test) in crate::common::manners() {
        for (how, status) in [(0, 0), (1, 1), (2, 1)] {
            let tested = test.run::<__Main>((Options { how },));
            assert_eq!(tested.status, status, "{name}: {:?}", tested.message);
            assert_eq!(ALIVE.load(Ordering::SeqCst), 0, "{name}, ended in way {how}");
        }
    }
}
