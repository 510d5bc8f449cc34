//! Ranks that pass numbers on around a ring: `recorded_ranks program …`.

use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use talisman::prelude::*;
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{Error, SystemOperation, Universe};
use talisman_ampi::{RankArgs, rank::Program};

#[derive(clap::Parser, Clone, Debug, Pup)]
struct Options {
    /// Always `program`, which tells this from a run of the tests.
    program: String,
    #[command(flatten)]
    ranks: RankArgs,
    #[arg(long, default_value_t = 20)]
    laps: u64,
    /// Numbers in a message
    #[arg(long, default_value_t = 8)]
    words: usize,
    /// What one rank takes for each lap, in microseconds
    #[arg(long, default_value_t = 0)]
    pause_us: u64,
    /// The lap in which it panics, or aborts its process
    #[arg(long)]
    panic_at: Option<u64>,
    #[arg(long)]
    abort_at: Option<u64>,
    /// Each rank goes on on the next PE after so many laps; never if 0
    #[arg(long, default_value_t = 0)]
    move_every: u64,
    /// Ranks ask to be balanced after so many laps; never if 0
    #[arg(long, default_value_t = 0)]
    balance_every: u64,
    /// Passes on something that is not the same when it runs again: `clock` or `pid`
    #[arg(long)]
    breaks: Option<String>,
    /// Which rank does all that
    #[arg(long, default_value_t = 1)]
    who: i32,
}

/// Runs it as the command line says.
pub fn start() -> ExitCode {
    talisman::start::main::<__Main, (Options,)>(talisman::program!())
}

talisman_ampi::program!(Options);

impl Program for Options {
    type Output = Result<u64, String>;

    fn main(self, universe: Universe) -> Result<u64, String> {
        self.go_round(universe).map_err(|error| error.to_string())
    }
}

impl Options {
    fn go_round(&self, universe: Universe) -> Result<u64, Error> {
        let world = universe.world();
        let (rank, size) = (world.rank(), world.size());
        let before = world.process_at_rank((rank + size - 1) % size);
        let after = world.process_at_rank((rank + 1) % size);
        let mut token = vec![0u64; self.words];
        let mut of_all = [0u64];
        for lap in 1..=self.laps {
            if rank > 0 {
                before.receive_into(&mut token)?;
            }
            self.take(&mut token, rank, lap);
            after.send(&token)?;
            if rank == 0 {
                before.receive_into(&mut token)?;
                universe.step(lap);
            }
            world.all_reduce_into(&token[..1], &mut of_all, SystemOperation::sum())?;
            writeln!(universe.output(), "rank {rank} in lap {lap}: {:016x} {:016x}", token[0], of_all[0]);
            if self.balance_every > 0 && lap.is_multiple_of(self.balance_every) {
                universe.migrate_here_is_good()?;
            }
            if self.move_every > 0 && lap.is_multiple_of(self.move_every) {
                universe.move_to((universe.pe() + 1) % universe.pes());
            }
        }
        Ok(of_all[0])
    }

    /// What a rank does with what it passes on.
    fn take(&self, token: &mut [u64], rank: i32, lap: u64) {
        for (place, word) in token.iter_mut().enumerate() {
            *word = word.wrapping_mul(31).wrapping_add(lap + rank as u64 + place as u64);
        }
        if rank != self.who {
            return;
        }
        match self.breaks.as_deref() {
            Some("clock") => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                token[0] = since.as_nanos() as u64;
            }
            Some("pid") => token[0] = u64::from(std::process::id()),
            _ => {}
        }
        assert!(self.panic_at != Some(lap), "enough of it");
        if self.abort_at == Some(lap) {
            std::process::abort();
        }
        let (begun, pause) = (Instant::now(), Duration::from_micros(self.pause_us));
        while begun.elapsed() < pause {
            std::hint::spin_loop();
        }
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let call =
        talisman_ampi::run(options.ranks.clone(), options.clone()).map_err(|error| error.to_string())?;
    let sums: Vec<Result<u64, String>> = call.await;
    let sums: Vec<u64> = sums.into_iter().collect::<Result<_, String>>()?;
    writeln!(cx.output(), "all: {:016x}", sums[0]);
    Ok(())
}
