//! What an event costs its PE: two elements send a ball to and fro on one PE, in a job that is traced and in one that is not, in turn. A
//! message is three events: it is sent, a call begins, and it ends; the clock is looked at once, for the last, as calls are short. Beside
//! it is a third of what a look at the clock takes. The thread that writes the trace runs beside, on another core if there is one.

use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use talisman::RunArgs;
use talisman::launch::{Output, Progress};
use talisman::prelude::*;
use talisman::run::{Watch, run};

use crate::common::{Budget, nanos, row, sample, table, wanted};

const EVENT: &str = "an event of a message on its PE | the look at the clock in it";

/// So many jobs of each kind, in turn ...
const JOBS: u32 = 20;
/// ... each for so many rounds.
const ROUNDS: u32 = 25;
/// A quarter of what a PE has room for.
const MESSAGES: u64 = 20_000;
/// The thread that writes empties it between two rounds: a message that is dropped costs less.
const PAUSE: Duration = Duration::from_millis(25);
const EVENTS: f64 = 3.0;
const LOOKS: f64 = 1.0;
/// So many looks at the clock are timed.
const TIMED: u32 = 1_000_000;

/// Nanoseconds of a message, in each round of the job that runs.
static ROUNDS_NS: Mutex<Vec<f64>> = Mutex::new(Vec::new());

/// The same of all jobs, in the median round of each.
static OFF_NS: Mutex<Vec<f64>> = Mutex::new(Vec::new());
static ON_NS: Mutex<Vec<f64>> = Mutex::new(Vec::new());

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
    fn ball(&mut self, cx: &mut Cx<Self>, left: u64) {
        self.seen += 1;
        match left {
            0 => cx.array().at(0).finished(),
            _ => cx.array().at(1 - cx.index()).ball(left - 1),
        }
    }

    #[entry]
    fn finished();

    #[entry]
    async fn play(&mut self, cx: &mut Cx<Self>, messages: u64) -> f64 {
        let start: u64 = nanos();
        cx.array().at(0).ball(messages);
        cx.when(Self::finished).await;
        (nanos() - start) as f64 / messages as f64
    }
}

#[talisman::main]
async fn main(cx: &mut Cx) {
    let pair: Array<Player> = Player::array(2).new();
    for _ in 0..ROUNDS {
        std::thread::sleep(PAUSE);
        let ns: f64 = pair.at(0).play(MESSAGES).await;
        ROUNDS_NS.lock().expect("no one panics with it").push(ns);
    }
    cx.exit();
}

pub fn measure() {
    if !wanted(EVENT) {
        return;
    }
    for _ in 0..JOBS {
        let off = message_ns(None);
        let file = std::env::temp_dir().join(format!("talisman-bench-{}.pftrace", std::process::id()));
        let on = message_ns(Some(file.clone()));
        let _ = fs::remove_dir_all(file.with_extension("pftrace.parts"));
        OFF_NS.lock().expect("no one panics with it").push(off);
        ON_NS.lock().expect("no one panics with it").push(on);
        sample(EVENT, (on - off) / EVENTS, LOOKS * look_ns() / EVENTS);
    }
    let [off, on] = [&OFF_NS, &ON_NS].map(|all| median(&mut all.lock().expect("no one panics with it")));
    println!("A message takes {off:.1} ns, traced {on:.1}.");
    table("Tracing: what an event costs", "ns", &[row(EVENT, Budget::AtMost(12.0))]);
}

/// What a look at the clock takes that PEs measure by: the processor's counter.
fn look_ns() -> f64 {
    let start = Instant::now();
    for _ in 0..TIMED {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has it.
        black_box(unsafe { std::arch::x86_64::_rdtsc() });
        #[cfg(not(target_arch = "x86_64"))]
        black_box(start.elapsed());
    }
    start.elapsed().as_nanos() as f64 / f64::from(TIMED)
}

/// What a message took in the median round.
fn message_ns(trace: Option<PathBuf>) -> f64 {
    let options = RunArgs { pes: Some(1), trace, trace_size: 1 << 30, ..RunArgs::default() };
    let outcome = run::<__Main, _>((), &options, Watch::new(Output::capture(), Progress::off()));
    assert_eq!((outcome.status, &outcome.message), (0, &None), "the measured program failed");
    median(&mut std::mem::take(&mut *ROUNDS_NS.lock().expect("no one panics with it")))
}

fn median(all: &mut [f64]) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}
