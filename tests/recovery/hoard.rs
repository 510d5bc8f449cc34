//! Objects whose state grows beyond what a checkpoint can take: `recovery program --hoard …`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use talisman::prelude::*;

#[derive(clap::Parser, Clone, Debug, Pup)]
struct Options {
    /// Always `program`, which tells this from a run of the tests.
    program: String,
    /// Always set, which tells this from the other programs.
    #[arg(long)]
    hoard: bool,
    #[arg(long, default_value_t = 8)]
    rounds: u64,
    /// What grows: how deep something is (`deep`), or how many values without bytes there are (`empty`)
    #[arg(long, default_value = "deep")]
    what: String,
    /// Nothing grows beyond what can be kept as long as this file is there
    #[arg(long)]
    within: Option<String>,
    /// Waits when it has too much for as long as this file is there
    #[arg(long)]
    hold: Option<String>,
}

impl Options {
    fn holds(&self) -> bool {
        self.hold.as_ref().is_some_and(|file| Path::new(file).exists())
    }

    fn stays_within(&self) -> bool {
        self.within.as_ref().is_some_and(|file| Path::new(file).exists())
    }
}

/// Runs it as the command line says.
pub fn start() -> ExitCode {
    talisman::start::main::<Main, (Options,)>(talisman::program!())
}

/// Of the rounds in which something grows, the last one after which all can be kept.
const LAST: u64 = 4;
/// Boxes, one in the other, and values without bytes: of four rounds there are just few enough.
const LEVELS: u64 = 500;
const EMPTY: usize = 250_000;

#[derive(Pup, Default)]
struct Nest {
    inner: Option<Box<Nest>>,
}

#[derive(Pup)]
struct Hoarder {
    nest: Nest,
    empty: Vec<()>,
    rounds: u64,
}

#[chare(array1d)]
impl Hoarder {
    #[init]
    fn new() -> Self {
        Hoarder { nest: Nest::default(), empty: Vec::new(), rounds: 0 }
    }

    #[entry]
    fn grow(&mut self, cx: &mut Cx<Self>, what: String) -> u64 {
        if cx.index() == 1 {
            match &*what {
                "deep" => self.deepen(),
                _ => self.empty.resize(self.empty.len() + EMPTY, ()),
            }
        }
        self.rounds
    }

    #[entry]
    fn count(&mut self) -> u64 {
        self.rounds += 1;
        self.levels() + self.empty.len() as u64 + self.rounds
    }
}

impl Hoarder {
    fn deepen(&mut self) {
        let nest = std::mem::take(&mut self.nest);
        self.nest = (0..LEVELS).fold(nest, |nest, _| Nest { inner: Some(Box::new(nest)) });
    }

    fn levels(&self) -> u64 {
        std::iter::successors(self.nest.inner.as_deref(), |nest| nest.inner.as_deref()).count() as u64
    }
}

#[derive(Pup)]
struct Main {
    options: Options,
}

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, options: Options) -> Self {
        cx.me().run();
        Main { options }
    }

    #[entry]
    fn kept();

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) {
        let hoarders: Array<Hoarder> = Hoarder::array(6).new();
        for round in 1..=self.options.rounds {
            if round <= LAST || !self.options.stays_within() {
                let _before: u64 = hoarders.grow(self.options.what.clone()).reduce(Max).await;
            }
            let sum: u64 = hoarders.count().reduce(Sum).await;
            writeln!(cx.output(), "round {round}: {sum}");
            println!("at {round}");
            while round > LAST && self.options.holds() {
                cx.sleep(Duration::from_millis(2)).await;
            }
            cx.checkpoint(cx.callback(Self::kept));
            cx.when(Self::kept).await;
            cx.step(round);
        }
        let sum: u64 = hoarders.count().reduce(Sum).await;
        cx.result("sum", sum);
        cx.exit();
    }
}
