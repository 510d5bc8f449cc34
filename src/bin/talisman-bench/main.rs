//! The node program of `talisman bench`: a handful of figures that tell whether a machine or a cluster is set up well, each beside
//! what the machine itself allows.
//!
//! | file | is |
//! |---|---|
//! | `place.rs` | where PEs are: nodes, hosts, cores |
//! | `processor.rs` | what PEs compute and copy, alone and all at once |
//! | `pair.rs` | what goes between two PEs |
//! | `raw/` | the same two PEs hand over bytes, with nothing but what the system gives |
//! | `meeting_tests.rs` | tests of how the two meet |
//! | `checkpoint.rs` | memory that a checkpoint is taken of |
//! | `figures.rs` | what was measured, and its medians |
//! | `table.rs` | figures as people read them |
//! | `findings.rs` | what is not as it should be, in sentences |

mod checkpoint;
mod figures;
mod findings;
#[cfg(test)]
mod meeting_tests;
mod pair;
mod place;
mod processor;
mod raw;
mod table;

use talisman::prelude::*;
use talisman::reduce::Concat;

use checkpoint::Weight;
use figures::{Copied, Figures, Ours};
use pair::Pair;
use place::{Place, Places};
use processor::Processor;
use raw::RawPair;
use raw::clock::nanos;

/// Measures what PEs compute, and what messages between them take, beside what the machine allows.
///
/// What there is of these is measured: PEs that compute and copy memory, messages between PEs of a node, between nodes of a host,
/// between hosts, a broadcast and a reduction, and, with --ft, a checkpoint.
#[derive(clap::Parser, Clone, Pup)]
struct Options {
    /// Rounds; each figure is a median over them
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
}

/// Broadcasts of a round.
const BROADCASTS: u32 = 50;

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    if cx.shares_process() {
        return Err("what is simulated takes no time that could be measured: leave --simulate out".into());
    }
    let processors: Group<Processor> = Processor::group().new();
    let pairs: Group<Pair> = Pair::group().new();
    let raw: Group<RawPair> = RawPair::group().new();
    let all: Vec<Place> = processors.place().reduce(Concat).await;
    let places: Places = Places::new(all);
    let mut figures: Figures = Figures::default();

    for _ in 0..options.rounds {
        let alone: f64 = processors.on(0).speed_alone().await;
        let at_once: Vec<(u32, f64)> = processors.speed().reduce(Concat).await;
        let copied: Vec<Copied> = processors.copy().reduce(Concat).await;
        figures.of_processors(alone, at_once, copied);
    }

    for number in 0..places.pairs().len() {
        let (first, second): (u32, u32) = places.pairs()[number].pes();
        let refused: String = raw.on(first).connect(second, places.pairs()[number].way()).await;
        for _ in 0..options.rounds {
            let (to_and_fro, block): (f64, f64) = pairs.on(first).measure(second).await;
            let ours: Ours = Ours { to_and_fro, block };
            let mut limit: Ours = Ours::UNKNOWN;
            if refused.is_empty() {
                limit.to_and_fro = raw.on(first).ping_pong(pair::SMALL, pair::TRIPS).await;
                limit.block = raw.on(first).stream(pair::LARGE, pair::BLOCKS).await;
            }
            figures.of_pair(number, ours, limit);
        }
        figures.of_refused(number, refused);
    }

    for _ in 0..options.rounds {
        let start: u64 = nanos();
        for _ in 0..BROADCASTS {
            pairs.nothing().await;
        }
        figures.broadcasts.push((nanos() - start) as f64 / f64::from(BROADCASTS));
    }

    if cx.survives() {
        let weights: Group<Weight> = Weight::group().new();
        weights.nothing().await;
        for _ in 0..options.rounds {
            let took: f64 = weights.on(0).checkpoint().await;
            figures.checkpoints.push(took);
        }
    }

    let rows: Vec<table::Row> = table::rows(&places, &figures);
    write!(cx.output(), "{}{}{}", places.told(), table::drawn(&rows), findings::told(&places, &figures));
    for row in &rows {
        cx.result(row.name, row.measured);
        if let Some(allowed) = row.allowed {
            cx.result(&format!("{}_allowed", row.name), allowed);
        }
    }
    Ok(())
}
