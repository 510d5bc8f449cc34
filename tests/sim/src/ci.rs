//! What every change has to pass, in a few minutes.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::case::Overrides;
use crate::crash_points::{CrashPoints, Series};
use crate::mutation_check::{chosen, unnoticed};
use crate::played::Stage;
use crate::pool::Pool;
use crate::rare::{self, RARE};
use crate::regressions::{self, REGRESSIONS};
use crate::swarm::Swarm;
use crate::table::Table;

/// What is run.
#[derive(Clone, Debug)]
pub struct Ci {
    /// The first of the fresh seeds, if it is said.
    pub from: Option<u64>,
    /// The most seeds.
    pub seeds: u64,
    /// The most time for seeds; crash points have half of it.
    pub limit: Duration,
    /// Threads.
    pub jobs: usize,
    /// It ends when so many have failed.
    pub failures_most: usize,
}

/// Seeds of a day, more than are ever run on it.
const SEEDS_A_DAY: u64 = 1_000_000;
/// One step in so many is a crash point, with every seed others.
const CRASH_POINTS_EVERY: u64 = 23;

impl Ci {
    /// Runs all of it, whatever failed before; whether all came out right.
    ///
    /// # Errors
    /// It cannot be run.
    pub fn run(&self, stage: &dyn Stage) -> Result<bool, String> {
        let from = self.from.unwrap_or_else(first_of_today);
        println!("this again: cargo run --release -p talisman-sim -- ci --from {from:#x}");
        let mut table = regressions::run(stage, REGRESSIONS);
        table.merge(rare::run(stage, RARE));
        table.found.extend(unnoticed(chosen(None), &self.pool_without_limit()));
        table.merge(self.fresh(from, stage)?);
        table.merge(self.crash_points(from, Series::Crashes, self.limit / 2).run(stage)?);
        table.merge(self.crash_points(from, Series::Recover, self.limit / 6).run(stage)?);
        table.merge(self.crash_points(from, Series::Takeover, self.limit / 6).run(stage)?);
        print!("{table}");
        let misses = table.misses_paths();
        Ok(table.found.is_empty() && !misses)
    }

    fn fresh(&self, from: u64, stage: &dyn Stage) -> Result<Table, String> {
        let table = self.swarm(from).run(stage)?;
        let was_cut = table.cases < self.seeds && table.found.len() < self.failures_most;
        if was_cut {
            let (cases, seeds) = (table.cases, self.seeds);
            println!(
                "only {cases} of {seeds} seeds in time, which may miss rare paths: --seconds gives more"
            );
        }
        Ok(table)
    }

    fn swarm(&self, from: u64) -> Swarm {
        let overrides = Overrides::default();
        let (pool, failures_most) = (self.pool(self.limit), self.failures_most);
        Swarm { from, seeds: self.seeds, overrides, taking: None, pool, failures_most }
    }

    fn crash_points(&self, seed: u64, series: Series, limit: Duration) -> CrashPoints {
        let overrides = Overrides::default();
        let (pool, failures_most) = (self.pool(limit), self.failures_most);
        let every = CRASH_POINTS_EVERY;
        CrashPoints { seed, overrides, series, every, firsts: None, pool, failures_most }
    }

    fn pool_without_limit(&self) -> Pool {
        Pool { jobs: self.jobs, until: None }
    }

    fn pool(&self, limit: Duration) -> Pool {
        Pool { jobs: self.jobs, until: Some(Instant::now() + limit) }
    }
}

/// Every day has its own seeds: fresh ones, and whoever runs them again on that day runs the same.
fn first_of_today() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs() / (24 * 60 * 60) * SEEDS_A_DAY
}
