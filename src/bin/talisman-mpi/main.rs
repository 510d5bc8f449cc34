//! The node program of `talisman mpirun`: its nodes have ranks that run an MPI program as it was built.
//!
//! | file | is |
//! |---|---|
//! | `rank.rs` | what a rank runs, and what happens at `MPI_Init`, `MPI_Finalize` and `MPI_Abort` |
//! | `images.rs` | the program and its libraries, as they lie in a slot |
//! | `answers.rs` | who answers the symbols that the program wants |
//! | `explain.rs` | what a program needs, without running it |
//! | `ends.rs` | how a rank ends, and with it the job |
//! | `control.rs` | what is kept of a rank beside its program |
//! | `streams.rs`, `cookie.rs` | its standard streams; streams of the C library that call functions here |
//! | `waits.rs` | functions that let time pass |
//! | `locales.rs` | locales that a rank makes |
//! | `allocator.rs` | `malloc` and its family, by the rank that calls |

mod allocator;
mod answers;
mod control;
mod cookie;
mod ends;
mod explain;
mod images;
mod locales;
mod rank;
mod streams;
mod waits;

use std::path::Path;

use talisman::prelude::*;
use talisman_ampi::RankArgs;
use talisman_ampi::slot::Images;
use talisman_loader::libc::Numbers;

use rank::MpiProgram;

/// Room for a program and its libraries in each slot: addresses only.
const ROOM: u64 = 448 << 20;

/// Runs an MPI program on virtual ranks: `talisman mpirun` starts it.
#[derive(clap::Parser, Clone, Debug, Pup)]
struct Options {
    #[command(flatten)]
    ranks: RankArgs,
    /// The program's file
    #[arg(long, value_name = "FILE")]
    file: String,
    /// A variable of the ranks' environment
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Write a rank's number in front of each of its lines
    #[arg(long)]
    label_ranks: bool,
    /// List what the program needs, and do not run it
    #[arg(long)]
    explain: bool,
    /// The program's name and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    words: Vec<String>,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    if options.explain {
        let text = explain::explain(Path::new(&options.file))?;
        write!(cx.output(), "{text}");
        return Ok(());
    }
    if cx.shares_process() {
        return Err(
            "programs that are not the runtime's own cannot be simulated: leave --simulate out".into()
        );
    }
    let numbers = Numbers::for_ranks(options.ranks.ranks).map_err(|error| error.to_string())?;
    let mut program = MpiProgram {
        file: options.file,
        words: options.words,
        variables: options.env,
        is_labelled: options.label_ranks,
        ranks: options.ranks.ranks,
        descriptors: (numbers.first, numbers.each),
        builds: Vec::new(),
    };
    let images = program.prepare().map_err(|error| error.to_string())?;
    if images.fixed().is_some() && program.ranks > cx.nodes() {
        return Err(format!(
            "`{}` is not position-independent, so a node can have one rank: {} ranks need --nodes {}, or link it with -pie",
            program.file, program.ranks, program.ranks
        ));
    }
    program.builds = images.builds();
    let ranks = RankArgs { rank_images: ROOM, ..options.ranks };
    let call = talisman_ampi::run(ranks, program).map_err(|error| error.to_string())?;
    let _all_zero: Vec<i32> = call.await;
    Ok(())
}
