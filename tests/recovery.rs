//! Jobs of real processes that lose some of them and end as if nothing had happened (`--ft double`).
//!
//! ```text
//! cargo test --test recovery                                what every change has to pass
//! TALISMAN_TEST_ROUNDS=200 cargo test --test recovery random     more random kills
//! ```
//!
//! Each run is compared with one of the same program that loses nobody: exit status, every line of `cx.output()` once, and
//! every result to the bit. Afterwards no process is left. Nothing depends on how fast anything is.
//!
//! Four of the programs are this binary itself, called with `program` as its first argument; the others are examples of the
//! same build.

#![allow(missing_docs)]

#[path = "recovery/asking.rs"]
mod asking;
#[path = "recovery/browser.rs"]
mod browser;
#[path = "recovery/buddies.rs"]
mod buddies;
#[path = "recovery/checks.rs"]
mod checks;
#[path = "recovery/disk.rs"]
mod disk;
#[path = "recovery/early.rs"]
mod early;
#[path = "recovery/faults.rs"]
mod faults;
#[path = "recovery/full.rs"]
mod full;
#[path = "recovery/garden.rs"]
mod garden;
#[path = "recovery/growing.rs"]
mod growing;
#[path = "processes/harness.rs"]
mod harness;
#[path = "recovery/held.rs"]
mod held;
#[path = "recovery/hoard.rs"]
mod hoard;
#[path = "recovery/hosts.rs"]
mod hosts;
#[path = "processes/job.rs"]
#[allow(dead_code, reason = "the tests of processes use all of it")]
mod job;
#[path = "recovery/joining.rs"]
mod joining;
#[path = "recovery/kills.rs"]
mod kills;
#[path = "recovery/launcher.rs"]
mod launcher;
#[path = "recovery/logged.rs"]
mod logged;
#[path = "recovery/membership.rs"]
mod membership;
#[path = "recovery/moments.rs"]
mod moments;
#[path = "recovery/nursery.rs"]
mod nursery;
#[path = "common/once.rs"]
mod once;
#[path = "recovery/page.rs"]
mod page;
#[path = "recovery/planned.rs"]
mod planned;
#[path = "recovery/printing.rs"]
mod printing;
#[path = "recovery/program.rs"]
mod program;
#[path = "recovery/refused.rs"]
mod refused;
#[path = "recovery/reports.rs"]
mod reports;
#[path = "recovery/said.rs"]
mod said;
#[path = "recovery/searches.rs"]
mod searches;
#[path = "recovery/seen.rs"]
mod seen;
#[path = "recovery/spread.rs"]
mod spread;
#[path = "common/ssh_stand_in.rs"]
mod ssh_stand_in;
#[path = "recovery/standby.rs"]
mod standby;
#[path = "recovery/stops.rs"]
mod stops;
#[path = "recovery/strangers.rs"]
mod strangers;
#[path = "recovery/subjects.rs"]
mod subjects;
#[path = "processes/system.rs"]
#[allow(dead_code, reason = "the tests of processes use all of it")]
mod system;
#[path = "common/trials.rs"]
mod trials;

use std::process::ExitCode;

fn main() -> ExitCode {
    let has = |option: &str| std::env::args().any(|word| word == option);
    match std::env::args().nth(1).as_deref() {
        Some("program") if has("--garden") => garden::start(),
        Some("program") if has("--nursery") => nursery::start(),
        Some("program") if has("--hoard") => hoard::start(),
        // An agent is the same whatever its nodes run.
        Some("program" | "--talisman-agent") => {
            early::die_if_it_is_ones_turn();
            program::start()
        }
        _ => harness::run(checks::all()),
    }
}
