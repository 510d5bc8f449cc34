//! Virtual MPI ranks: see `tests/ranks/storm/program.rs`. Messages of all lengths and modes, wildcards, probes, collectives, on
//! several communicators; ranks move, and are balanced.
//!
//! They are real: threads of their own on stacks and heaps in slots, at the same addresses in every node. In a world all nodes
//! are in one process, and worlds of several threads are besides. So a rank's pages are moved to its addresses before it runs, and
//! aside as soon as it waits (`Slot::put_back_in_turn`): two nodes of a cut world may hold the same rank, and worlds side by side do.
//! An interpreter in the place of the thread would try the engine alone, not what a move does with a stack and a heap.
//!
//! Stacks have addresses of the process in them, which no seed determines. So sums of checkpoints differ when a run with `--ft` is
//! repeated, and with them its trace; what comes of it does not, and is compared.

use talisman::rng::Rng;
use talisman::simulation::{Plan, simulate};
use talisman_ampi::RankArgs;

use super::sync;
use super::{Checked, Size};
use program::{Main, Options, Storm};

#[path = "../../../ranks/storm/program.rs"]
mod program;

talisman_ampi::programs!(Storm);

/// What says that a frame was told twice, or came to a rank that does not know of it.
const CHECKS: &[&str] =
    &["came twice", "no receive has pulled", "bytes of a message that has", "waits while it unwinds"];

/// Small slots: their pages are moved at each wait, and packed at each move. One layout for all worlds of the process.
const STACK: u64 = 256 << 10;
const HEAP: u64 = 8 << 20;

pub fn run(seed: u64, size: Size, plan: &Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let ranks = 2 + rng.below(1 + 2 * u64::from(size.0)) as u32;
    let rounds = 1 + rng.below(1 + u64::from(size.0));
    let storm = Storm { seed, rounds, moves: rng.below(4) > 0, long: 1_200 };
    let plan = sync::with_options(plan, &sync::balancing(&mut rng, &plan.options));
    let ranks = RankArgs { rank_stack: STACK, rank_memory: HEAP, ..ranks.into() };
    let options = Options { ranks, storm };
    let ran = simulate::<Main>((options,), &plan, logging);
    let mut checked = Checked::by_itself(ran, CHECKS);
    checked.wrong.extend(sync::wrong_steps(&checked.ran));
    checked.with_unordered_lines()
}
