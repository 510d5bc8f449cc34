//! Iterations with a balancing step between them, whichever way objects are balanced.
//!
//! Elements of an array compute for random times, tell their neighbours, come and go, move by themselves, and are at sync; those
//! of another array are so now and then, and a group counts. Steps come at sync, by period, on request and of themselves. What
//! comes out depends on none of it.

use std::time::Duration;

use talisman::launch::balancing::Every;
use talisman::launch::{BalancingStep, RunArgs};
use talisman::lb::strategies::KNOWN;
use talisman::prelude::*;
use talisman::rng::Rng;
use talisman::simulation::{self, Ran, charge, simulate};

use super::ledger::{self, Cast, HERE};
use super::{Checked, Size};

#[derive(Clone, Copy, Pup, clap::Parser)]
struct Sync {
    #[arg(skip)]
    seed: u64,
    #[arg(skip)]
    elements: i32,
    #[arg(skip)]
    iterations: u32,
}

pub fn run(seed: u64, size: Size, plan: &simulation::Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let sync = Sync {
        seed,
        elements: 2 + rng.below(6 * u64::from(size.0)) as i32,
        iterations: 2 + size.0 + rng.below(3) as u32,
    };
    let plan = with_options(plan, &balancing(&mut rng, &plan.options));
    let ledger = ledger::open(HERE, 0);
    let ran = simulate::<Main>((sync,), &plan, logging);
    ledger::close(HERE);
    let mut checked = Checked::by_ledger(ran, &ledger);
    checked.wrong.extend(wrong_steps(&checked.ran));
    checked
}

/// The world, and those of jobs that are started again, with these options of balancing.
pub(super) fn with_options(plan: &simulation::Plan, balancing: &RunArgs) -> simulation::Plan {
    let RunArgs { balancer, lb_every, .. } = balancing.clone();
    let options = Box::new(RunArgs { balancer, lb_every, ..(*plan.options).clone() });
    let again = plan.again.as_ref().map(|again| Box::new(with_options(again, balancing)));
    simulation::Plan { options, again, ..plan.clone() }
}

/// What is wrong with balancing steps.
pub(super) fn wrong_steps(ran: &Ran) -> Vec<String> {
    ran.jobs().flat_map(|job| &job.outcome.balancing).filter_map(wrong_with).collect()
}

fn wrong_with(step: &BalancingStep) -> Option<String> {
    let number = step.number;
    if let Some(why) = &step.refused {
        return Some(format!("balancing step {number} was refused: {why}"));
    }
    let (told, objects) = (step.moves + step.out_of_date, step.objects);
    // Fewer, if an object was on two PEs when these measured, one after the other.
    (told > objects).then(|| format!("balancing step {number} tells of {told} moves of {objects} objects"))
}

/// When and how objects are balanced.
pub(super) fn balancing(rng: &mut Rng, options: &RunArgs) -> RunArgs {
    let lb_every = match rng.below(4) {
        0 => Every::Time(Duration::from_micros(20 + rng.below(2_000))),
        1 => Every::Auto,
        _ => Every::Sync,
    };
    let known = |rng: &mut Rng| KNOWN[rng.below(KNOWN.len() as u64) as usize].name;
    let balancer = match rng.below(8) {
        // Barriers are to work without, too.
        0 => "off".into(),
        // Everybody moves.
        1 | 2 => "rotate".into(),
        3 => "random+greedy".into(),
        _ => known(rng).into(),
    };
    RunArgs { balancer, lb_every, ..options.clone() }
}

/// Which array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Worker,
    Idler,
}

impl Sync {
    /// Workers that are at a sync: the first ones, and the children so far, of which every other has gone after two.
    fn workers_at(&self, sync: u32) -> u64 {
        let children = (0..=sync).filter(|born| !goes(*born) || sync - born < LIFE);
        self.elements as u64 + children.count() as u64
    }

    /// Computations of all workers.
    fn computations(&self) -> u64 {
        (0..self.iterations).map(|sync| self.workers_at(sync)).sum()
    }

    fn check_idlers(&self) -> u64 {
        u64::from(self.iterations.div_ceil(2)) * self.elements as u64
    }
}

/// Syncs that a child takes part in before it goes, if it goes.
const LIFE: u32 = 2;

/// Whether a child goes that was born in this iteration.
fn goes(born: u32) -> bool {
    born.is_multiple_of(2)
}

/// An element is about to be at its sync of this number.
fn arrives(kind: Kind, sync: u32) {
    ledger::of(HERE).arrive(kind as u32, sync);
}

/// An element goes on after a sync: all have been at it.
fn goes_on(kind: Kind, sync: u32, expected: u64) {
    let there = ledger::of(HERE).arrived(kind as u32, sync);
    if there != expected {
        ledger::of(HERE).violation(format!("{there} of {expected} were at sync {sync} of {kind:?}s"));
    }
}

/// Iterates.
#[derive(Pup)]
struct Worker {
    sync: Sync,
    counters: Group<Counter>,
    /// Draws times and places, in whatever order things happen.
    rng: Rng,
    /// In which iteration it was born; none of the first ones.
    born: Option<u32>,
    iteration: u32,
    runs: bool,
    heard: u64,
}

#[chare(array1d)]
impl Worker {
    #[init]
    fn new(cx: &mut Cx<Self>, sync: Sync, counters: Group<Counter>, born: Option<u32>) -> Self {
        if born.is_some() {
            cx.me().run();
        }
        let rng = Rng::new(sync.seed ^ ((cx.index() as u64) << 32));
        Worker { sync, counters, rng, born, iteration: born.unwrap_or(0), runs: false, heard: 0 }
    }

