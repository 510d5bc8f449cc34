//! How long a lost node takes to do again what it had done, beside how long it took the first time.
//!
//! The program is this one, started again: on each of two nodes a worker does a step of so much work, tells the other one, and waits for
//! its message. Each notes its steps.

use std::process::ExitCode;

use talisman::prelude::*;

use crate::common::grain::work;
use crate::common::{Budget, row, sample, table};
use crate::step_notes::{self, Note};
use crate::{is_smoke, rounds};

pub const PROGRAM: &str = "@replay";

const ROUNDS: u32 = 9;
const STEPS: u32 = 4_000;
/// Units of work of a step: some hundred microseconds, or some ten.
const WORK: [(u64, &str); 2] = [(100_000, "entries of 100,000 units"), (10_000, "entries of 10,000 units")];
const LOST: u32 = 1;

pub fn measure() {
    for _ in 0..rounds(ROUNDS) {
        for (units, what) in WORK {
            let (again, first) = times_ms(units);
            sample(of(what), again, first);
        }
    }
    table("Done again by a lost node", "ms", &WORK.map(|(_, what)| row(of(what), Budget::Times(1.0))));
}

fn of(what: &str) -> String {
    format!("{what}, again | the first time")
}

/// From the first step to the last one that was done twice.
fn times_ms(units: u64) -> (f64, f64) {
    let steps = if is_smoke() { STEPS / 40 } else { STEPS };
    let kill = steps * 3 / 4;
    let options = format!(
        "{PROGRAM} --steps {steps} --units {units} --nodes 2 --pes 1 --ft logging --ckpt-every 1000000000steps --kill {LOST}@step{kill}"
    );
    let notes = step_notes::of_run(&options);
    let of_lost: Vec<&Note> = notes.iter().filter(|note| note.node == LOST).collect();
    let former = of_lost.first().expect("it has done something").process;
    let (first, again): (Vec<&Note>, Vec<&Note>) = of_lost.iter().partition(|note| note.process == former);
    let last = first.last().expect("it has done something").step;
    let time = |of: &[&Note]| {
        let at = |step: u64| of.iter().find(|note| note.step == step).expect("it has done it").at;
        (at(last) - at(1)) as f64 / 1e6
    };
    (time(&again), time(&first))
}

pub fn program() -> ExitCode {
    main()
}

#[derive(clap::Parser, Clone, Pup)]
struct Options {
    program: String,
    #[arg(long)]
    steps: u32,
    #[arg(long)]
    units: u64,
    #[arg(long)]
    notes: String,
}

#[derive(Pup)]
struct Worker {
    options: Options,
}

#[chare(group)]
impl Worker {
    #[init]
    fn new(options: Options) -> Self {
        Worker { options }
    }

    #[entry]
    fn next(step: u32);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) -> u64 {
        for step in 1..=self.options.steps {
            work(self.options.units);
            step_notes::note(&self.options.notes, cx.index(), step);
            if cx.index() == 0 {
                cx.step(u64::from(step));
            }
            cx.group().on(1 - cx.index()).next(step);
            cx.when(Self::next, step).await;
        }
        u64::from(self.options.steps)
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let workers: Group<Worker> = Worker::group().new(options);
    let steps: u64 = workers.run().reduce(Sum).await;
    cx.result("steps", steps);
}
