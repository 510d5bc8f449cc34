//! Short runs on a few nodes, in which each node, and the launcher, is killed at every event.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::Instant;

use crate::case::{Case, Overrides, Victim};
use crate::played::{Played, Stage};
use crate::pool::Pool;
use crate::run::judged_beside;
use crate::swarm::found;
use crate::table::Table;
use crate::verdict::failures_of_calm;
use crate::workloads::NAMES;

/// A sweep over events.
#[derive(Clone, Debug)]
pub struct CrashPoints {
    /// The seed of all cases.
    pub seed: u64,
    /// What is said of them; without a workload, all are run, and without nodes, 3 to 5 by turns.
    pub overrides: Overrides,
    /// One event in so many.
    pub every: u64,
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
            let overrides = Overrides {
                workload: Some(workload),
                size: self.overrides.size.or(Some(1)),
                nodes: self.overrides.nodes.or(Some(3 + turn as u32 % 3)),
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

    fn workloads(&self) -> Vec<String> {
        match &self.overrides.workload {
            Some(workload) => vec![workload.clone()],
            None => NAMES.iter().map(|name| name.to_string()).collect(),
        }
    }

    fn run_one(&self, stage: &dyn Stage, overrides: &Overrides, pool: Pool) -> Result<Table, String> {
        let (mut table, start) = (Table::default(), Instant::now());
        let whole = killing(self.seed, overrides, Victim { node: None, event: u64::MAX })?;
        let calm = stage.play(&whole, &whole.calm_plan(), false);
        if !failures_of_calm(&calm).is_empty() {
            let judged = crate::run::judged(stage, &whole, false, false);
            table.found.extend(found(stage, whole, judged));
            return Ok(table);
        }
        let table = RefCell::new(table);
        pool.run(
            self.victims(calm.events, whole.nodes()),
            |victim| format!("--seed {:#x}{overrides} --crash {victim}", self.seed),
            |victim| self.kill(stage, overrides, &calm, victim),
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

    /// Everybody at every event, or at some. Which ones are left out is another matter for each, so that few are left out
    /// for all.
    fn victims(&self, events: u64, nodes: u32) -> impl Iterator<Item = Victim> + Send + use<> {
        let (every, seed) = (self.every.max(1), self.seed);
        let victims = (0..nodes).map(Some).chain([None]);
        victims.enumerate().flat_map(move |(turn, node)| {
            let first = (seed.wrapping_add(turn as u64 * every / (nodes as u64 + 1))) % every;
            (first..events).step_by(every as usize).map(move |event| Victim { node, event })
        })
    }

    fn kill(&self, stage: &dyn Stage, overrides: &Overrides, calm: &Played, victim: Victim) -> Table {
        let case =
            killing(self.seed, overrides, victim).expect("the same case with another victim could be drawn");
        let mut judged = judged_beside(stage, &case, calm.clone(), false, false);
        let mut table = Table::default();
        table.add(&case, &judged);
        judged.failures.truncate(1);
        table.found.extend(found(stage, case, judged));
        table
    }
}

/// A case in which somebody is killed, and nothing else goes wrong.
fn killing(seed: u64, overrides: &Overrides, victim: Victim) -> Result<Case, String> {
    Case::draw(seed, &Overrides { crash: Some(victim), ..overrides.clone() })
}
