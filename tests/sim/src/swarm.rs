//! Many seeds, each with a case of its own.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::Instant;

use crate::case::{Case, Overrides};
use crate::played::Stage;
use crate::pool::Pool;
use crate::replay::line;
use crate::run::{Judged, judged};
use crate::shrink::shrink;
use crate::table::{Found, Table};

/// A sweep over seeds.
#[derive(Clone, Debug)]
pub struct Swarm {
    /// The first seed.
    pub from: u64,
    /// How many.
    pub seeds: u64,
    /// What is said of all cases.
    pub overrides: Overrides,
    /// Cases are told that take a rare path whose name has this in it.
    pub taking: Option<String>,
    /// Who runs them.
    pub pool: Pool,
    /// It ends when so many have failed.
    pub failures_most: usize,
}

/// Runs that may go into making one failure simpler.
const SHRINKING_TRIES: u32 = 200;

impl Swarm {
    /// Runs all, prints failures as they are found, shrunk, and gives the table.
    ///
    /// # Errors
    /// What is said of the cases cannot be.
    pub fn run(&self, stage: &dyn Stage) -> Result<Table, String> {
        Case::draw(self.from, &self.overrides)?;
        let (start, table) = (Instant::now(), RefCell::new(Table::default()));
        let seeds = self.from..self.from.saturating_add(self.seeds);
        self.pool.run(
            seeds,
            |seed| format!("--seed {seed:#x}{}", self.overrides),
            |seed| self.one(stage, seed),
            || table.borrow().progress(start.elapsed()),
            |of_one: Table| {
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

    /// A seed's part of the table.
    fn one(&self, stage: &dyn Stage, seed: u64) -> Table {
        let mut table = Table::default();
        let case = match Case::draw(seed, &self.overrides) {
            Ok(case) => case,
            // What is said of all cases may not fit each: a fault that this seed has not.
            Err(_) => return table,
        };
        let judged = judged(stage, &case, case.twice, false);
        table.add(&case, &judged);
        if self.taking.as_ref().is_some_and(|part| table.coverage.has(part)) {
            println!("takes it: {}", line(&case));
        }
        table.found.extend(found(stage, case, judged));
        table
    }
}

/// What is told of a case if it failed.
pub fn found(stage: &dyn Stage, case: Case, judged: Judged) -> Option<Found> {
    let mut failure = judged.failures.first()?.to_string();
    let as_found = line(&case);
    let shrunk = shrink(stage, case, judged, SHRINKING_TRIES);
    let simplest = shrunk.failure().to_string();
    if simplest != failure {
        failure = format!("{failure}\n  at its simplest: {simplest}");
    }
    let mut lines = vec![as_found, line(&shrunk.case)];
    lines.dedup();
    let log = shrunk.judged.main().log.clone();
    Some(Found { what: failure, lines, log })
}
