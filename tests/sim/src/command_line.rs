//! What can be asked for.

use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand};

use crate::case::{Case, Overrides};
use crate::ci::Ci;
use crate::crash_points::{CrashPoints, Series};
use crate::mutation_check::{MutationCheck, chosen, known, unnoticed};
use crate::played::Worlds;
use crate::pool::Pool;
use crate::regressions::{self, REGRESSIONS};
use crate::replay::replay;
use crate::scale;
use crate::swarm::Swarm;
use crate::table::Table;
use crate::traces::Traces;

/// Runs the runtime in simulated worlds, and looks whether it does what it should.
///
/// With --seed alone it runs the case of this seed, and tells all about it.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
pub struct CommandLine {
    #[command(subcommand)]
    task: Option<Task>,
    #[command(flatten)]
    replay: Replay,
}

/// A case.
#[derive(Args)]
pub struct Replay {
    /// The seed, as 42 or 0x2a
    #[arg(long, value_parser = seed)]
    pub seed: Option<u64>,
    /// What is said otherwise.
    #[command(flatten)]
    pub overrides: Overrides,
    /// With this deliberate mistake
    #[arg(long, value_name = "NAME")]
    pub mutation: Option<String>,
    /// Of its events, print only the last ones of each node
    #[arg(long)]
    pub brief: bool,
}

#[derive(Subcommand)]
enum Task {
    /// Runs many seeds, and prints the table
    Sweep(Sweep),
    /// Kills every node, and the launcher, at every step of short runs, or does something else there
    CrashPoints {
        /// What happens there
        #[arg(long, value_enum, default_value_t)]
        series: Series,
        /// One step in so many
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        every: u64,
        /// Of `recover` and `takeover`: first strikes for each who is struck first; every step of what follows from each is struck
        #[arg(long)]
        firsts: Option<u64>,
        /// The seed of all cases
        #[arg(long, value_parser = seed, default_value = "0")]
        seed: u64,
        /// With this deliberate mistake, which is noticed if anything fails
        #[arg(long, value_name = "NAME")]
        mutation: Option<String>,
        #[command(flatten)]
        overrides: Overrides,
        #[command(flatten)]
        bounds: Bounds,
    },
    /// Makes each deliberate mistake in turn, and counts the seeds until it is noticed
    Mutations {
        /// Seeds for each mistake
        #[arg(long, default_value_t = 2_000)]
        seeds: u64,
        /// The first seed
        #[arg(long, value_parser = seed, default_value = "0")]
        from: u64,
        /// Only mistakes whose name has this in it
        #[arg(long, value_name = "NAME")]
        mistake: Option<String>,
        /// Print the table as Markdown
        #[arg(long)]
        markdown: bool,
        /// Make the case that notices a mistake as simple as it can be, and print what is said to see it, as the list has it
        #[arg(long)]
        shrunk: bool,
        /// Look only whether each is noticed by the case that the list has, as CI does
        #[arg(long, conflicts_with_all = ["seeds", "from", "markdown", "shrunk"])]
        listed: bool,
        #[command(flatten)]
        overrides: Overrides,
        #[command(flatten)]
        bounds: Bounds,
    },
    /// Prints the hash of each seed's event trace, to compare before and after a change that only moves code
    Traces {
        /// Seeds
        #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
        seeds: u64,
        /// The first seed
        #[arg(long, value_parser = seed, default_value = "0")]
        from: u64,
        #[command(flatten)]
        overrides: Overrides,
        #[command(flatten)]
        bounds: Bounds,
    },
    /// Runs what once failed
    Regressions,
    /// Many nodes and chares in one process
    Scale(scale::Args),
    /// What jacobi3d takes here, predicted and measured
    Predict(scale::predict::Args),
    /// Weak and strong scaling on a modelled cluster, drawn
    Scaling(scale::figure::Args),
    /// What every change has to pass: what once failed, fresh seeds, rare paths, deliberate mistakes that are to be noticed, some crash points
    Ci {
        /// The first of the fresh seeds; by default it is drawn from the date
        #[arg(long, value_parser = seed)]
        from: Option<u64>,
        /// The most seeds
        #[arg(long, default_value_t = 2_000)]
        seeds: u64,
        /// The most seconds for seeds, and half of them for crash points
        #[arg(long, default_value_t = 100)]
        seconds: u64,
        #[command(flatten)]
        bounds: Bounds,
    },
}

#[derive(Args)]
struct Sweep {
    /// Seeds
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// The first seed
    #[arg(long, value_parser = seed, default_value = "0")]
    from: u64,
    /// Fail if a rare path was not taken that every sweep has to take
    #[arg(long)]
    covering: bool,
    /// Print each case that takes a rare path whose name has this in it
    #[arg(long, value_name = "PART")]
    taking: Option<String>,
    #[command(flatten)]
    overrides: Overrides,
    #[command(flatten)]
    bounds: Bounds,
}

