//! Elements that come and go under the messages for them.
//!
//! Every index has several lives. Each takes in its quota of messages, removes itself and is inserted again, by itself
//! or from another PE; what was meant for it and comes later is for the next life, or waits. Senders neither know nor
//! care which life it is, or whether there is any: they begin before the first is inserted, and send some for which
//! no life of these has room. In the end a last life, inserted into the silence, takes in what is left.

use talisman::prelude::*;
use talisman::rng::Rng;
use talisman::simulation::{self, simulate};

use super::ledger::{self, HERE};
use super::{Checked, Size};

#[derive(Clone, Copy, Pup, clap::Parser)]
struct Births {
    #[arg(skip)]
    seed: u64,
    #[arg(skip)]
    indices: i32,
    /// As many as there are PEs when the job begins. It may have others when it is started again.
    #[arg(skip)]
    midwives: u32,
    /// Lives of each index before the last, and messages that one takes in.
    #[arg(skip)]
    lives: u32,
    #[arg(skip)]
    quota: u32,
    /// Messages for each index that are left over for the last life.
    #[arg(skip)]
    rest: u32,
}

impl Births {
    fn messages_each(&self) -> u32 {
        self.lives * self.quota + self.rest
    }
}

pub fn run(seed: u64, size: Size, plan: &simulation::Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let births = Births {
        seed,
        indices: 1 + rng.below(6 * u64::from(size.0)) as i32,
        midwives: plan.nodes() * plan.pes_per_node,
        lives: 1 + rng.below(6) as u32,
        quota: 1 + rng.below(8) as u32,
        rest: rng.below(4) as u32,
    };
    let ledger = ledger::open(HERE, 0);
    let ran = simulate::<Main>((births,), plan, logging);
    ledger::close(HERE);
    Checked::by_ledger(ran, &ledger)
}

#[derive(Pup)]
struct Mortal {
    births: Births,
    midwives: Array<Midwife>,
    life: u32,
    taken: u32,
    rng: Rng,
}

#[chare(array1d)]
impl Mortal {
    #[init]
    fn new(cx: &mut Cx<Self>, births: Births, midwives: Array<Midwife>, life: u32) -> Self {
        let born = ledger::of(HERE).born(cx.index());
        Mortal { births, midwives, life, taken: 0, rng: Rng::new(births.seed ^ born << 32) }
    }

    #[entry]
    fn take(&mut self, cx: &mut Cx<Self>, id: u64) {
        ledger::of(HERE).receive(id, cx.index());
        self.taken += 1;
        if self.life < self.births.lives && self.taken == self.births.quota {
            return self.go(cx);
        }
        if self.rng.below(3) == 0 {
            let pe = self.some_pe(cx);
            cx.migrate_to(pe);
        }
    }

    /// Takes part in the first reduction of all: of those who are there by then, whoever has been there.
    #[entry]
    fn vote(&mut self, cx: &mut Cx<Self>, to: Callback<u64>) {
        cx.contribute(1u64, Sum, to);
        let pe = self.some_pe(cx);
        cx.migrate_to(pe);
    }

    /// Its life, and what it took in.
    #[entry]
    fn account(&self, cx: &mut Cx<Self>) -> (i32, u32, u32) {
        (cx.index(), self.life, self.taken)
    }
}

impl Mortal {
    fn some_pe(&mut self, cx: &Cx<Self>) -> u32 {
        self.rng.below(cx.pes().into()) as u32
    }

    /// Goes; the last life is left to the end of the program.
    fn go(&mut self, cx: &mut Cx<Self>) {
        let (next, pe) = (self.life + 1, self.some_pe(cx));
        ledger::of(HERE).died(cx.index());
        if next < self.births.lives {
            let again = cx.array().insert(cx.index());
            match self.rng.below(3) {
                0 => _ = again.on(pe).new(self.births, self.midwives, next),
                1 => _ = again.new(self.births, self.midwives, next),
                _ => self.midwives.at((pe % self.births.midwives) as i32).deliver(
                    self.births,
                    cx.array(),
                    cx.index(),
                    next,
                ),
            }
        }
        cx.destroy();
    }
}

/// Inserts, and sends. One is on each PE at first.
#[derive(Pup)]
struct Midwife;

#[chare(array1d)]
impl Midwife {
    #[init]
    fn new() -> Self {
        Midwife
    }

    /// Inserts its share of the first lives; messages are sent before, between and after.
    #[entry]
    fn begin(&mut self, cx: &mut Cx<Self>, births: Births, mortals: Array<Mortal>) -> u64 {
        let mut inserted = 0;
        cx.me().send(births, mortals, 0);
        for index in (cx.index()..births.indices).step_by(births.midwives as usize) {
            if index % 2 == 0 {
                mortals.at(index).take(ledger::of(HERE).send());
            }
            self.deliver(cx, births, mortals, index, 0);
            if index % 2 == 1 {
                mortals.at(index).take(ledger::of(HERE).send());
            }
            inserted += 1;
        }
        inserted
    }

    #[entry]
    fn deliver(&mut self, cx: &mut Cx<Self>, births: Births, mortals: Array<Mortal>, index: i32, life: u32) {
        mortals.insert(index).new(births, cx.array(), life);
    }

    /// Sends its share of the messages for all, a few at a time. One for each has been sent already.
    #[entry]
    fn send(&mut self, cx: &mut Cx<Self>, births: Births, mortals: Array<Mortal>, turn: u32) {
        let number = turn * births.midwives + cx.index() as u32 + 1;
        if number >= births.messages_each() {
            return;
        }
        for index in 0..births.indices {
            mortals.at(index).take(ledger::of(HERE).send());
        }
        cx.me().send(births, mortals, turn + 1);
    }
}

#[derive(Pup)]
struct Main;

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, births: Births) -> Self {
        cx.me().run(births);
        Main
    }

    #[entry]
    fn voted(votes: u64);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>, births: Births) {
        let midwives: Array<Midwife> = Midwife::array(births.midwives as i32).new();
        let mortals: Array<Mortal> = Mortal::sparse();
        let inserted: u64 = midwives.begin(births, mortals).reduce(Sum).await;
        mortals.done_inserting();
        cx.quiescence().await;
        self.expect("alive after all went", 0, ledger::of(HERE).alive());

        for index in 0..births.indices {
            mortals.insert(index).new(births, midwives, births.lives);
        }
        cx.quiescence().await;
        mortals.vote(cx.callback(Self::voted));
        let votes: u64 = cx.when(Self::voted).await;
        self.expect("votes", births.indices as u64, votes);
        cx.quiescence().await;
        ledger::of(HERE).quiet("after the last life began");
        let accounts: Vec<(i32, u32, u32)> = mortals.account().reduce(Concat).await;
        let expected: Vec<_> = (0..births.indices).map(|index| (index, births.lives, births.rest)).collect();
        if accounts != expected {
            ledger::of(HERE).violation(format!("the last accounts are {accounts:?}"));
        }
        cx.result("inserted", inserted);
        cx.result("accounts", format!("{accounts:?}"));
        ledger::of(HERE).finish();
        cx.exit();
    }
}

impl Main {
    fn expect(&self, what: &str, expected: u64, found: u64) {
        if expected != found {
            ledger::of(HERE).violation(format!("{what}: {found} instead of {expected}"));
        }
    }
}
