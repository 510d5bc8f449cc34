//! The node program of `talisman mpirun`: its nodes have ranks that run an MPI program as it was built.
//!
//! | file | is |
//! |---|---|
//! | `rank.rs` | what a rank runs, and what happens at `MPI_Init`, `MPI_Finalize` and `MPI_Abort` |
//! | `images.rs` | the program and its libraries, as they lie in a slot |
//! | `programs.rs` | several programs, each of some ranks |
//! | `born.rs` | programs of ranks that others start |
//! | `library_search.rs` | where libraries are: what ranks have of the dynamic linker's variables |
//! | `mappings.rs` | whether the system lets a process have so many ranks |
//! | `builds.rs` | whether all nodes have the same files |
//! | `answers.rs` | who answers the symbols that the program wants |
//! | `gdb.rs` | a script for gdb: where functions and lines of ranks are |
//! | `explain.rs` | what a program needs, without running it |
//! | `ends.rs` | how a rank ends, and with it the job |
//! | `control.rs` | what is kept of a rank beside its program |
//! | `streams.rs`, `cookie.rs` | its standard streams; streams of the C library that call functions here |
//! | `redirect.rs` | standard streams that go to files of the rank |
//! | `writes.rs` | what ranks write to standard streams by their descriptors |
//! | `waits.rs` | functions that let time pass |
//! | `replayed_values.rs` | what ranks read that is neither in their memory nor a message |
//! | `shared_libraries.rs` | parts of the C library, at the same addresses in all nodes |
//! | `undo_logs.rs` | where is kept what ranks write over in files |
//! | `slice.rs` | ranks that compute are interrupted, so that others have their turn |
//! | `locales.rs` | locales that a rank makes |
//! | `allocator.rs` | `malloc` and its family, by the rank that calls |
//! | `thread_exit.rs` | destructors of the runtime's own thread-locals, noted outside of ranks |

mod allocator;
mod answers;
mod born;
mod builds;
mod control;
mod cookie;
mod ends;
mod explain;
mod gdb;
mod images;
mod library_search;
mod locales;
mod mappings;
mod mpi_files;
mod programs;
mod rank;
mod redirect;
mod replayed_values;
mod shared_libraries;
mod slice;
mod streams;
mod thread_exit;
mod undo_logs;
mod waits;
mod writes;

use std::path::Path;

use talisman::prelude::*;
use talisman::testing::world;
use talisman_ampi::RankArgs;
use talisman_loader::libc::Numbers;

use programs::Other;
use rank::MpiProgram;

/// Runs an MPI program on virtual ranks: `talisman mpirun` starts it.
#[derive(clap::Parser, Clone, Debug, Pup)]
struct Options {
    #[command(flatten)]
    ranks: RankArgs,
    /// The program's file; several if there are several programs
    #[arg(long, value_name = "FILE", required = true)]
    file: Vec<String>,
    /// How many ranks each of several programs has
    #[arg(long, value_name = "N")]
    ranks_of: Vec<u32>,
    /// A variable of the ranks' environment
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// The same for ranks of one of several programs, by its number; the first is 0
    #[arg(long, value_name = "NUMBER:NAME=VALUE")]
    env_of: Vec<String>,
    /// Where ranks of one of several programs begin
    #[arg(long, value_name = "NUMBER:FOLDER")]
    wdir_of: Vec<String>,
    /// Write a rank's number in front of each of its lines
    #[arg(long)]
    label_ranks: bool,
    /// Interrupt a rank that computes for longer, so that others have their turn; 0 if not
    #[arg(long, value_name = "NANOSECONDS", default_value_t = 0)]
    slice: u64,
    /// Time stamps of the processor are values of the world
    #[arg(long)]
    trap_tsc: bool,
    /// Write a script for gdb, which finds functions and lines of ranks by it
    #[arg(long, value_name = "FILE")]
    gdb_script: Option<String>,
    /// List what the program needs, and do not run it
    #[arg(long)]
    explain: bool,
    /// The program's name and its arguments; those of others behind `:`
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    words: Vec<String>,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    if options.explain {
        let [file] = &options.file[..] else { return Err("--explain is for one program".into()) };
        let text = explain::explain(Path::new(file), &options.env)?;
        write!(cx.output(), "{text}");
        return Ok(());
    }
    if cx.shares_process() {
        return Err(
            "programs that are not the runtime's own cannot be simulated: leave --simulate out".into()
        );
    }
    let numbers = Numbers::for_ranks(options.ranks.ranks).map_err(|error| error.to_string())?;
    // By a limit of this process, which another one need not have.
    let (descriptors, most) = world(|| ((numbers.first, numbers.each), numbers.ranks_at_most()));
    let (file, words, mut others) = programs(options.file, &options.ranks_of, &options.words);
    for (number, other) in (1..).zip(&mut others) {
        other.variables = of_program(&options.env_of, number);
        other.folder = of_program(&options.wdir_of, number).pop();
    }
    let mut program = MpiProgram {
        file,
        words,
        others,
        variables: options.env,
        is_labelled: options.label_ranks,
        slice: options.slice,
        traps_tsc: options.trap_tsc,
        goes_back: cx.survives(),
        runs_again: cx.runs_again(),
        undo_logs: world(undo_logs::folder),
        ranks: options.ranks.ranks,
        descriptors,
        born: None,
        nodes: cx.nodes(),
        builds: Vec::new(),
    };
    let prepared = program.prepare().map_err(|error| error.to_string())?;
    // Where this runs again, the files have to be those that it ran with.
    program.builds = world(|| prepared.builds());
    prepared.check_builds(&program.builds).map_err(|error| error.to_string())?;
    if prepared.images().fixed().is_some() && program.ranks > cx.nodes() {
        return Err(format!(
            "`{}` is not position-independent, so a node can have one rank: {} ranks need --nodes {}, or link it with -pie",
            program.file, program.ranks, program.ranks
        ));
    }
    mappings::check(prepared.mappings(), program.ranks, cx.nodes())?;
    let more_ranks = most.saturating_sub(options.ranks.ranks);
    let ranks = RankArgs { rank_images: prepared.room(), more_ranks, ..options.ranks };
    let call = talisman_ampi::run(ranks, program.clone()).map_err(|error| error.to_string())?;
    if let Some(file) = &options.gdb_script {
        gdb::write(file, &program, prepared)?;
    }
    let _all_zero: Vec<i32> = call.await;
    Ok(())
}

/// The first program, its words, and the others.
fn programs(files: Vec<String>, ranks: &[u32], words: &[String]) -> (String, Vec<String>, Vec<Other>) {
    let mut files = files.into_iter();
    let first = files.next().unwrap_or_default();
    let is_several = files.len() > 0;
    let mut words = words.split(|word| is_several && word == ":").map(<[String]>::to_vec);
    let own = words.next().unwrap_or_default();
    let begins = ranks.iter().scan(0, |sum: &mut u32, ranks| {
        *sum = sum.saturating_add(*ranks);
        Some(*sum)
    });
    let others = files.zip(words).zip(begins);
    let other = |((file, words), first)| Other { file, words, first, ..Other::default() };
    (first, own, others.map(other).collect())
}

/// Of values with the number of a program before them, those of this one.
fn of_program(all: &[String], number: u32) -> Vec<String> {
    let of = |value: &String| {
        let (program, value) = value.split_once(':')?;
        (program.parse() == Ok(number)).then(|| value.to_owned())
    };
    all.iter().filter_map(of).collect()
}
