//! Programs to run in simulated worlds, each with a result that can be checked.
//!
//! | workload | is | checked by |
//! |---|---|---|
//! | `storm` | everything at once, at random, checkpoints too | a ledger of all messages, broadcasts, reductions and elements |
//! | `talk` | an ordered array whose elements move, and are removed and inserted again | numbered messages |
//! | `jacobi3d`, `leanmd` | the examples | their serial references, to the bit |
//! | `ring`, `nqueens` | the examples | what they count |
//! | `casts` | broadcasts, section multicasts and reductions that overlap | what each must come to |
//! | `chimes` | sections of an array and of a group reduce in rounds, each of which ends in quiescence | what each must come to, and that all who are left know it |
//! | `towers` | a nodegroup, whose members inherit from lost ones | what they have in all, and on which PEs they are |
//! | `flood` | large messages in both directions | their order, and every byte |
//! | `births` | elements inserted and removed under messages | each message taken in once, each life counted |
//! | `timers` | timers, sleep, calls within calls, quiescence | what rang before it was quiet, what was answered |
//! | `sync` | iterations with balancing steps between, and in the midst of, them | who was at sync and who went on, what came of it |
//! | `chorus` | elements that print lines wherever they are, up to the end, and move on at once when they are restored | each line comes once |
//! | `imbalance`, `gradient` | the example, and `leanmd` with a density gradient; objects are balanced | their serial references, to the bit |
//! | `ranks` | virtual MPI ranks: messages of all lengths and modes, probes, collectives, on several communicators; they move and are balanced | order for each pair, communicator and tag, each message once, what each collective must come to |
//!
//! A workload's result depends on its seed and size only, never on nodes, PEs, delays and faults.
//!
//! At the default size most runs last for so many milliseconds of simulated time, the shortest for half of one, the longest
//! for fifty: `timers` 9, `ring` 6, `storm` and `casts` 4, `talk`, `jacobi3d` and `leanmd` 3, `births` and `flood` 2,
//! `nqueens` 1.

mod balanced;
mod births;
mod casts;
mod chimes;
mod chorus;
mod examples;
mod flood;
mod jacobi3d;
mod leanmd;
#[path = "../../../storm/ledger.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod ledger;
mod nqueens;
mod ranks;
mod ring;
mod storm;
mod sync;
mod talk;
#[cfg(test)]
mod tests;
mod timers;
mod towers;

use std::any::Any;
use std::ops::Range;

use talisman::ids::PeId;
use talisman::simulation::{Plan, Ran};

use crate::oracles;
use ledger::Ledger;

/// How large a run is; 1 is the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u32);

impl Default for Size {
    /// About a few thousand messages, in a few milliseconds of simulated time.
    fn default() -> Self {
        Size(2)
    }
}

/// A run, and what its program says about it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The run.
    pub ran: Ran,
    /// What came out: the same in every run of this workload, seed and size that ends well. Of no meaning in others.
    pub result: Vec<String>,
    /// What happened and must not, however the run ended.
    pub wrong: Vec<String>,
    /// What has not happened: wrong in a run that ended well, and only there.
    pub missing: Vec<String>,
}

/// The names of all workloads.
pub const NAMES: &[&str] = &[
    "storm",
    "talk",
    "jacobi3d",
    "leanmd",
    "ring",
    "nqueens",
    "casts",
    "flood",
    "births",
    "timers",
    "sync",
    "chorus",
    "imbalance",
    "gradient",
    "chimes",
    "towers",
    "ranks",
];

/// What a result begins with that is a line of the program.
pub const PRINTS: &str = "prints ";

/// Those whose last step follows a quiescence, and waits for all that it begins. That of `sync` does as well, but a balancing step
/// may be under way then, which nobody waits for.
const DRAINED: &[&str] = &["storm", "talk", "casts", "flood", "births", "timers", "chimes", "towers"];

