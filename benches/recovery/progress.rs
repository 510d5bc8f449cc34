//! Figure 1 of "A Fault Tolerant Protocol for Massively Parallel Systems": how far each node is over time, where one is lost. And how long
//! those that are not lost stand still meanwhile.
//!
//! The program is this one, started again: a runner on each node does one step after the other, tells the next one of each, waits for
//! nobody, and notes it in a file, also what it does again.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use talisman::prelude::*;

use crate::common::{Budget, row, sample, table};
use crate::progress_plot::{self, Panel};
use crate::step_notes::{self, Note, nanos};
use crate::{is_smoke, rounds};

pub const PROGRAM: &str = "@progress";

const ROUNDS: u32 = 5;
const NODES: u32 = 4;
const LOST: u32 = 2;
const STEPS: u32 = 600;
/// What a step takes.
const PAUSE: Duration = Duration::from_millis(1);
/// Where the figure goes, and what it is called.
const FOLDER: &str = "docs/src/appendix";
const FIGURE: &str = "logging-progress.svg";

pub fn measure() {
    let mut panels = Vec::new();
    for round in 0..rounds(ROUNDS) {
        for (name, mode) in MODES {
            let (calm, hurt) = (Noted::of(mode, false), Noted::of(mode, true));
            let pause = |noted: &Noted| noted.longest_pause().as_secs_f64() * 1e3;
            sample(paused(name), pause(&hurt), pause(&calm));
            if round == 0 {
                panels.push(Panel { name: name.into(), nodes: hurt.nodes() });
            }
        }
    }
    let rows = MODES.map(|(name, _)| {
        row(paused(name), if name == "logging" { Budget::AtMost(5.0) } else { Budget::Open })
    });
    table("Longest time between two steps of a node that is not lost", "ms", &rows);
    if !is_smoke() {
        let file = Path::new(FOLDER).join(FIGURE);
        progress_plot::write(&file, &panels).unwrap_or_else(|error| panic!("{FIGURE}: {error}"));
        println!("{}", file.display());
    }
}

/// Names, and what stands for them on the command line.
const MODES: [(&str, &str); 2] = [("logging", "--ft logging"), ("double", "--ft double --respawn")];

fn paused(mode: &str) -> String {
    format!("--ft {mode}: one loss | none")
}

/// What runners have noted of a run.
struct Noted(Vec<Note>);

impl Noted {
    fn of(mode: &str, is_hurt: bool) -> Noted {
        let steps = if is_smoke() { STEPS / 4 } else { STEPS };
        let kill = if is_hurt { format!("--kill {LOST}@step{}", steps * 5 / 8) } else { String::new() };
        let every = steps / 4;
        let options = format!(
            "{PROGRAM} --steps {steps} --nodes {NODES} --pes 1 {mode} --ckpt-every {every}steps {kill}"
        );
        Noted(step_notes::of_run(&options))
    }

    /// Steps of each node, with their times since the first, in seconds.
    fn nodes(&self) -> BTreeMap<u32, Vec<(f64, u64)>> {
        let first = self.0.first().map_or(0, |note| note.at);
        let mut nodes = BTreeMap::<u32, Vec<_>>::new();
        for Note { node, step, at, .. } in &self.0 {
            nodes.entry(*node).or_default().push(((at - first) as f64 / 1e9, *step));
        }
        nodes
    }

    /// Between two steps of one that is not lost: from when it is until the lost node is as far as it had been. Where none is lost, at any
    /// time. What all wait for a checkpoint is not in it.
    fn longest_pause(&self) -> Duration {
        let of_lost: Vec<_> = self.0.iter().filter(|note| note.node == LOST).collect();
        let first = of_lost.first().expect("each node does something");
        let last = of_lost.iter().rfind(|note| note.process == first.process).unwrap_or(first);
        let back = of_lost.iter().find(|note| note.at > last.at && note.step >= last.step);
        let from = if back.is_some() { last.at } else { 0 };
        let until = back.map_or(u64::MAX, |note| note.at);
        let mut longest = 0;
        for node in (0..NODES).filter(|node| *node != LOST) {
            let times = self.0.iter().filter(|note| note.node == node).map(|note| note.at);
            let within: Vec<_> = times.filter(|at| (from..=until).contains(at)).collect();
            let pauses = within.windows(2).map(|two| two[1] - two[0]);
            longest = pauses.fold(longest, u64::max);
        }
        Duration::from_nanos(longest)
    }
}

#[derive(clap::Parser, Clone, Pup)]
struct Options {
    /// Always the name of this program, which tells it from others.
    program: String,
    #[arg(long)]
    steps: u32,
    /// Where each step is noted
    #[arg(long)]
    notes: Option<String>,
    /// Each step is told of, with its time
    #[arg(long)]
    talks: bool,
}

/// Runs it as the command line says.
pub fn program() -> ExitCode {
    talisman::start::main::<__Main, (Options,)>(talisman::program!())
}

#[derive(Pup)]
struct Runner {
    options: Options,
    heard: u64,
}

#[chare(group)]
impl Runner {
    #[init]
    fn new(options: Options) -> Self {
        Runner { options, heard: 0 }
    }

    #[entry]
    fn next(step: u32);

    #[entry]
    fn hear(&mut self, step: u32) {
        self.heard += u64::from(step);
    }

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) -> u64 {
        for step in 1..=self.options.steps {
            std::thread::sleep(PAUSE);
            self.options.notes.iter().for_each(|file| step_notes::note(file, cx.index(), step));
            if self.options.talks {
                writeln!(cx.output(), "said at {}", nanos());
            }
            cx.group().on((cx.index() + 1) % cx.pes()).hear(step);
            if cx.index() == 0 {
                cx.step(u64::from(step));
            }
            cx.group().on(cx.index()).next(step);
            cx.when(Self::next, step).await;
        }
        self.heard
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let runners: Group<Runner> = Runner::group().new(options);
    let heard: u64 = runners.run().reduce(Sum).await;
    cx.result("heard", heard);
}