#[derive(Args)]
struct Bounds {
    /// No run is begun later than after so many minutes
    #[arg(long, value_parser = minutes)]
    minutes: Option<f64>,
    /// Threads
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// End after so many failures
    #[arg(long, default_value_t = 10)]
    failures: usize,
}

impl CommandLine {
    /// Does what is asked for; whether all came out right.
    ///
    /// # Errors
    /// It cannot be done.
    pub fn run(self) -> Result<bool, String> {
        match self.task {
            Some(task) => task.run(),
            None => self.replay.run(),
        }
    }
}

impl Replay {
    /// The case.
    ///
    /// # Errors
    /// There is none.
    pub fn case(&self) -> Result<Case, String> {
        let seed =
            self.seed.ok_or("say which case to run with --seed, or see --help for what else there is")?;
        Case::draw(seed, &self.overrides)
    }

    fn run(self) -> Result<bool, String> {
        let mutation = self.mutation.as_deref().map(known).transpose()?;
        Ok(replay(&Worlds { mutation }, &self.case()?, self.brief))
    }
}

impl Task {
    fn run(self) -> Result<bool, String> {
        let worlds = Worlds::default();
        match self {
            Task::Sweep(sweep) => sweep.run(&worlds),
            Task::CrashPoints { series, every, firsts, seed, mutation, overrides, bounds } => {
                let mutation = mutation.as_deref().map(known).transpose()?;
                let (pool, failures_most) = (bounds.pool(), bounds.failures);
                let points = CrashPoints { seed, overrides, series, every, firsts, pool, failures_most };
                Ok(told(&points.run(&Worlds { mutation })?))
            }
            Task::Mutations { mistake, listed: true, bounds, .. } => {
                Ok(unnoticed(chosen(mistake.as_deref()), &bounds.pool()).is_empty())
            }
            Task::Mutations { seeds, from, mistake, markdown, shrunk, overrides, bounds, .. } => {
                let pool = bounds.pool();
                Ok(MutationCheck { from, seeds, overrides, only: mistake, markdown, shrinking: shrunk, pool }
                    .run())
            }
            Task::Scale(args) => {
                scale::main(&args);
                Ok(true)
            }
            Task::Predict(args) => {
                scale::predict::main(&args);
                Ok(true)
            }
            Task::Scaling(args) => {
                scale::figure::main(&args);
                Ok(true)
            }
            Task::Traces { seeds, from, overrides, bounds } => {
                print!("{}", Traces { from, seeds, overrides, pool: bounds.pool() }.lines(&worlds)?);
                Ok(true)
            }
            Task::Regressions => Ok(told(&regressions::run(&worlds, REGRESSIONS))),
            Task::Ci { from, seeds, seconds, bounds } => {
                let limit = Duration::from_secs(seconds);
                Ci { from, seeds, limit, jobs: bounds.jobs, failures_most: bounds.failures }.run(&worlds)
            }
        }
    }
}

impl Sweep {
    fn run(self, worlds: &Worlds) -> Result<bool, String> {
        let (from, seeds, overrides, taking) = (self.from, self.seeds, self.overrides, self.taking);
        let (pool, failures_most) = (self.bounds.pool(), self.bounds.failures);
        let table = Swarm { from, seeds, overrides, taking, pool, failures_most }.run(worlds)?;
        let right = told(&table);
        let misses = table.misses_paths();
        Ok(right && !(misses && self.covering))
    }
}

impl Bounds {
    fn pool(&self) -> Pool {
        let until = self.minutes.map(|minutes| Instant::now() + Duration::from_secs_f64(minutes * 60.0));
        Pool { jobs: self.jobs, until }
    }
}

/// Prints a table; whether nothing failed.
fn told(table: &Table) -> bool {
    print!("{table}");
    table.found.is_empty()
}

/// A time that ends. With 0 nothing is begun.
fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes| (0.0..=100_000.0).contains(minutes));
    minutes.ok_or_else(|| "minutes are a number from 0 to 100000".into())
}

fn seed(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is no seed; seeds are written as 42 or 0x2a"))
}

#[cfg(test)]
mod tests {
    use super::minutes;

    #[test]
    fn minutes_end() {
        assert_eq!(["0", "0.5", "100000"].map(|text| minutes(text).is_ok()), [true; 3]);
        assert_eq!(["-1", "nan", "inf", "1e300", "", "ten"].map(|text| minutes(text).is_ok()), [false; 6]);
    }
}
