//! Good moments for balancing and for checkpoints, and output that appears once.

use talisman::launch::balancing::Every;
use talisman::launch::checkpoints::{CkptEvery, FaultTolerance};
use talisman::prelude::*;
use talisman::testing::Test;
use talisman_ampi::api::{Error, Universe};
use talisman_ampi::rank::Program;

/// What each rank runs: says where it is, and gives hints.
#[derive(clap::Parser, Clone, Copy, Pup)]
pub struct Hints {
    #[arg(long)]
    rounds: u32,
}

impl Program for Hints {
    /// The PEs that the rank was on, or why it has failed.
    type Output = Result<Vec<u32>, String>;

    fn main(self, universe: Universe) -> Result<Vec<u32>, String> {
        self.run(universe).map_err(|error| error.to_string())
    }
}

impl Hints {
    fn run(self, universe: Universe) -> Result<Vec<u32>, Error> {
        let mut places = Vec::new();
        for round in 0..self.rounds {
            writeln!(universe.output(), "rank {} in round {round}", universe.world().rank());
            places.push(universe.pe());
            universe.migrate_here_is_good()?;
            universe.checkpoint_here_is_good()?;
        }
        Ok(places)
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, program: Hints) -> Result<(), String> {
    let call = talisman_ampi::run(4, program).map_err(|error| error.to_string())?;
    let ended: Vec<Result<Vec<u32>, String>> = call.await;
    let places: Vec<Vec<u32>> = ended.into_iter().collect::<Result<_, _>>()?;
    writeln!(cx.output(), "{places:?}");
    Ok(())
}

/// What is said in some rounds by four ranks, in any order, and then where they were.
fn assert_said(name: &str, test: Test, rounds: u32, places: &str) {
    let tested = test.run::<__Main>((Hints { rounds },));
    crate::assert_ended_well(name, &tested);
    let mut said = tested.output.clone();
    assert_eq!(said.pop().as_deref(), Some(places), "{name}");
    said.sort();
    let mut expected: Vec<String> = (0..rounds)
        .flat_map(|round| (0..4).map(move |rank| format!("rank {rank} in round {round}")))
        .collect();
    expected.sort();
    assert_eq!(said, expected, "{name}");
}

#[test]
fn hints_are_nothing_where_nobody_balances_or_keeps() {
    assert_said("one PE", Test::new(), 3, "[[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]");
}

#[test]
fn ranks_are_balanced_at_hints() {
    let test = Test::new().simulated(2, 3).balancing("rotate", Every::Sync);
    assert_said("rotated", test, 3, "[[0, 1, 0], [0, 1, 0], [1, 0, 1], [1, 0, 1]]");
}

#[test]
fn lines_appear_once_where_a_job_goes_back() {
    for seed in 0..6 {
        let kept = Test::new().simulated(2, seed).with_options(|options| {
            (options.ft, options.ckpt_every) = (FaultTolerance::Double, Some(CkptEvery::Steps(u64::MAX)));
        });
        let places = "[[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1]]";
        assert_said("checkpoints", kept, 3, places);
    }
}
