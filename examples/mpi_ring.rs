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
}

/// What each rank runs.
#[derive(Clone, Pup)]
struct Ring {
    laps: u64,
    values: u64,
    move_every: u64,
}

talisman_ampi::program!(Ring);

impl Program for Ring {
    /// Moves from one PE to another, or why the rank has failed.
    type Output = Result<u64, String>;

    fn main(self, universe: Universe) -> Result<u64, String> {
        self.pass_on(universe).map_err(|error| error.to_string())
    }
}

impl Ring {
    fn pass_on(&self, universe: Universe) -> Result<u64, Error> {
        let world = universe.world();
        let (rank, size) = (world.rank(), world.size());
        let before = world.process_at_rank((rank + size - 1) % size);
        let after = world.process_at_rank((rank + 1) % size);
        let (mut token, mut moves) = (vec![0u64; self.values as usize], 0);
        for lap in 0..self.laps {
            if rank == 0 {
                after.send(&token)?;
            }
            before.receive_into(&mut token)?;
            let hops = lap * size as u64 + if rank == 0 { size as u64 - 1 } else { rank as u64 - 1 };
            assert!(token.iter().all(|value| *value == hops), "the token has a value of its own");
            token.iter_mut().for_each(|value| *value += 1);
            if rank > 0 {
                after.send(&token)?;
            } else {
                universe.step(lap + 1);
            }
            moves += self.move_on(universe, lap + 1);
        }
        Ok(moves)
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
    cx.expect_steps(laps);
    let ring = Ring { laps, values: options.values, move_every: options.move_every };
    let call = talisman_ampi::run(options.ranks.clone(), ring).map_err(|error| error.to_string())?;
    let ended: Vec<Result<u64, String>> = call.await;
    let moves: u64 = ended.into_iter().sum::<Result<u64, String>>()?;
    writeln!(cx.output(), "{} hops, {moves} moves", laps * ranks);
    cx.result("hops", laps * ranks);
    cx.result("moves", moves);
    Ok(())
}
