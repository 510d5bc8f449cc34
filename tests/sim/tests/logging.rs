//! Deliberate mistakes about message logging: real PEs that log and are run again notice them.

#![allow(missing_docs)]

use std::ops::Range;
use std::time::Duration;

use jobs::*;
use mistakes::*;
use noticing::{Jobs, unnoticed, unnoticed_in, wrong};
use program::Main;
use talisman::options::{CkptEvery, FaultTolerance};
use talisman::rng::Rng;
use talisman::testing::Test;

#[path = "logging/jobs.rs"]
mod jobs;
#[path = "../../storm/ledger.rs"]
#[allow(dead_code, reason = "nothing is cut off here")]
mod ledger;
#[path = "logging/mistakes.rs"]
mod mistakes;
#[path = "logging/noticing.rs"]
mod noticing;
#[path = "../../logging/program.rs"]
mod program;
#[path = "../../storm/program.rs"]
#[allow(dead_code, reason = "as above")]
mod storm;

const SEEDS: u64 = 120;
/// With cuts, of which there are many in one job.
const SEEDS_WITH_CUTS: u64 = 40;
/// Within which a mistake is to be noticed.
const SEEDS_MAX: u64 = 2_000;

/// `TALISMAN_TEST_SEEDS` says how many others, `TALISMAN_TEST_FIRST` from which on.
fn seeds(few: u64) -> Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let first = number("TALISMAN_TEST_FIRST").unwrap_or(0);
    first..first + number("TALISMAN_TEST_SEEDS").unwrap_or(few)
}

fn all_come_out_right(jobs: Jobs, few: u64) {
    let wrong = seeds(few).find_map(|seed| Some((seed, wrong(jobs, seed)?)));
    assert_eq!(wrong, None);
}

#[test]
fn without_a_mistake_all_comes_out_right() {
    all_come_out_right(job, SEEDS);
}

#[test]
fn nodes_are_lost_at_any_moment_of_a_cut() {
    all_come_out_right(job_with_cuts, SEEDS_WITH_CUTS);
    all_come_out_right(job_of_many_cuts, SEEDS_WITH_CUTS);
    all_come_out_right(job_that_is_partly_held, 2 * SEEDS_WITH_CUTS);
}

#[test]
fn a_cut_for_which_there_is_no_memory_does_not_take_place() {
    all_come_out_right(job_short_of_memory, SEEDS_WITH_CUTS);
    let has_cut_later = |seed: &u64| {
        let (test, plan) = job_short_of_memory(*seed);
        let ran = test.run::<Main>((plan,));
        program::refused_to_come() == 0 && !ran.checkpoints.is_empty()
    };
    let count = (0..SEEDS_WITH_CUTS).filter(has_cut_later).count();
    assert!(count > 20, "{count} of {SEEDS_WITH_CUTS} have been refused memory, and have had some later");
}

#[test]
fn a_cut_does_not_take_place_that_a_keeper_has_no_memory_for() {
    all_come_out_right(job_of_keepers_short_of_memory, SEEDS_WITH_CUTS);
    // Each has a number, which of one that was refused is left out.
    let has_cut_later = |seed: &u64| {
        let (test, plan) = job_of_keepers_short_of_memory(*seed);
        let taken = &test.run::<Main>((plan,)).checkpoints;
        taken.last().is_some_and(|last| last.version > taken.len() as u64)
    };
    let count = (0..SEEDS_WITH_CUTS).filter(has_cut_later).count();
    assert!(count > 20, "{count} of {SEEDS_WITH_CUTS} have been refused memory, and have had some later");
}

#[test]
fn every_mistake_about_memory_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_MEMORY, job_short_of_memory, SEEDS_MAX), [""; 0]);
    let of_keepers = [("refused-part-not-told", 0)];
    assert_eq!(unnoticed(&of_keepers, job_of_keepers_short_of_memory, SEEDS_MAX), [""; 0]);
}

#[test]
fn nodes_of_a_strict_job_are_lost() {
    all_come_out_right(strict_job, SEEDS);
}

#[test]
fn nodes_that_give_tickets_are_lost_one_at_a_time() {
    all_come_out_right(ticket_job, SEEDS);
}

#[test]
fn every_mistake_about_strictness_is_noticed() {
    assert_eq!(unnoticed(&[("strict-leaves-before-stable", 1)], strict_job, SEEDS_MAX), [""; 0]);
}

#[test]
fn every_mistake_about_tickets_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_TICKETS, ticket_job, SEEDS_MAX), [""; 0]);
}

#[test]
fn a_job_is_started_again_from_its_disks() {
    all_come_out_right(job_started_again, SEEDS_WITH_CUTS);
}

#[test]
fn every_mistake_about_disks_is_noticed() {
    let mistakes = [("results-not-on-disk", 0), ("absent-have-no-place", 0)];
    assert_eq!(unnoticed(&mistakes, job_started_again, SEEDS), [""; 0]);
}

