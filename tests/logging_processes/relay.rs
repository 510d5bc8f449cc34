//! Runners that pass sums on around a ring, and note in a file that they do: `logging_processes program --relay …`.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use talisman::prelude::*;

#[derive(clap::Parser, Clone, Debug, Pup)]
struct Options {
    /// Always `program`, which tells this from a run of the tests.
    program: String,
    /// Tells it from the other program.
    #[arg(long)]
    relay: bool,
    #[arg(long, default_value_t = 60)]
    rounds: u64,
    /// Numbers in a message
    #[arg(long, default_value_t = 8)]
    words: usize,
    /// What a runner takes for each message, in microseconds
    #[arg(long, default_value_t = 0)]
    pause_us: u64,
    /// Where each process notes what it executes
    #[arg(long)]
    notes: Option<String>,
    /// The round in which the runner on node 1 panics
    #[arg(long)]
    panic_at: Option<u64>,
    /// The round in which the runner on node 1 aborts its process, each time
    #[arg(long)]
    abort_at: Option<u64>,
}

/// Runs it as the command line says.
pub fn start() -> ExitCode {
    talisman::start::main::<__Main, (Options,)>(talisman::program!())
}

/// One on each PE.
#[derive(Pup)]
struct Runner {
    options: Options,
    /// Of the rounds that are over.
    sum: u64,
    /// What has come in this one, perhaps before it has passed on its own.
    taken: u64,
}

#[chare(group)]
impl Runner {
    #[init]
    fn new(_: &mut Cx<Self>, options: Options) -> Self {
        Runner { options, sum: 1, taken: 0 }
    }

    /// The next one takes what this one has, in each round.
    #[entry]
    fn pass(&mut self, cx: &mut Cx<Self>, round: u64) {
        let next = (cx.index() + 1) % cx.pes();
        cx.group().on(next).take(round, vec![self.sum; self.options.words]);
    }

    #[entry]
    fn take(&mut self, cx: &mut Cx<Self>, round: u64, numbers: Vec<u64>) {
        self.note(cx.index(), round);
        let is_second = cx.index() == 1;
        assert!(!is_second || self.options.panic_at != Some(round), "enough of it");
        if is_second && self.options.abort_at == Some(round) {
            std::process::abort();
        }
        self.taken = numbers.iter().fold(round, |sum, number| sum.wrapping_mul(31).wrapping_add(*number));
        std::thread::sleep(Duration::from_micros(self.options.pause_us));
    }

    #[entry]
    fn sum(&mut self, cx: &mut Cx<Self>, round: u64) -> u64 {
        self.sum = self.sum.rotate_left(7) ^ self.taken;
        writeln!(cx.output(), "runner {} in round {round}: {:016x}", cx.index(), self.sum);
        self.sum >> 8
    }

    /// What a process executes, also when it runs again.
    fn note(&self, runner: u32, round: u64) {
        if let Some(file) = &self.options.notes {
            let line = format!("{} {runner} {round}\n", std::process::id());
            let file = OpenOptions::new().append(true).create(true).open(file);
            let noted = file.and_then(|mut file| file.write_all(line.as_bytes()));
            noted.expect("the scratch folder can be written");
        }
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let runners: Group<Runner> = Runner::group().new(options.clone());
    cx.expect_steps(options.rounds);
    let mut all: u64 = 0;
    for round in 1..=options.rounds {
        runners.pass(round);
        cx.quiescence().await;
        let sum: u64 = runners.sum(round).reduce(Sum).await;
        all = all.rotate_left(3) ^ sum;
        cx.step(round);
    }
    cx.result("all", all);
    writeln!(cx.output(), "all: {all:016x}");
}
