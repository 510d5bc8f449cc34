//! A token goes round a ring of virtual MPI ranks.
//!
//! Shows: a program of ranks, started by a main chare; sending and receiving; ranks that move in the middle of it.
//!
//! ```text
//! cargo run --release --example mpi_ring -- --ranks 100 --laps 50
//! cargo run --release --example mpi_ring -- --ranks 8 --nodes 2 --move-every 3
//! ```
//!
//! Each rank passes the token to the next, one larger. Checks: each rank sees the token once for every lap, each time with the value
//! that it must have. Results: `hops`, `moves`.

use std::path::Path;

use talisman::prelude::*;
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{Error, Universe};
use talisman_ampi::{RankArgs, rank::Program};

/// Sends a token round a ring of virtual MPI ranks.
#[derive(clap::Parser, Clone, Pup)]
struct Options {
    #[command(flatten)]
    ranks: RankArgs,
    /// Times the token goes round
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    laps: u64,
    /// Values in the token: long ones are announced before they are sent
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    values: u64,
    /// Each rank goes on on the next PE after so many laps; never if 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    move_every: u64,
    /// It goes round until this file is there, whatever the number of laps: for tests
    #[arg(long, value_name = "FILE", hide = true)]
    until: Option<String>,
}

/// What each rank runs.
#[derive(Clone, Pup)]
struct Ring {
    laps: u64,
    values: u64,
    move_every: u64,
    until: Option<String>,
}

/// Laps and moves of a rank.
type Went = (u64, u64);

/// Tags of the token: it goes round once more, or not.
const AGAIN: i32 = 0;
const LAST: i32 = 1;

/// Whoever waits for a file is told of this lap.
const TOLD: u64 = 10;

talisman_ampi::program!(Ring);

impl Program for Ring {
    /// How often the token went round, and moves from one PE to another; or why the rank has failed.
    type Output = Result<Went, String>;

    fn main(self, universe: Universe) -> Result<Went, String> {
        self.pass_on(universe).map_err(|error| error.to_string())
    }
}

impl Ring {
    fn pass_on(&self, universe: Universe) -> Result<Went, Error> {
        let world = universe.world();
        let (rank, size) = (world.rank(), world.size());
        let before = world.process_at_rank((rank + size - 1) % size);
        let after = world.process_at_rank((rank + 1) % size);
        let (mut token, mut moves) = (vec![0u64; self.values as usize], 0);
        for lap in 0.. {
            if rank == 0 {
                after.send_with_tag(&token, self.tag_of(lap))?;
            }
            let tag = before.receive_into(&mut token)?.tag();
            let hops = lap * size as u64 + if rank == 0 { size as u64 - 1 } else { rank as u64 - 1 };
            assert!(token.iter().all(|value| *value == hops), "the token has a value of its own");
            token.iter_mut().for_each(|value| *value += 1);
            if rank > 0 {
                after.send_with_tag(&token, tag)?;
            } else {
                universe.step(lap + 1);
            }
            moves += self.move_on(universe, lap + 1);
            if tag == LAST {
                return Ok((lap + 1, moves));
            }
        }
        unreachable!("laps are counted by 64 bits")
    }

    /// Rank 0 alone decides which lap is the last.
    fn tag_of(&self, lap: u64) -> i32 {
        let is_last = match &self.until {
            Some(file) => {
                if lap == TOLD {
                    println!("at lap {TOLD}");
                }
                lap > TOLD && Path::new(file).exists()
            }
            None => lap + 1 == self.laps,
        };
        if is_last { LAST } else { AGAIN }
    }

    fn move_on(&self, universe: Universe, laps: u64) -> u64 {
        if self.move_every == 0 || !laps.is_multiple_of(self.move_every) {
            return 0;
        }
        let before = universe.pe();
        universe.move_to((before + 1) % universe.pes());
        u64::from(universe.pe() != before)
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let (laps, ranks): (u64, u64) = (options.laps, options.ranks.ranks.into());
    if options.until.is_none() {
        cx.expect_steps(laps);
    }
    let Options { values, move_every, until, .. } = options.clone();
    let ring = Ring { laps, values, move_every, until };
    let call = talisman_ampi::run(options.ranks.clone(), ring).map_err(|error| error.to_string())?;
    let ended: Vec<Result<Went, String>> = call.await;
    let ended: Vec<Went> = ended.into_iter().collect::<Result<_, String>>()?;
    let moves: u64 = ended.iter().map(|(_, moves)| moves).sum();
    let hops: u64 = ended.iter().map(|(laps, _)| laps).sum();
    if ended.iter().any(|(laps, _)| laps * ranks != hops) {
        return Err(format!("ranks disagree about the laps: {ended:?}"));
    }
    writeln!(cx.output(), "{hops} hops, {moves} moves");
    cx.result("hops", hops);
    cx.result("moves", moves);
    Ok(())
}