    /// All iterations, of one that was inserted those that are left.
    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) {
        if self.runs {
            // The broadcast to the first elements reaches a child that is born before it has passed.
            return;
        }
        self.runs = true;
        while self.iteration < self.sync.iterations {
            self.compute(cx);
            cx.at_sync().await;
            self.synced(cx);
            if self.is_to_go() {
                cx.destroy();
                return;
            }
        }
    }

    #[entry]
    fn hear(&mut self, cx: &mut Cx<Self>, id: u64) {
        ledger::of(HERE).receive(id, cx.index());
        self.heard += 1;
        self.wander(cx);
    }

    #[entry]
    fn heard(&self) -> u64 {
        self.heard
    }
}

impl Worker {
    /// Half of the elements have much more to do, others every time.
    fn compute(&mut self, cx: &mut Cx<Self>) {
        let heavy = (cx.index() as u64 / 2 + u64::from(self.iteration)) % 2 * 20;
        charge(Duration::from_micros(self.rng.below(5) + heavy));
        for _ in 0..2 {
            let to = self.rng.below(self.sync.elements as u64) as i32;
            cx.array().at(to).hear(ledger::of(HERE).send());
        }
        self.counters.on(cx.pe()).count(cx.pe());
        if self.rng.below(6) == 0 {
            cx.balance();
        }
        self.give_birth(cx);
        arrives(Kind::Worker, self.iteration);
        self.wander(cx);
    }

    /// One element has a child in each iteration, which takes part in the sync that its mother is about to be at.
    fn give_birth(&mut self, cx: &mut Cx<Self>) {
        if cx.index() == self.iteration as i32 % self.sync.elements {
            let child = self.sync.elements + self.iteration as i32;
            cx.array().insert(child).new(self.sync, self.counters, Some(self.iteration));
        }
    }

    /// All have been at sync as often.
    fn synced(&mut self, cx: &mut Cx<Self>) {
        goes_on(Kind::Worker, self.iteration, self.sync.workers_at(self.iteration));
        ledger::of(HERE).cast(Cast::Step(self.iteration), cx.index());
        self.iteration += 1;
        self.wander(cx);
    }

    fn is_to_go(&self) -> bool {
        self.born.is_some_and(|born| goes(born) && self.iteration == born + LIFE)
    }

    fn wander(&mut self, cx: &mut Cx<Self>) {
        let pe = self.rng.below(4 * u64::from(cx.pes())) as u32;
        if pe < cx.pes() {
            cx.migrate_to(pe);
        }
    }
}

/// Is at sync half as often, and waits for it in no async entry.
#[derive(Pup)]
struct Idler {
    sync: Sync,
    iteration: u32,
}

#[chare(array1d)]
impl Idler {
    #[init]
    fn new(sync: Sync) -> Self {
        Idler { sync, iteration: 0 }
    }

    #[entry]
    fn run(&mut self, cx: &mut Cx<Self>) {
        if self.iteration > 0 {
            goes_on(Kind::Idler, self.iteration - 1, self.sync.elements as u64);
            ledger::of(HERE).cast(Cast::Part(self.iteration), cx.index());
        }
        if self.iteration < self.sync.iterations.div_ceil(2) {
            arrives(Kind::Idler, self.iteration);
            self.iteration += 1;
            cx.at_sync_then(Self::run);
        }
    }

    #[entry]
    fn iterations(&self) -> u64 {
        self.iteration.into()
    }
}

/// By this it is known how many counters were made: beside the [`Kind`]s.
const COUNTERS: u32 = 2;

/// On every PE, where it stays: counts.
#[derive(Pup)]
struct Counter {
    count: u64,
}

#[chare(group)]
impl Counter {
    #[init]
    fn new() -> Self {
        ledger::of(HERE).arrive(COUNTERS, 0);
        Counter { count: 0 }
    }

    #[entry]
    fn count(&mut self, cx: &mut Cx<Self>, pe: u32) {
        self.count += 1;
        if cx.pe() != pe {
            ledger::of(HERE).violation(format!("the counter of PE {pe} is on PE {}", cx.pe()));
        }
    }

    /// What it has counted, and that it is there.
    #[entry]
    fn counted(&self) -> Vec<u64> {
        vec![self.count, 1]
    }
}

#[derive(Pup)]
struct Main;

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, sync: Sync) -> Self {
        cx.me().run(sync);
        Main
    }

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>, sync: Sync) {
        let counters: Group<Counter> = Counter::group().new();
        let workers: Array<Worker> = Worker::array(sync.elements).new(sync, counters, None);
        let idlers: Array<Idler> = Idler::array(sync.elements).new(sync);
        workers.run();
        idlers.run();
        cx.quiescence().await;
        ledger::of(HERE).quiet("after the last sync");
        for iteration in 0..sync.iterations {
            let resumed: u64 = ledger::of(HERE).receivers(Cast::Step(iteration));
            self.expect("elements that went on", sync.workers_at(iteration), resumed);
        }
        let heard: u64 = workers.heard().reduce(Sum).await;
        let counted: Vec<u64> = counters.counted().reduce(Sum).await;
        let idle: u64 = idlers.iterations().reduce(Sum).await;
        // What lost ones had counted is lost with them, also if others are there in their places.
        let made = ledger::of(HERE).arrived(COUNTERS, 0);
        if (counted[1], made) == (u64::from(cx.pes()), u64::from(cx.pes())) {
            self.expect("computations", sync.computations(), counted[0]);
        }
        self.expect("messages", 2 * sync.computations(), heard);
        self.expect("syncs of the other array", sync.check_idlers(), idle);
        cx.result("heard", heard);
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
