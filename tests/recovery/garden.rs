//! Elements and whole arrays that come and go, sections of them, timers, calls that wait for an answer, and values that all may read:
//! `recovery program --garden …`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use talisman::prelude::*;

#[derive(clap::Parser, Clone, Debug, Pup)]
struct Options {
    /// Always `program`, which tells this from a run of the tests.
    program: String,
    /// Always set, which tells this from the other program.
    #[arg(long)]
    garden: bool,
    #[arg(long, default_value_t = 20)]
    rounds: u64,
    /// Waits before its 15th round for as long as this file is there
    #[arg(long)]
    hold: Option<String>,
}

impl Options {
    fn holds(&self) -> bool {
        self.hold.as_ref().is_some_and(|file| Path::new(file).exists())
    }
}

/// Runs it as the command line says.
pub fn start() -> ExitCode {
    talisman::start::main::<__Main, (Options,)>(talisman::program!())
}

/// Gives advice to whoever asks.
#[derive(Pup)]
struct Gardener {
    asked: u64,
}

#[chare(single)]
impl Gardener {
    #[init]
    fn new() -> Self {
        Gardener { asked: 0 }
    }

    #[entry]
    fn advice(&mut self, plant: i32, round: u64) -> u64 {
        self.asked += 1;
        (plant as u64 + 1) * round
    }

    #[entry]
    fn asked(&self) -> u64 {
        self.asked
    }
}

#[derive(Pup)]
struct Plant {
    gardener: Proxy<Gardener>,
    soil: Shared<Vec<u64>>,
    height: u64,
}

#[chare(array1d)]
impl Plant {
    #[init]
    fn new(gardener: Proxy<Gardener>, soil: Shared<Vec<u64>>) -> Self {
        Plant { gardener, soil, height: 0 }
    }

    #[entry]
    async fn tend(&mut self, cx: &mut Cx<Self>, round: u64) -> u64 {
        cx.sleep(Duration::from_micros(200 * (round % 4))).await;
        let advice: u64 = self.gardener.advice(cx.index(), round).await;
        self.height += advice + self.soil[self.height as usize % self.soil.len()];
        if (cx.index() as u64 + round).is_multiple_of(5) {
            writeln!(cx.output(), "plant {} is {} high in round {round}", cx.index(), self.height);
            cx.migrate_to((self.height % u64::from(cx.pes())) as u32);
        }
        self.height
    }

    #[entry]
    fn weight(&mut self, cx: &mut Cx<Self>) -> (u64, i32) {
        (self.height, cx.index())
    }

    #[entry]
    fn prune(&mut self, cx: &mut Cx<Self>) {
        cx.destroy();
    }
}

/// Lives for a round.
#[derive(Pup)]
struct Seedling {
    soil: Shared<Vec<u64>>,
}

#[chare(array1d)]
impl Seedling {
    #[init]
    fn new(soil: Shared<Vec<u64>>) -> Self {
        Seedling { soil }
    }

    #[entry]
    fn sprout(&mut self, cx: &mut Cx<Self>, round: u64) -> u64 {
        cx.migrate_to((cx.pe() + 1) % cx.pes());
        self.soil[0] * round + cx.index() as u64
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let gardener: Proxy<Gardener> = Gardener::chare().on(cx.pes() - 1).new();
    let plants: Array<Plant> = Plant::sparse();
    plants.done_inserting();
    for round in 1..=options.rounds {
        while round == 15 && options.holds() {
            cx.sleep(Duration::from_millis(2)).await;
        }
        let soil: Shared<Vec<u64>> = cx.share(vec![round; 3000]);
        for seed in 0..3 {
            plants
                .insert(3 * round as i32 + seed)
                .on((round + seed as u64) as u32 % cx.pes())
                .new(gardener, soil.clone());
        }
        cx.quiescence().await;
        let sum: u64 = plants.tend(round).reduce(Sum).await;
        let part: Section<Plant> = plants.section((1..=round).map(|round| 3 * round as i32));
        let weight: (u64, Vec<i32>) = part.weight().reduce((Sum, Concat)).await;
        if round % 2 == 0 {
            plants.at(3 * (round / 2) as i32 + 1).prune();
            cx.quiescence().await;
        }
        let seedlings: Array<Seedling> = Seedling::array(5).new(soil.clone());
        let few: Section<Seedling> = seedlings.section([1, 3]);
        let sprouts: u64 = few.sprout(round).reduce(Sum).await;
        // All have the soil then.
        let all: u64 = seedlings.sprout(round).reduce(Sum).await;
        seedlings.sprout(round).ignore();
        // Nobody waits for this: it is under way when the next checkpoint is taken, or somebody is lost.
        seedlings.destroy();
        part.destroy();
        if round % 2 == 1 {
            // Nobody who has it is on the move.
            cx.quiescence().await;
            soil.destroy();
        }
        writeln!(cx.output(), "round {round}: {sum} high, {weight:?}, {sprouts}, {all}");
        println!("at {round}");
        cx.step(round);
    }
    let asked: u64 = gardener.asked().await;
    cx.result("asked", asked);
}
