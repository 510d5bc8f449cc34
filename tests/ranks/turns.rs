//! Ranks of a PE that hand their turns to each other: no message overtakes another, and nobody else is kept waiting.

use talisman::prelude::*;
use talisman::testing::Test;
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{Communicator, Error, Universe};
use talisman_ampi::rank::Program;

/// What three ranks do.
#[derive(clap::Parser, Clone, Copy, Pup)]
pub struct Turns {
    /// Whether two play for ever, until the third has had some turns; else messages come in many orders.
    #[arg(long)]
    plays: bool,
}

/// What the two say to each other.
const ON: u8 = 1;
const OVER: u8 = 0;
/// More rounds than are ever played.
const MANY: u64 = 1_000_000;
/// Turns of the third rank.
const TURNS: u32 = 50;

impl Program for Turns {
    /// How many rounds it has played, or why it has failed.
    type Output = Result<u64, String>;

    fn main(self, universe: Universe) -> Result<u64, String> {
        let played = if self.plays { play(universe) } else { orders(universe.world()) };
        played.map_err(|error| error.to_string())
    }
}

fn play(universe: Universe) -> Result<u64, Error> {
    let world = universe.world();
    match world.rank() {
        0 => play_until_told(world),
        1 => {
            let first = world.process_at_rank(0);
            while first.receive::<u8>()?.0 == ON {
                first.send(&ON)?;
            }
            Ok(0)
        }
        _ => {
            (0..TURNS).for_each(|_| universe.yield_now());
            world.process_at_rank(0).send(&OVER)?;
            Ok(0)
        }
    }
}

fn play_until_told(world: Communicator) -> Result<u64, Error> {
    let second = world.process_at_rank(1);
    let mut goes_on = true;
    let mut round = 0;
    while goes_on && round < MANY {
        round += 1;
        second.send(&ON)?;
        while world.any_process().receive::<u8>()?.1.source_rank() != 1 {
            goes_on = false;
        }
    }
    second.send(&OVER)?;
    Ok(round)
}

/// The second rank gets three messages in each round, by their tags in another order or as they come, from one that waits for
/// its answer.
fn orders(world: Communicator) -> Result<u64, Error> {
    const ROUNDS: u64 = 200;
    const LONG: usize = 3_000;
    let (first, second) = (world.process_at_rank(0), world.process_at_rank(1));
    for round in 0..ROUNDS {
        // One that is received in its turn is announced now and then.
        let len = |tag: i32| if tag == 1 && round % 4 >= 2 && round % 5 == 0 { LONG } else { 1 };
        match world.rank() {
            0 => {
                for tag in 0..3 {
                    second.send_with_tag(&vec![3 * round + tag as u64; len(tag)][..], tag)?;
                }
                assert_eq!(second.receive::<u64>()?.0, round);
            }
            1 => {
                let order = [[2, 0, 1], [1, 2, 0], [0, 1, 2], [0, 1, 2]][round as usize % 4];
                for tag in order {
                    let mut values = [0; LONG];
                    let status = match round % 4 {
                        2 => world.any_process().receive_into(&mut values)?,
                        _ => first.receive_into_with_tag(&mut values, tag)?,
                    };
                    let values = &values[..status.count::<u64>()?];
                    assert_eq!((status.tag(), values), (tag, &vec![3 * round + tag as u64; len(tag)][..]));
                }
                first.send(&round)?;
            }
            _ => {}
        }
    }
    Ok(ROUNDS)
}

#[talisman::main]
async fn main(cx: &mut Cx, program: Turns) -> Result<(), String> {
    let call = talisman_ampi::run(3, program).map_err(|error| error.to_string())?;
    let ended: Vec<Result<u64, String>> = call.await;
    let rounds = ended.into_iter().collect::<Result<Vec<u64>, _>>()?;
    let is_over = rounds.iter().all(|rounds| *rounds < MANY);
    writeln!(cx.output(), "{is_over}");
    Ok(())
}

fn assert_over(test: Test, plays: bool) {
    let tested = test.run::<__Main>((Turns { plays },));
    crate::assert_ended_well("turns", &tested);
    assert_eq!(tested.output, ["true"]);
}

#[test]
fn two_that_play_for_ever_do_not_keep_a_third_from_its_turn() {
    assert_over(Test::new(), true);
}

#[test]
fn messages_of_a_rank_do_not_overtake_each_other() {
    for test in [Test::new(), Test::new().simulated(1, 1), Test::new().simulated(2, 2).packing_messages()] {
        assert_over(test, false);
    }
}
