//! What an invocation on the same PE costs, against the bare sequence of what a message needs.
//!
//! `cargo bench --bench local`. The limit, measured on the PE's own thread between the rounds: allocate 64 bytes, push
//! to and pop from a `VecDeque`, call through a pointer, free. As many messages are in flight there as in the program.

mod common;

use common::{Budget, CHARM, MEASURED, Row, row};

const ELEMENT: &str = "array element, 1 in flight";
const MANY: &str = "array element, 50,000 in flight over 100,000";
const SINGLE: &str = "singleton chare, 1 in flight";
const ASYNC_START: &str = "async entry that does not wait | plain entry, empty message";
const ASYNC_WHEN: &str = "async entry that receives | plain entry, empty message";

fn main() {
    program::measure();
    let charm = |row: Row, ns| row.beside(CHARM, ns);
    let kinds = [(ELEMENT, 80.0), (MANY, 80.0), (SINGLE, 50.0)].into_iter();
    let measured = kinds.flat_map(|(what, ns)| {
        MEASURED.map(|(how, _)| charm(row(format!("{what}{how}"), Budget::Times(1.5)), ns))
    });
    let against = MEASURED[1..].iter().map(|(how, _)| row(against_none(how), Budget::Times(1.02)));
    let asynchronous = [ASYNC_START, ASYNC_WHEN].map(|what| row(what, Budget::Plus(20.0)));
    let rows: Vec<_> = measured.chain(against).chain(asynchronous).collect();
    common::table("A message on the same PE", "ns", &rows);
}

/// What the row is called that compares with a job in which nothing is measured.
fn against_none(how: &str) -> String {
    format!("{ELEMENT}{how} | nothing measured")
}

mod program {
    use std::sync::Mutex;

    use talisman::prelude::*;

    use crate::common::{MEASURED, bare, nanos, on_pes_measured, sample, wanted};

    /// So often a job is run with each way of measuring, in turn ...
    const JOBS: u32 = 36;
    /// ... for so many rounds.
    const ROUNDS: usize = 25;
    const MESSAGES: u64 = 20_000;
    const ELEMENTS: u32 = 100_000;
    const IN_FLIGHT: u32 = 50_000;
    const HOPS: u64 = 10;

    /// Nanoseconds of a message to an element, in each round of the job that runs.
    static ROUNDS_NS: Mutex<Vec<f64>> = Mutex::new(Vec::new());

    /// One of two elements that send a ball to and fro.
    #[derive(Pup)]
    struct Player {
        seen: u64,
    }

    #[chare(array1d)]
    impl Player {
        #[init]
        fn new() -> Self {
            Player { seen: 0 }
        }

        #[entry]
        fn ball(&mut self, cx: &mut Cx<Self>, left: u64, stamp: u64) {
            self.seen = self.seen.wrapping_add(stamp);
            match left {
                0 => cx.array().at(0).finished(),
                _ => cx.array().at(1 - cx.index()).ball(left - 1, stamp + 1),
            }
        }

        #[entry]
        fn finished();

        #[entry]
        async fn play(&mut self, cx: &mut Cx<Self>, messages: u64) -> f64 {
            let start: u64 = nanos();
            cx.array().at(0).ball(messages, 7);
            cx.when(Self::finished).await;
            (nanos() - start) as f64 / messages as f64
        }

        /// The same with nothing in the message.
        #[entry]
        fn plain(&mut self, cx: &mut Cx<Self>) {
            match self.count_down() {
                false => cx.array().at(0).finished(),
                true => cx.array().at(0).plain(),
            }
        }

        #[entry]
        async fn starts(&mut self, cx: &mut Cx<Self>) {
            match self.count_down() {
                false => cx.array().at(0).finished(),
                true => cx.array().at(0).starts(),
            }
        }

        #[entry]
        fn received();

        #[entry]
        async fn play_plain(&mut self, cx: &mut Cx<Self>, messages: u64) -> f64 {
            self.seen = messages;
            let start: u64 = nanos();
            cx.array().at(0).plain();
            cx.when(Self::finished).await;
            (nanos() - start) as f64 / messages as f64
        }

        #[entry]
        async fn play_starts(&mut self, cx: &mut Cx<Self>, messages: u64) -> f64 {
            self.seen = messages;
            let start: u64 = nanos();
            cx.array().at(0).starts();
            cx.when(Self::finished).await;
            (nanos() - start) as f64 / messages as f64
        }

        #[entry]
        async fn play_received(&mut self, cx: &mut Cx<Self>, messages: u64) -> f64 {
            self.seen = messages;
            let start: u64 = nanos();
            while self.count_down() {
                cx.array().at(0).received();
                cx.when(Self::received).await;
            }
            (nanos() - start) as f64 / messages as f64
        }
    }

    impl Player {
        /// Whether there is anything left.
        fn count_down(&mut self) -> bool {
            self.seen -= 1;
            self.seen > 0
        }
    }

    /// One of many elements that pass balls on, in an order that is not that of their memory.
    #[derive(Pup)]
    struct Crowd {
        seen: u64,
        next: i32,
        done: Group<Counter>,
    }

    #[chare(array1d)]
    impl Crowd {
        #[init]
        fn new(cx: &mut Cx<Self>, done: Group<Counter>) -> Self {
            let step = (ELEMENTS as f64 * 0.618) as u32 | 1;
            Crowd { seen: 0, next: ((cx.index() as u32 + step) % ELEMENTS) as i32, done }
        }

