//! A storm: see `tests/storm/program.rs`. Nothing stays where it is, and everything is on its way at once.

use talisman::rng::Rng;
use talisman::simulation::{Plan, simulate};

use super::ledger::{self, HERE};
use super::{Checked, Size};
use program::{End, Main};

#[path = "../../../storm/program.rs"]
mod program;

pub fn run(seed: u64, size: Size, plan: &Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let storm = program::Plan {
        job: HERE,
        seed,
        core: 3 + rng.below(4 * u64::from(size.0)) as i32,
        rounds: 1 + size.0 + rng.below(3) as u32,
        sparse: rng.below(2) == 0,
        again: rng.below(2) == 0,
        end: End::Calm,
    };
    let ledger = ledger::open(HERE, storm.core);
    let ran = simulate::<Main>((storm,), plan, logging);
    ledger::close(HERE);
    let mut checked = Checked::by_ledger(ran, &ledger);
    checked.result.extend(ledger.casts(storm.core).iter().map(|(cast, times)| format!("{cast:?} {times}")));
    checked
}