#[test]
fn nodes_of_a_job_are_lost_that_is_balanced() {
    all_come_out_right(balanced_job, SEEDS_WITH_CUTS);
    let moved = |seed: &u64| {
        let (test, plan) = balanced_job(*seed);
        test.run::<Main>((plan,)).balancing.iter().any(|step| step.moves > 0)
    };
    assert!((0..20).filter(moved).count() > 10, "hardly any step moves anything");
}

#[test]
fn whoever_leads_is_lost_at_any_moment() {
    all_come_out_right(job_without_its_leader, 2 * SEEDS_WITH_CUTS);
}

/// A cut was asked for in the turn in which a frame came for another PE of the node, which then went before what the question had sent.
#[test]
fn what_a_command_sends_is_in_the_rings_before_what_comes_next() {
    assert_eq!(wrong(job_without_its_leader, 923), None);
}

#[test]
fn every_mistake_about_leaders_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_LEADERS, job_without_its_leader, SEEDS), [""; 0]);
}

#[test]
fn nodes_are_released_at_any_moment() {
    all_come_out_right(job_of_fewer_nodes, 2 * SEEDS);
    all_come_out_right(job_of_fewer_nodes_started_again, SEEDS_WITH_CUTS);
}

#[test]
fn every_mistake_about_released_nodes_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_RELEASED_NODES, job_of_fewer_nodes, SEEDS_MAX), [""; 0]);
}

#[test]
fn nodes_are_added_at_any_moment() {
    all_come_out_right(job_of_more_nodes, 2 * SEEDS);
    all_come_out_right(strict_or_ticket_job_of_more_nodes, SEEDS);
    all_come_out_right(job_of_more_nodes_started_again, SEEDS_WITH_CUTS);
}

#[test]
fn every_mistake_about_added_nodes_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_ADDED_NODES, job_of_more_nodes, SEEDS_MAX), [""; 0]);
}

#[test]
fn every_mistake_about_loads_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_LOADS, balanced_job, SEEDS_MAX), [""; 0]);
}

#[test]
fn every_mistake_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES, job, SEEDS), [""; 0]);
}

#[test]
fn every_mistake_about_cuts_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_CUTS, job_with_cuts, SEEDS_MAX), [""; 0]);
    assert_eq!(unnoticed(&MISTAKES_ABOUT_HOLDING, job_that_is_partly_held, SEEDS), [""; 0]);
}

/// What is wrong about a storm that is cut in quick succession and loses nobody.
fn wrong_in_storm(seed: u64) -> Option<String> {
    let mut rng = Rng::new(seed);
    let nodes = 2 + rng.below(3) as u32;
    let period = Duration::from_micros([20, 100, 400][rng.below(3) as usize]);
    let variants = [FaultTolerance::Logging, FaultTolerance::LoggingStrict, FaultTolerance::LoggingTicket];
    let test = Test::new().pes(1 + rng.below(3) as u32).simulated(nodes, seed);
    let test = test.logging_as(variants[seed as usize % 3]);
    let test = test.with_options(|options| options.ckpt_every = Some(CkptEvery::Time(period)));
    let plan = storm::Plan {
        job: ledger::HERE,
        seed,
        core: 5 + rng.below(12) as i32,
        rounds: 2 + rng.below(4) as u32,
        sparse: rng.below(2) == 0,
        again: rng.below(2) == 0,
        end: storm::End::Calm,
    };
    let ledger = ledger::open(plan.job, plan.core);
    let ran = test.run::<storm::Main>((plan,));
    ledger::close(plan.job);
    let violations = ledger.violations();
    (ran.status != 0 || !violations.is_empty()).then(|| format!("{:?} {violations:?}", ran.message))
}

#[test]
fn every_node_has_a_twin_when_it_comes_to_the_next_line() {
    all_come_out_right(calm_job, SEEDS);
    let twins = |seed| {
        let (test, plan) = calm_job(seed);
        test.run::<Main>((plan,)).went_back.twins
    };
    let twins: u64 = (0..20).map(twins).sum();
    assert!(twins > 100, "{twins} twins");
}

#[test]
fn twins_notice_what_is_not_logged_where_nobody_is_lost() {
    assert_eq!(unnoticed_in(&MISTAKES_THAT_TWINS_NOTICE, |seed| wrong(calm_job, seed), SEEDS), [""; 0]);
}

#[test]
fn storms_are_cut_and_have_twins() {
    let wrong = seeds(SEEDS_WITH_CUTS).find_map(|seed| Some((seed, wrong_in_storm(seed)?)));
    assert_eq!(wrong, None);
}

#[test]
fn twins_notice_what_is_not_taken_back_of_a_part() {
    assert_eq!(unnoticed_in(&PARTS_NOT_TAKEN_BACK, wrong_in_storm, SEEDS), [""; 0]);
}
