//! Elements and single chares that come under new names, move, talk in order, and go.

use super::*;
use talisman::Few;
use talisman::launch::checkpoints::{CkptEvery, FaultTolerance};
use talisman::launch::options::Transport;

#[derive(Pup)]
struct Visitor;

#[chare(array1d)]
impl Visitor {
    #[init]
    fn new() -> Self {
        Visitor
    }

    #[entry]
    fn travel(&mut self, cx: &mut Cx<Self>) {
        cx.migrate_to((cx.pe() + 1) % cx.pes());
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, book: Proxy<Book>) -> u32 {
        book.sign(1);
        cx.destroy();
        1
    }
}

/// The same in an array that is ordered, which stays where it is.
#[derive(Pup)]
struct Talker;

#[chare(array1d, ordered)]
impl Talker {
    #[init]
    fn new() -> Self {
        Talker
    }

    /// Answers when it has heard itself: what it says to itself and does not hear would wait for the next of its name.
    #[entry]
    async fn talk(&mut self, cx: &mut Cx<Self>, book: Proxy<Book>) -> u32 {
        book.sign(1);
        cx.me().say().await
    }

    #[entry]
    fn say(&mut self) -> u32 {
        1
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>) -> u32 {
        cx.destroy();
        1
    }
}

/// The same by itself.
#[derive(Pup)]
struct Wanderer;

#[chare(single)]
impl Wanderer {
    #[init]
    fn new() -> Self {
        Wanderer
    }

    #[entry]
    fn travel(&mut self, cx: &mut Cx<Self>) {
        cx.migrate_to((cx.pe() + 1) % cx.pes());
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, book: Proxy<Book>) -> u32 {
        book.sign(1);
        cx.destroy();
        1
    }
}

/// Hears of all of them, in order.
#[derive(Pup)]
struct Book {
    signed: u32,
}

#[chare(array1d, ordered)]
impl Book {
    #[init]
    fn new() -> Self {
        Book { signed: 0 }
    }

    #[entry]
    fn sign(&mut self, times: u32) {
        self.signed += times;
    }

    #[entry]
    fn signed(&mut self) -> u32 {
        self.signed
    }
}

#[derive(clap::Parser, Pup)]
pub struct Visits {
    #[arg(long)]
    rounds: u32,
}

#[talisman::main]
async fn main(cx: &mut Cx, visits: Visits) {
    let books: Array<Book> = Book::array(2).new();
    let visitors: Array<Visitor> = Visitor::sparse();
    let talkers: Array<Talker> = Talker::sparse();
    visitors.done_inserting();
    talkers.done_inserting();
    let pes: u32 = cx.pes();
    for round in 0..visits.rounds {
        let (index, pe): (i32, u32) = (round as i32, round % pes);
        let book: Proxy<Book> = books.at(index % 2);
        let visitor: Proxy<Visitor> = visitors.insert(index).on(pe).new();
        visitor.travel();
        let talker: Proxy<Talker> = talkers.insert(index).on((pe + 1) % pes).new();
        let heard: u32 = talker.talk(book).await;
        let wanderer: Proxy<Wanderer> = Wanderer::chare().on(pe).new();
        wanderer.travel();
        let one: u32 = visitor.go(book).await;
        let two: u32 = talker.go().await;
        let three: u32 = wanderer.go(book).await;
        assert_eq!(one + two + three + heard, 4);
        if round % BETWEEN == 0 {
            NOTED.lock().unwrap().push(IN_USE.load(Ordering::Relaxed));
        }
    }
    cx.quiescence().await;
    let signed: Vec<u32> = books.signed().reduce(Concat).await;
    assert_eq!(signed.iter().sum::<u32>(), 3 * visits.rounds);
    cx.exit();
}

/// Tables are looked through often, so that few rounds show what grows.
fn looked_through(test: Test) -> Test {
    test.with_options(|options| options.few = Few(64))
}

pub fn are_flat() {
    const ROUNDS: u32 = 6_000;
    let run = |test: Test| is_flat::<__Main>(&looked_through(test), (Visits { rounds: ROUNDS },), ROUNDS);
    run(Test::new().pes(1));
    run(Test::new().pes(4));
    run(Test::new().pes(2).simulated(2, 1));
    run(Test::new().pes(2).nodes(2, Transport::Shm));
    run(Test::new().pes(2).simulated(2, 1).with_options(|options| {
        (options.ft, options.ckpt_every) =
            (FaultTolerance::Double, Some(CkptEvery::Time(std::time::Duration::from_millis(20))));
    }));
    run(Test::new().pes(2).simulated(3, 1).going_back(40_000, &[1]).going_back(80_000, &[]));
}
