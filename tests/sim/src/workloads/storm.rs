//! A storm: see `tests/storm/program.rs`. Nothing stays where it is, and everything is on its way at once.

use talisman::rng::Rng;
use talisman::simulation::{Plan, simulate};

use super::ledger::{self, HERE};
use super::{Checked, Size};
use program::{End, Main};

#[path = "../../../storm/program.rs"]
mod program;

pub fn run(seed: u64, size: Size, plan: &Plan, logging: bool) -> Checked {
    run_until(End::Calm, seed, size, plan, logging)
}

fn run_until(end: End, seed: u64, size: Size, plan: &Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let storm = program::Plan {
        job: HERE,
        seed,
        core: 3 + rng.below(4 * u64::from(size.0)) as i32,
        rounds: 1 + size.0 + rng.below(3) as u32,
        sparse: rng.below(2) == 0,
        again: rng.below(2) == 0,
        end,
    };
    let ledger = ledger::open(HERE, storm.core);
    let ran = simulate::<Main>((storm,), plan, logging);
    ledger::close(HERE);
    let mut checked = Checked::by_ledger(ran, &ledger);
    checked.result.extend(ledger.casts(storm.core).iter().map(|(cast, times)| format!("{cast:?} {times}")));
    checked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_is_not_wrong_and_leaves_nothing() {
        let plan = Plan::calm(5, 3, 2);
        let whole = || run(1, Size(2), &plan, false);
        let before = whole();
        for end in [End::Exit(0), End::Fail(1)] {
            let cut = run_until(end, 1, Size(2), &plan, false);
            assert_eq!(cut.wrong, [""; 0], "{end:?}");
            assert_ne!(cut.missing, [""; 0], "{end:?}");
            assert_eq!(cut.complaints().is_empty(), !cut.ended_well(), "{end:?}");
        }
        assert_eq!(whole().ran.outcome.trace, before.ran.outcome.trace);
    }

    #[test]
    fn a_panic_is_wrong_however_the_job_ends() {
        let cut = run_until(End::Panic(0), 1, Size(2), &Plan::calm(5, 3, 2), false);
        assert!(cut.wrong.concat().contains("as planned"), "{:?}", cut.wrong);
    }
}
