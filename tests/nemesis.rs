//! A nemesis of real jobs: processes that are killed, stopped or out of memory, at random moments, alone or two at once, nodes and launchers.
//!
//! ```text
//! cargo nemesis --minutes 10                  rounds with fresh seeds
//! cargo nemesis --rounds 1 --seed 4711        the round of a seed, likely as it was
//! cargo test --test nemesis                   one round of each kind, and whether the judge sees what is wrong
//! ```
//!
//! Each round is compared with an undisturbed run of the same program. It has to say the same, bit by bit, or to end as the documentation says where too much
//! was lost; and nothing is left of it, no process and no file. `tests/nemesis/plan.rs` has the kinds, `tests/nemesis/judge.rs` what is right.

#![allow(missing_docs)]

#[path = "nemesis/command_line.rs"]
mod command_line;
#[path = "nemesis/guard.rs"]
mod guard;
#[path = "processes/harness.rs"]
mod harness;
#[path = "processes/job.rs"]
#[allow(dead_code, reason = "the tests of processes use all of it")]
mod job;
#[path = "nemesis/judge.rs"]
mod judge;
#[path = "nemesis/judge_tests.rs"]
mod judge_tests;
#[path = "nemesis/memory.rs"]
mod memory;
#[path = "nemesis/plan.rs"]
mod plan;
#[path = "recovery/program.rs"]
mod program;
#[path = "nemesis/round.rs"]
mod round;
#[path = "recovery/said.rs"]
#[allow(dead_code, reason = "the tests of recovery use all of it")]
mod said;
#[path = "nemesis/striking.rs"]
mod striking;
#[path = "nemesis/summary.rs"]
mod summary;
#[path = "processes/system.rs"]
#[allow(dead_code, reason = "the tests of processes use all of it")]
mod system;
#[path = "common/trials.rs"]
mod trials;

use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::Trial;

use command_line::{Played, Rounds, folder};
use judge::Verdict;
use plan::{KINDS, Plan};
use round::Ground;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("program") => program::start(),
        Some(guard::GUARD) => guard::main(),
        Some(command_line::COMMAND) => command_line::main(),
        _ => harness::run(all()),
    }
}

fn all() -> Vec<Trial> {
    let rounds = (0..KINDS.len() as u64).map(|seed| {
        let plan = Plan::of(seed);
        let trial = Trial::test(plan.kind.name().replace(' ', "_"), move || one_round(seed));
        if plan.wants_memory() { trials::needing(memory::groups, trial) } else { trial }
    });
    let others: [(&str, fn()); 9] = [
        ("what_is_right_passes", judge_tests::what_is_right_passes),
        ("an_early_loss_of_the_launcher_passes", judge_tests::an_early_loss_of_the_launcher_passes),
        ("a_wrong_line_fails", judge_tests::a_wrong_line_fails),
        ("a_line_too_few_or_too_many_fails", judge_tests::a_line_too_few_or_too_many_fails),
        ("a_hang_fails", judge_tests::a_hang_fails),
        ("what_is_left_behind_fails", judge_tests::what_is_left_behind_fails),
        ("an_end_that_is_not_documented_fails", judge_tests::an_end_that_is_not_documented_fails),
        ("plans_follow_from_seeds", plan::plans_follow_from_seeds),
        ("a_wrong_sum_is_found", command_line::a_wrong_sum_is_found),
    ];
    let others = others.into_iter().map(|(name, test)| trials::trial(name, test));
    rounds.chain(others).collect()
}

/// The round of this seed. A machine that stalls is waited for longer than by people.
fn one_round(seed: u64) -> Result<(), libtest_mimic::Failed> {
    let ground = Ground {
        folder: folder(&format!("-{seed}")),
        bound: Duration::from_secs(240),
        more: "",
        keeps: false,
    };
    match Rounds::new(ground).play(&Plan::of(seed), None) {
        Played::Over(outcome) => match outcome.verdict {
            Verdict::Failed(why) => Err(format!("{why}\n{}", outcome.said).into()),
            _ => Ok(()),
        },
        Played::Skipped => Err("it could be played when the tests were listed".into()),
    }
}
