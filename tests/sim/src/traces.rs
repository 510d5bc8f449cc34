//! The hash of the event trace of each seed's run: equal before and after a change that moves code and changes nothing.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use crate::case::{Case, Overrides};
use crate::played::Stage;
use crate::pool::Pool;
use crate::run::judged;

/// Seeds whose traces are wanted.
#[derive(Clone, Debug)]
pub struct Traces {
    /// The first seed.
    pub from: u64,
    /// How many.
    pub seeds: u64,
    /// What is said otherwise than the seeds say.
    pub overrides: Overrides,
    /// Threads.
    pub pool: Pool,
}

impl Traces {
    /// A line for each seed, in their order: seed, workload, events and hash of the run with faults (of the calm one, if that failed).
    ///
    /// # Errors
    /// A seed with these overrides is no case.
    pub fn lines(&self, stage: &dyn Stage) -> Result<String, String> {
        let cases: Vec<(u64, Case)> = (0..self.seeds)
            .map(|more| self.from.wrapping_add(more))
            .map(|seed| Ok((seed, Case::draw(seed, &self.overrides)?)))
            .collect::<Result<_, String>>()?;
        let mut lines = Vec::new();
        self.pool.run(
            cases.into_iter(),
            |(seed, _)| format!("--seed {seed:#x}"),
            |(seed, case)| (seed, line(seed, &case, stage)),
            String::new,
            |line| {
                lines.push(line);
                ControlFlow::Continue(())
            },
        );
        lines.sort_unstable();
        Ok(lines.into_iter().map(|(_, line)| line).collect())
    }
}

fn line(seed: u64, case: &Case, stage: &dyn Stage) -> String {
    let judged = judged(stage, case, false, false);
    let run = judged.main();
    let mut line = format!("{seed:#x} {} {} events", case.workload, run.events);
    match run.trace {
        Some(hash) => write!(line, " {hash:016x}"),
        None => write!(line, " no trace"),
    }
    .expect("a string takes all");
    line + "\n"
}
