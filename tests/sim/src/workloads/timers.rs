//! Timers, sleep, idle moments, calls within calls, and quiescence, which may not come before any of them is over.

use std::time::Duration;

use talisman::prelude::*;
use talisman::rng::Rng;
use talisman::simulation::{self, simulate};

use super::ledger::{self, HERE};
use super::{Checked, Size};

#[derive(Clone, Copy, Pup, clap::Parser)]
struct Waits {
    #[arg(skip)]
    seed: u64,
    #[arg(skip)]
    elements: i32,
    #[arg(skip)]
    waves: u32,
    /// How deep calls go.
    #[arg(skip)]
    depth: u32,
}

pub fn run(seed: u64, size: Size, plan: &simulation::Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let waits = Waits {
        seed,
        elements: 2 + rng.below(3 * u64::from(size.0)) as i32,
        waves: 1 + size.0 + rng.below(2) as u32,
        depth: 1 + rng.below(3) as u32,
    };
    let ledger = ledger::open(HERE, 0);
    let ran = simulate::<Main>((waits,), plan, logging);
    ledger::close(HERE);
    Checked::by_ledger(ran, &ledger)
}

#[derive(Pup)]
struct Waiter {
    waits: Waits,
    /// Draws places and times, in whatever order things happen; what is counted does not depend on it.
    rng: Rng,
    ticks: u64,
}

#[chare(array1d)]
impl Waiter {
    #[init]
    fn new(cx: &mut Cx<Self>, waits: Waits) -> Self {
        Waiter { waits, rng: Rng::new(waits.seed ^ ((cx.index() as u64) << 32)), ticks: 0 }
    }

    /// A wave begins; gives what the calls came to.
    #[entry]
    async fn wave(&mut self, cx: &mut Cx<Self>, wave: u32) -> u64 {
        self.set_timers(cx);
        let id: u64 = ledger::of(HERE).send();
        self.sleep(cx).await;
        let to: i32 = self.other();
        let leaves: u64 = cx.array().at(to).climb(self.waits.depth, u64::from(wave)).await;
        self.wander(cx);
        self.sleep(cx).await;
        ledger::of(HERE).receive(id, cx.index());
        leaves
    }

    /// Asks two others, who ask two others, and so on; gives the sum of what the last ones say.
    #[entry]
    async fn climb(&mut self, cx: &mut Cx<Self>, left: u32, value: u64) -> u64 {
        self.wander(cx);
        if left == 0 {
            return value + 1;
        }
        let mut sum: u64 = 0;
        for turn in 0..2u64 {
            let to: i32 = self.other();
            let part: u64 = cx.array().at(to).climb(left - 1, 2 * value + turn).await;
            sum += part;
        }
        sum
    }

    #[entry]
    fn tick(&mut self, cx: &mut Cx<Self>, id: u64, _now: ()) {
        ledger::of(HERE).receive(id, cx.index());
        self.ticks += 1;
        self.wander(cx);
    }

    #[entry]
    fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Sleeps for at least as long as it is to, by the clock of where it is: another process's may show any time, be it of another node, of the
    /// same one, or of one of another job.
    async fn sleep(&mut self, cx: &mut Cx<Self>) {
        let time: Duration = Duration::from_micros(self.rng.below(400));
        let (process, before): (u32, Duration) = (ledger::of(HERE).process(cx.node()), cx.now());
        cx.sleep(time).await;
        let is_here = ledger::of(HERE).process(cx.node()) == process && !ledger::of(HERE).was_started_again();
        if is_here && cx.now() < before + time {
            ledger::of(HERE).violation(format!("{} slept for less than {time:?}", cx.index()));
        }
        self.wander(cx);
    }
}

impl Waiter {
    /// Three timers, of which one may be due at once, and an idle moment.
    fn set_timers(&mut self, cx: &mut Cx<Self>) {
        for _ in 0..3 {
            let (time, id) = (Duration::from_micros(self.rng.below(1000)), ledger::of(HERE).send());
            cx.after(time, cx.callback(Self::tick).with(id));
        }
        cx.when_idle(cx.callback(Self::tick).with(ledger::of(HERE).send()));
    }

    fn other(&mut self) -> i32 {
        self.rng.below(self.waits.elements as u64) as i32
    }

    fn wander(&mut self, cx: &mut Cx<Self>) {
        let pe = self.rng.below(2 * u64::from(cx.pes())) as u32;
        if pe < cx.pes() {
            cx.migrate_to(pe);
        }
    }
}

#[derive(Pup)]
struct Main;

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, waits: Waits) -> Self {
        cx.me().run(waits);
        Main
    }

    #[entry]
    fn quiet(wave: u32, _now: ());

    #[entry]
    fn summed(wave: u32, sum: u64);

    /// Each wave is over when it is quiet; half of them are waited for in the one way, half in the other.
    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>, waits: Waits) {
        let waiters: Array<Waiter> = Waiter::array(waits.elements).new(waits);
        for wave in 0..waits.waves {
            waiters.wave(wave).reduce(Sum).reply(cx.callback(Self::summed).with(wave));
            if wave % 2 == 0 {
                cx.quiescence().await;
            } else {
                cx.on_quiescence(cx.callback(Self::quiet).with(wave));
                cx.when(Self::quiet, wave).await;
            }
            ledger::of(HERE).quiet("after a wave");
            let ticks: u64 = waiters.ticks().reduce(Sum).await;
            self.check("ticks", ticks, 4 * u64::from(wave + 1) * waits.elements as u64);
            let sum: u64 = cx.when(Self::summed, wave).await;
            self.check("the sum of a wave", sum, waits.elements as u64 * leaves(waits.depth, wave.into()));
            cx.result("ticks", ticks);
            cx.result(&format!("wave {wave}"), sum);
        }
        ledger::of(HERE).finish();
        cx.exit();
    }
}

impl Main {
    fn check(&self, what: &str, found: u64, expected: u64) {
        if found != expected {
            ledger::of(HERE).violation(format!("{what}: {found} instead of {expected}"));
        }
    }
}

/// What a call comes to.
fn leaves(depth: u32, value: u64) -> u64 {
    match depth {
        0 => value + 1,
        _ => leaves(depth - 1, 2 * value) + leaves(depth - 1, 2 * value + 1),
    }
}
