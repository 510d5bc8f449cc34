//! Random programs of MPI ranks: rounds of messages and collectives on several communicators, and moves in the midst of them.
//!
//! All ranks draw the same plan from a seed, so each knows what it has to receive, and what has to come of a collective. What a
//! rank finds otherwise it panics about. What it returns depends on the plan alone.

use talisman::prelude::*;
use talisman_ampi::RankArgs;
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{self as mpi, Communicator, Error, Universe};
use talisman_ampi::rank::Program;

use collectives::collective;
use messages::exchange;
use random::{Dice, mix};

#[path = "collectives.rs"]
mod collectives;
#[path = "messages.rs"]
mod messages;
#[path = "random.rs"]
mod random;

/// What each rank runs.
#[derive(clap::Args, Clone, Copy, Debug, Pup)]
pub struct Storm {
    #[arg(long = "plan")]
    pub seed: u64,
    #[arg(long)]
    pub rounds: u64,
    /// Whether ranks move, by dice of their own.
    #[arg(long)]
    pub moves: bool,
    /// Values of the longest messages of collectives.
    #[arg(long)]
    pub long: usize,
}

impl Program for Storm {
    /// What the rank has received, or why it has failed.
    type Output = Result<u64, String>;

    fn main(self, universe: Universe) -> Result<u64, String> {
        self.run(universe).map_err(|error| error.to_string())
    }
}

impl Storm {
    fn run(self, universe: Universe) -> Result<u64, Error> {
        let world = universe.world();
        let half = world.split_by_color_with_key(mpi::Color::with_value(world.rank() % 2), -world.rank())?;
        let all = [world, world.duplicate()?, half.expect("each has a colour")];
        let mut plan = Dice(self.seed);
        let mut wanderer = Wanderer { universe, dice: Dice(self.seed ^ 0x5555 ^ world.rank() as u64) };
        // State with pointers of all kinds, which has to be right in the end.
        let mut diary: Vec<String> = Vec::new();
        let mut digest = 0u64;
        for round in 0..self.rounds {
            let communicator = all[plan.below(all.len() as u64) as usize];
            let letters = messages::drawn(self.seed, round, communicator.size());
            let by = messages::By::ALL[plan.below(messages::By::ALL.len() as u64) as usize];
            let received = exchange(communicator, &letters, by, || self.wander(&mut wanderer))?;
            self.wander(&mut wanderer);
            let result = collective(communicator, plan.next(), self.long)?;
            digest = mix(mix(digest, received), result);
            if plan.below(4) == 0 {
                universe.migrate_here_is_good()?;
            }
            writeln!(universe.output(), "rank {} has ended round {round}: {digest:x}", world.rank());
            diary.push(format!("{round}: {digest:x}"));
        }
        assert_all_received(&all)?;
        Ok(diary.iter().fold(digest, |sum, line| mix(sum, line.len() as u64)))
    }

    fn wander(&self, wanderer: &mut Wanderer) {
        if self.moves {
            wanderer.go();
        }
    }
}

/// Goes to another PE, now and then.
struct Wanderer {
    universe: Universe,
    dice: Dice,
}

impl Wanderer {
    fn go(&mut self) {
        if self.dice.below(3) == 0 {
            let pes = self.universe.pes().into();
            self.universe.move_to(self.dice.below(pes) as u32);
        }
    }
}

/// Each message comes once: after all were received, none is there.
fn assert_all_received(all: &[Communicator]) -> Result<(), Error> {
    for communicator in all {
        communicator.barrier()?;
        let left = communicator.any_process().immediate_probe()?;
        assert!(left.is_none(), "a message was received before, and is there again: {left:?}");
    }
    Ok(())
}

#[derive(clap::Parser, Clone, Debug, Pup)]
pub struct Options {
    #[command(flatten)]
    pub ranks: RankArgs,
    #[command(flatten)]
    pub storm: Storm,
}

/// Starts the ranks, and tells what they return.
#[derive(Pup)]
pub struct Main;

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, options: Options) -> Self {
        cx.me().run(options);
        Main
    }

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>, options: Options) {
        let call = talisman_ampi::run(options.ranks, options.storm).expect("there are addresses");
        let ended: Vec<Result<u64, String>> = call.await;
        match ended.into_iter().collect::<Result<Vec<u64>, String>>() {
            Ok(digests) => {
                cx.result("digests", format!("{digests:x?}"));
                cx.exit();
            }
            Err(why) => cx.fail(why),
        }
    }
}
