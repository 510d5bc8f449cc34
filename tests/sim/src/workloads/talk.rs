//! A talk: see `tests/storm/ordered.rs`.

use talisman::rng::Rng;
use talisman::simulation::{Plan, simulate};

use super::ledger::{self, HERE};
use super::{Checked, Size};

#[path = "../../../storm/ordered.rs"]
mod ordered;

pub fn run(seed: u64, size: Size, plan: &Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let talk = ordered::Plan {
        job: HERE,
        elements: 2 + rng.below(4 * u64::from(size.0)) as i32,
        rounds: 2 + 2 * size.0,
        again: rng.below(2) == 0,
    };
    let ledger = ledger::open(HERE, talk.elements);
    let ran = simulate::<ordered::Main>((talk,), plan, logging);
    ledger::close(HERE);
    let mut checked = Checked::by_ledger(ran, &ledger);
    // Who is removed before the first broadcast reaches it never talks.
    let sent = if talk.again { "some".into() } else { ledger.sent().to_string() };
    checked.result.push(format!("{sent} messages"));
    checked
}