        #[entry]
        fn ball(&mut self, cx: &mut Cx<Self>, left: u64, stamp: u64) {
            self.seen = self.seen.wrapping_add(stamp);
            match left {
                0 => self.done.on(0).arrived(),
                _ => cx.array().at(self.next).ball(left - 1, stamp + 1),
            }
        }
    }

    /// Sets balls off and waits for all of them.
    #[derive(Pup)]
    struct Counter {
        left: u32,
    }

    #[chare(group)]
    impl Counter {
        #[init]
        fn new() -> Self {
            Counter { left: 0 }
        }

        #[entry]
        fn arrived(&mut self, cx: &mut Cx<Self>) {
            self.left -= 1;
            if self.left == 0 {
                cx.me().all();
            }
        }

        #[entry]
        fn all();

        #[entry]
        async fn play(&mut self, cx: &mut Cx<Self>, crowd: Array<Crowd>, each: u64) -> f64 {
            self.left = IN_FLIGHT;
            let start: u64 = nanos();
            for ball in 0..IN_FLIGHT {
                crowd.at(ball as i32 * 2).ball(each, 7);
            }
            cx.when(Self::all).await;
            (nanos() - start) as f64 / ((each + 1) * IN_FLIGHT as u64) as f64
        }
    }

    /// A chare of its own.
    #[derive(Pup)]
    struct Hermit {
        seen: u64,
        other: Option<Proxy<Hermit>>,
    }

    #[chare(single)]
    impl Hermit {
        #[init]
        fn new() -> Self {
            Hermit { seen: 0, other: None }
        }

        #[entry]
        fn meet(&mut self, other: Proxy<Hermit>) {
            self.other = Some(other);
        }

        #[entry]
        fn ball(&mut self, cx: &mut Cx<Self>, left: u64, stamp: u64) {
            self.seen = self.seen.wrapping_add(stamp);
            match self.other {
                Some(other) if left > 0 => other.ball(left - 1, stamp + 1),
                _ => cx.me().finished(),
            }
        }

        #[entry]
        fn finished();

        #[entry]
        async fn play(&mut self, cx: &mut Cx<Self>, messages: u64) -> f64 {
            let start: u64 = nanos();
            cx.me().ball(messages & !1, 7);
            cx.when(Self::finished).await;
            (nanos() - start) as f64 / messages as f64
        }
    }

    pub fn measure() {
        for _ in 0..JOBS {
            let fastest = MEASURED.map(|(how, measures)| {
                on_pes_measured::<__Main>(1, measures, (Options { how: how.into() },));
                fastest()
            });
            for ((how, _), ns) in MEASURED.iter().zip(fastest).skip(1) {
                ns.zip(fastest[0]).inspect(|(ns, without)| sample(super::against_none(how), *ns, *without));
            }
        }
    }

    /// What a message to an element took in the faster rounds of the last job: others on the machine only add to it.
    fn fastest() -> Option<f64> {
        let mut all = ROUNDS_NS.lock().expect("no one panics with it");
        all.sort_by(f64::total_cmp);
        let fastest = all.get(all.len() / 8).copied();
        all.clear();
        fastest
    }

    #[derive(clap::Parser, Pup)]
    struct Options {
        /// What the rows are called beside the usual.
        how: String,
    }

    #[talisman::main]
    async fn main(cx: &mut Cx, options: Options) {
        let how: String = options.how;
        let pair: Array<Player> = Player::array(2).new();
        let counter: Group<Counter> = Counter::group().new();
        let crowd: Array<Crowd> = Crowd::array(ELEMENTS as i32).new(counter);
        let hermits: [Proxy<Hermit>; 2] = [Hermit::chare().new(), Hermit::chare().new()];
        hermits[0].meet(hermits[1]);
        hermits[1].meet(hermits[0]);
        for round in 0..ROUNDS {
            if wanted(super::ELEMENT) {
                let ns: f64 = pair.at(0).play(MESSAGES).await;
                ROUNDS_NS.lock().expect("no one panics with it").push(ns);
                sample(format!("{}{how}", super::ELEMENT), ns, bare::sequence(MESSAGES, 1));
            }
            if wanted(super::MANY) && round % 8 == 0 {
                let ns: f64 = counter.on(0).play(crowd, HOPS - 1).await;
                sample(
                    format!("{}{how}", super::MANY),
                    ns,
                    bare::sequence(HOPS * IN_FLIGHT as u64, IN_FLIGHT as usize),
                );
            }
            if wanted(super::SINGLE) {
                let ns: f64 = hermits[0].play(MESSAGES).await;
                sample(format!("{}{how}", super::SINGLE), ns, bare::sequence(MESSAGES, 1));
            }
            if wanted(super::ASYNC_START) && how.is_empty() {
                let plain: f64 = pair.at(0).play_plain(MESSAGES).await;
                let starts: f64 = pair.at(0).play_starts(MESSAGES).await;
                let received: f64 = pair.at(0).play_received(MESSAGES).await;
                sample(super::ASYNC_START, starts, plain);
                sample(super::ASYNC_WHEN, received, plain);
            }
        }
        cx.exit();
    }
}
