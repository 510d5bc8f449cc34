//! Virtual MPI ranks that wait for each other for good: to see how a job that is stuck tells of it.
//!
//! Shows: the report of what each rank waits for.
//!
//! ```text
//! cargo run --release --example mpi_hang -- --ranks 4
//! ```
//!
//! Each rank but the last waits for a message with a tag that nobody sends; the last one waits in a barrier. The program ends with
//! status 1 and a line for each rank: the call, its peer, tag and communicator, and where it is in the source. With `--tag 7` it ends well.

use talisman::prelude::*;
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{Error, Universe};
use talisman_ampi::{RankArgs, rank::Program};

/// Waits for messages that nobody sends.
#[derive(clap::Parser, Clone, Pup)]
struct Options {
    #[command(flatten)]
    ranks: RankArgs,
    /// The tag that ranks wait for; messages with tag 7 are sent
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(i32).range(0..))]
    tag: i32,
}

/// What each rank runs.
#[derive(Clone, Pup)]
struct Hang {
    tag: i32,
}

talisman_ampi::program!(Hang);

impl Program for Hang {
    /// Nothing, or why the rank has failed.
    type Output = Result<(), String>;

    fn main(self, universe: Universe) -> Result<(), String> {
        self.wait(universe).map_err(|error| error.to_string())
    }
}

impl Hang {
    fn wait(&self, universe: Universe) -> Result<(), Error> {
        let world = universe.world();
        let (rank, last) = (world.rank(), world.size() - 1);
        if rank > 0 {
            world.process_at_rank(rank - 1).send_with_tag(&rank, 7)?;
        }
        if rank < last {
            let (from, _) = world.process_at_rank(rank + 1).receive_with_tag::<i32>(self.tag)?;
            assert_eq!(from, rank + 1, "a rank sends its number");
        }
        world.barrier()
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let call = talisman_ampi::run(options.ranks.clone(), Hang { tag: options.tag })
        .map_err(|error| error.to_string())?;
    let ended: Vec<Result<(), String>> = call.await;
    ended.into_iter().collect::<Result<Vec<()>, String>>()?;
    writeln!(cx.output(), "nobody waits any more");
    Ok(())
}
