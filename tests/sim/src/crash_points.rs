//! Short runs on a few nodes, in which something strikes at every step: each node, host, or the launcher is killed, a node is
//! stopped, all connections are reset.

mod series;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::case::{Blow, Case, Checkpoints, Overrides, Strike, Strikes, Survival};
use crate::played::{Played, Stage};
use crate::pool::Pool;
use crate::run::judged_beside;
use crate::swarm::found;
use crate::table::Table;
use crate::verdict::failures_of_calm;
use crate::workloads::NAMES;

use series::First;
pub use series::Series;

/// A sweep over steps.
#[derive(Clone, Debug)]
pub struct CrashPoints {
    /// The seed of all cases.
    pub seed: u64,
    /// What is said of them; without a workload, all are run, and without nodes, 3 to 5 by turns.
    pub overrides: Overrides,
    /// What happens at the steps.
    pub series: Series,
    /// One step in so many.
    pub every: u64,
    /// How many first strikes there are for each, where every step of what follows from one is struck; without a word, a few.
    pub firsts: Option<u64>,
    /// Who runs them.
    pub pool: Pool,
    /// It ends when so many have failed.
    pub failures_most: usize,
}

impl CrashPoints {
    /// Runs all, prints failures as they are found, and gives the table.
    ///
    /// # Errors
    /// What is said of the cases cannot be.
    pub fn run(&self, stage: &dyn Stage) -> Result<Table, String> {
        let mut all = Table::default();
        let workloads = self.workloads();
        let mut left = workloads.len() as u32;
        for (turn, workload) in workloads.into_iter().enumerate() {
            let nodes =
                self.overrides.nodes.or(self.overrides.hosts.is_none().then_some(3 + turn as u32 % 3));
            let overrides = Overrides {
                workload: Some(workload),
                size: self.overrides.size.or(Some(1)),
                nodes,
                ft: self.overrides.ft.or(Some(self.survival())),
                heirs: self
                    .overrides
                    .heirs
                    .or(self.series.survives().then_some(self.series == Series::Takeover)),
                ..self.overrides.clone()
            };
            all.merge(self.run_one(stage, &overrides, self.pool.share(left))?);
            left -= 1;
            if all.found.len() >= self.failures_most {
                break;
            }
        }
        Ok(all)
    }

    /// Unless it is said.
    fn survival(&self) -> Survival {
        let checkpoints = Checkpoints::Time(CHECKPOINTS_EVERY);
        if self.series.survives() { Survival::InMemory(checkpoints) } else { Survival::Off }
    }

    fn workloads(&self) -> Vec<String> {
        match &self.overrides.workload {
            Some(workload) => vec![workload.clone()],
            None => NAMES.iter().map(|name| name.to_string()).collect(),
        }
    }

    fn run_one(&self, stage: &dyn Stage, overrides: &Overrides, pool: Pool) -> Result<Table, String> {
        let (mut table, start) = (Table::default(), Instant::now());
        let whole = struck(self.seed, overrides, Strikes(vec![NEVER]))?;
        let calm = stage.play(&whole, &whole.calm_plan(), false);
        if !failures_of_calm(&calm).is_empty() {
            let judged = crate::run::judged(stage, &whole, false, false);
            table.found.extend(found(stage, whole, judged));
            return Ok(table);
        }
        let name = overrides.workload.as_deref().unwrap_or_default();
        println!("{name}: {} steps on hosts of {:?} nodes", calm.steps, whole.hosts);
        let firsts = self.firsts(stage, overrides, &whole, &calm);
        let table = RefCell::new(table);
        pool.run(
            self.series.strikes(&whole, calm.steps, firsts, self.every.max(1)),
            |strikes| format!("--seed {:#x}{overrides} --strikes {strikes}", self.seed),
            |strikes| self.strike(stage, overrides, &calm, strikes),
            || table.borrow().progress(start.elapsed()),
            |of_one| {
                of_one.found.iter().for_each(|found| println!("{found}"));
                table.borrow_mut().merge(of_one);
                match table.borrow().found.len() >= self.failures_most {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            },
        );
        Ok(table.into_inner())
    }

    /// The first strikes, each with how long it takes until what follows from it is over: as long as a run with that strike alone says.
    fn firsts(&self, stage: &dyn Stage, overrides: &Overrides, whole: &Case, calm: &Played) -> Vec<First> {
        let each = self.firsts.unwrap_or(self.series.firsts_each());
        let alone = |strike| {
            let case = struck(self.seed, overrides, Strikes(vec![strike]))
                .expect("the same case with another strike could be drawn");
            let run = stage.play(&case, &case.plan(calm.length()), false);
            (First::followed(strike, &run), run.recovered.is_some())
        };
        let all: Vec<_> = self.series.firsts(whole, calm.steps, each).into_iter().map(alone).collect();
        let follow = |(first, _): &(First, bool)| first.follow();
        let (least, most) = (all.iter().map(follow).min(), all.iter().map(follow).max());
        if let (Some(least), Some(most)) = (least, most) {
            let to_the_end = all.iter().filter(|(_, got_over)| !got_over).count();
            println!(
                "  {} first strikes, after which {least} to {most} steps are struck; after {to_the_end} of them there was no later checkpoint, and all are",
                all.len()
            );
        }
        all.into_iter().map(|(first, _)| first).collect()
    }

    fn strike(&self, stage: &dyn Stage, overrides: &Overrides, calm: &Played, strikes: Strikes) -> Table {
        let case =
            struck(self.seed, overrides, strikes).expect("the same case with another strike could be drawn");
        let mut judged = judged_beside(stage, &case, calm.clone(), false, false);
        let mut table = Table::default();
        table.add_beside(&case, &judged);
        judged.failures.truncate(1);
        table.found.extend(found(stage, case, judged));
        table
    }
}

/// A few in most of the short runs.
const CHECKPOINTS_EVERY: Duration = Duration::from_micros(400);

/// No run is so long.
const NEVER: Strike = Strike { blow: Blow::Launcher, step: u64::MAX };

/// A case in which this happens, and nothing else goes wrong.
fn struck(seed: u64, overrides: &Overrides, strikes: Strikes) -> Result<Case, String> {
    Case::draw(seed, &Overrides { strikes: Some(strikes), ..overrides.clone() })
}