/// Runs a workload in a world. The seed decides what the program does; the world has a seed of its own, in `plan`.
/// `logging`: the log has all events.
///
/// # Panics
/// If there is no workload of that name.
pub fn run(name: &str, seed: u64, size: Size, plan: &Plan, logging: bool) -> Checked {
    let run = match name {
        "storm" => storm::run,
        "talk" => talk::run,
        "jacobi3d" => jacobi3d::run,
        "leanmd" => leanmd::run,
        "ring" => ring::run,
        "nqueens" => nqueens::run,
        "casts" => casts::run,
        "chimes" => chimes::run,
        "towers" => towers::run,
        "ranks" => ranks::run,
        "flood" => flood::run,
        "births" => births::run,
        "timers" => timers::run,
        "sync" => sync::run,
        "chorus" => chorus::run,
        "imbalance" => balanced::imbalance,
        "gradient" => balanced::gradient,
        _ => panic!("there is no workload `{name}`; there are {}", NAMES.join(", ")),
    };
    run(seed, Size(size.0.max(1)), plan, logging)
}

/// What the program that runs keeps beside the runtime, and that goes back with it.
pub struct Ledgers;

impl oracles::Book for Ledgers {
    fn keep(&self) -> Box<dyn Any> {
        Box::new(ledger::here().map(|ledger| ledger.keep()))
    }

    fn put_back(&self, kept: &dyn Any, epoch: u32) {
        let (Some(ledger), Some(kept)) = (ledger::here(), kept.downcast_ref::<Option<ledger::Book>>()) else {
            return;
        };
        // Before the program began, there was none.
        ledger.put_back(kept.as_ref().unwrap_or(&ledger.new_book()), epoch);
    }

    fn live_in(&self, pes: &Range<PeId>, life: u32) {
        ledger::here().into_iter().for_each(|ledger| ledger.live_in(pes.start / pes.len() as u32, life));
    }
}

/// Whether a workload ends well only when nothing is left to do: the others end with their result, whatever else is on its way.
pub fn is_drained(name: &str) -> bool {
    DRAINED.contains(&name)
}

/// Whether objects of a workload have addresses of the process in what they are packed to: stacks of ranks do. With
/// checkpoints, which have sums, a run of it is not the same again to the bit.
pub fn has_bytes_of_its_process(name: &str) -> bool {
    name == "ranks"
}

impl Checked {
    /// Whether the job ended as its program meant it to.
    pub fn ended_well(&self) -> bool {
        self.ran.last().outcome.status == 0
    }

    /// Everything that is wrong, given how the run ended.
    pub fn complaints(&self) -> Vec<String> {
        match self.ended_well() {
            true => [&self.wrong[..], &self.missing].concat(),
            false => self.wrong.clone(),
        }
    }

    /// Of a program that reports what it computes, and fails with one of these texts if that is not right.
    fn by_itself(ran: Ran, checks: &[&str]) -> Self {
        // Nothing that goes wrong in a world makes a program panic.
        let complains =
            |message: &&String| checks.iter().chain(&["panicked"]).any(|check| message.contains(check));
        let messages = ran.jobs().filter_map(|job| job.outcome.message.as_ref());
        let wrong: Vec<String> = messages.filter(complains).cloned().collect();
        let values = ran.last().outcome.results.iter().filter(|(name, _)| !is_measured(name));
        let result: Vec<_> = values.map(|(name, value)| format!("{name} {value:?}")).collect();
        let missing = if result.is_empty() { vec!["it reports nothing".into()] } else { Vec::new() };
        Checked { ran, result, wrong, missing }
    }

    /// Its lines count as well: each comes once and in its place, whatever was done again. Not of a program that tells times.
    fn with_lines(mut self) -> Self {
        self.result.extend(self.ran.last().output.iter().map(|line| as_printed(line)));
        self
    }

    /// The same of a program whose lines come from everywhere, in any order.
    fn with_unordered_lines(self) -> Self {
        let values = self.result.len();
        let mut checked = self.with_lines();
        checked.result[values..].sort_unstable();
        checked
    }

    /// Of a program that keeps a ledger too.
    fn by_ledger(ran: Ran, ledger: &Ledger) -> Self {
        let mut checked = Checked::by_itself(ran, &[]);
        checked.wrong.extend(ledger.wrong());
        checked.missing = ledger.missing();
        checked
    }
}

/// A line of a program as it is in its result.
pub fn as_printed(line: &str) -> String {
    format!("{PRINTS}{line}")
}

/// Whether a result is a time, which differs from run to run: by their names, as in the examples.
fn is_measured(name: &str) -> bool {
    name.ends_with("_s")
}
