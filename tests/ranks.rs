//! Programs of virtual MPI ranks: simulated, on links within this process and on real processes, with ranks that move and nodes that
//! are lost at any moment. What comes out is always that of a run in which nothing happens.

#![allow(missing_docs)]

#[path = "ranks/calls.rs"]
mod calls;
#[path = "ranks/chares.rs"]
mod chares;
#[path = "ranks/collectives.rs"]
mod collectives;
#[path = "ranks/ends.rs"]
mod ends;
#[path = "ranks/examples.rs"]
mod examples;
#[path = "ranks/hints.rs"]
mod hints;
#[path = "processes/job.rs"]
#[allow(dead_code, reason = "the tests of processes use all of it")]
mod job;
#[path = "ranks/membership.rs"]
mod membership;
#[path = "ranks/storm.rs"]
mod storm;
#[path = "processes/system.rs"]
#[allow(dead_code, reason = "the tests of processes use all of it")]
mod system;
#[path = "ranks/turns.rs"]
mod turns;
#[path = "ranks/two_groups.rs"]
mod two_groups;

use talisman::testing::{Test, Tested};

talisman_ampi::program!(
    storm::Storm,
    calls::Calls,
    chares::Asking,
    collectives::Collectives,
    ends::Ends,
    hints::Hints,
    turns::Turns
);

/// On one PE, where nothing happens.
fn undisturbed() -> Test {
    Test::new()
}

fn assert_ended_well(name: &str, tested: &Tested) {
    assert_eq!((tested.status, &tested.message), (0, &None), "{name}: {:?}", tested.output);
}
