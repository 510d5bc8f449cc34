//! Sample sort of random keys in virtual MPI ranks.
//!
//! Shows: gathering, reductions, an all-to-all of counts and then of as many values (`MPI_Alltoallv`), a scan.
//!
//! ```text
//! cargo run --release --example mpi_sort -- --ranks 32 --keys 100000
//! ```
//!
//! Each rank sorts its keys and gives some of them as samples; the samples cut the range of keys into one part for each rank, and each
//! key goes to the rank of its part. Checks: the keys are in order within ranks and from rank to rank, and are those that were there.
//! Results: `keys`, `most` (keys of the rank that has most).

use talisman::prelude::*;
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{Communicator, Error, SystemOperation, Universe};
use talisman_ampi::{RankArgs, rank::Program};

/// Sorts random keys in virtual MPI ranks.
#[derive(clap::Parser, Clone, Pup)]
struct Options {
    #[command(flatten)]
    ranks: RankArgs,
    /// Keys of each rank
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    keys: u64,
    /// Times that other keys are sorted
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
}

/// What each rank runs.
#[derive(Clone, Pup)]
struct Sort {
    keys: u64,
    rounds: u64,
}

talisman_ampi::program!(Sort);

impl Program for Sort {
    /// The rank's keys in the end, or why it has failed.
    type Output = Result<u64, String>;

    fn main(self, universe: Universe) -> Result<u64, String> {
        let (world, mut keys) = (universe.world(), 0);
        for round in 1..=self.rounds {
            keys = self.round(world, round).map_err(|error| error.to_string())??;
            if world.rank() == 0 {
                universe.step(round);
            }
        }
        Ok(keys)
    }
}

impl Sort {
    /// Sorts other keys in each round. The number of keys that this rank has then, or what is wrong with them.
    fn round(&self, world: Communicator, round: u64) -> Result<Result<u64, String>, Error> {
        let mut random = Random(round << 32 | world.rank() as u64);
        let mut keys: Vec<u64> = (0..self.keys).map(|_| random.next()).collect();
        let before = digest(&keys);
        keys.sort_unstable();
        let mut sorted = exchange(world, &keys, &splitters(world, &keys)?)?;
        sorted.sort_unstable();
        let ([count, sum], [sorted_count, sorted_sum]) = (before, digest(&sorted));
        let mut all = [0u64; 4];
        world.all_reduce_into(&[count, sum, sorted_count, sorted_sum], &mut all, SystemOperation::sum())?;
        let in_order = is_in_order(world, &sorted)?;
        Ok(match (all[..2] == all[2..], in_order) {
            (true, true) => Ok(sorted.len() as u64),
            (false, _) => Err("keys were lost, or came twice".into()),
            (_, false) => Err(format!("rank {} has keys that belong elsewhere", world.rank())),
        })
    }
}

/// Where the parts of the range of keys end: at samples of all ranks.
fn splitters(world: Communicator, keys: &[u64]) -> Result<Vec<u64>, Error> {
    let size = world.size() as usize;
    let samples: Vec<u64> = (0..size).map(|at| keys[at * keys.len() / size]).collect();
    let mut all = vec![0; size * size];
    world.all_gather_into(&samples, &mut all)?;
    all.sort_unstable();
    Ok((1..size).map(|part| all[part * size]).collect())
}

/// Sends each key to the rank of its part.
fn exchange(world: Communicator, keys: &[u64], splitters: &[u64]) -> Result<Vec<u64>, Error> {
    let ends = splitters.iter().map(|splitter| keys.partition_point(|key| key < splitter));
    let ends: Vec<usize> = ends.chain([keys.len()]).collect();
    let counts: Vec<u64> =
        ends.iter().scan(0, |start, end| Some((end - std::mem::replace(start, *end)) as u64)).collect();
    let mut incoming = vec![0u64; counts.len()];
    world.all_to_all_into(&counts, &mut incoming)?;
    let lengths = |counts: &[u64]| counts.iter().map(|count| *count as usize).collect::<Vec<_>>();
    let (counts, incoming) = (lengths(&counts), lengths(&incoming));
    let mut sorted = vec![0; incoming.iter().sum()];
    world.all_to_all_varcount_into(keys, &counts, &mut sorted, &incoming)?;
    Ok(sorted)
}

/// How many keys there are, and their sum: the same for the same keys.
fn digest(keys: &[u64]) -> [u64; 2] {
    [keys.len() as u64, keys.iter().fold(0, |sum: u64, key| sum.wrapping_add(*key))]
}

/// Whether the keys are in order, and none is below those of the ranks before.
fn is_in_order(world: Communicator, keys: &[u64]) -> Result<bool, Error> {
    let (largest, mut before) = (keys.last().copied().unwrap_or_default(), 0);
    world.exclusive_scan_into(&largest, &mut before, SystemOperation::max())?;
    Ok(keys.is_sorted() && keys.first().is_none_or(|first| *first >= before))
}

/// Numbers that look random (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let once = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let twice = (once ^ once >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        twice ^ twice >> 31
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let sort = Sort { keys: options.keys, rounds: options.rounds };
    cx.expect_steps(options.rounds);
    let call = talisman_ampi::run(options.ranks.clone(), sort).map_err(|error| error.to_string())?;
    let ended: Vec<Result<u64, String>> = call.await;
    let counts: Vec<u64> = ended.into_iter().collect::<Result<_, _>>()?;
    let (keys, most): (u64, u64) = (counts.iter().sum(), counts.iter().max().copied().unwrap_or_default());
    writeln!(cx.output(), "{keys} keys in order, {most} of them in one rank");
    cx.result("keys", keys);
    cx.result("most", most);
    Ok(())
}
