//! What many runs came to.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::time::Duration;

use crate::case::Case;
use crate::coverage::{Coverage, MARKS};
use crate::ends::{End, Times};
use crate::played::Played;
use crate::run::Judged;
use crate::verdict::has_no_end;

/// Of the last events of all nodes so many are printed with a failure; all of them if it is run alone.
const LOG_LINES: usize = 60;

/// Sums over runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Cases.
    pub cases: u64,
    /// Runs, calm ones and repeated ones included.
    pub runs: u64,
    /// Simulated time, in nanoseconds.
    pub simulated_ns: u128,
    /// Events.
    pub events: u128,
    /// Cases of each workload.
    pub workloads: BTreeMap<&'static str, u64>,
    /// Ends of runs with faults, by exit status.
    pub ends: BTreeMap<i32, u64>,
    /// Jobs that were started again after one that was lost, by exit status.
    pub again: BTreeMap<i32, u64>,
    /// Runs with faults that were given up for their many events before their world was healed: they are judged by less.
    pub without_end: u64,
    /// What was said of ends that were not good, without numbers.
    pub said: BTreeMap<String, Times>,
    /// Faults that happened, by kind.
    pub injected: BTreeMap<&'static str, u64>,
    /// Rare paths that were taken.
    pub coverage: Coverage,
    /// What failed.
    pub found: Vec<Found>,
}

/// A failure, and how to see it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What was wrong.
    pub what: String,
    /// The seed as it was found, and the simplest case of it that fails like it.
    pub lines: Vec<String>,
    /// The last events of each node in that.
    pub log: Vec<String>,
}

impl Table {
    /// Counts a case.
    pub fn add(&mut self, case: &Case, judged: &Judged) {
        self.add_with(case, judged, &judged.played);
    }

    /// Counts a case, but not its calm run, which others of its kind have in common with it.
    pub fn add_beside(&mut self, case: &Case, judged: &Judged) {
        self.add_with(case, judged, &judged.played[1..]);
    }

    fn add_with(&mut self, case: &Case, judged: &Judged, runs: &[Played]) {
        self.cases += 1;
        *self.workloads.entry(case.workload).or_default() += 1;
        if judged.plan.is_some() {
            *self.ends.entry(judged.main().status).or_default() += 1;
        }
        let has_no_end = |plan| has_no_end(plan, judged.main());
        self.without_end += u64::from(judged.plan.as_ref().is_some_and(has_no_end));
        if let Some(end) = judged.plan.as_ref().and_then(|_| End::of(judged.main())) {
            self.said.entry(end.said).or_default().add(end.times);
        }
        for played in runs {
            self.runs += 1;
            self.simulated_ns += played.lasted_ns as u128;
            self.events += played.events as u128;
            add_all(&mut self.injected, &played.injected);
            self.coverage.add_run(&played.marks);
            for again in played.jobs().skip(1) {
                *self.again.entry(again.status).or_default() += 1;
            }
        }
    }

    /// Adds what another one has.
    pub fn merge(&mut self, other: Table) {
        self.cases += other.cases;
        self.runs += other.runs;
        self.simulated_ns += other.simulated_ns;
        self.events += other.events;
        self.without_end += other.without_end;
        other.said.into_iter().for_each(|(said, times)| self.said.entry(said).or_default().add(times));
        add_all(&mut self.workloads, &other.workloads);
        add_all(&mut self.ends, &other.ends);
        add_all(&mut self.again, &other.again);
        add_all(&mut self.injected, &other.injected);
        self.coverage.merge(&other.coverage);
        self.found.extend(other.found);
    }

    /// How far it is, in a line.
    pub fn progress(&self, real: Duration) -> String {
        let per_s = self.cases as f64 / real.as_secs_f64().max(1e-9);
        format!("{} cases, {per_s:.0}/s, {} failures", self.cases, self.found.len())
    }

    /// Rare paths, by how many runs took them.
    fn paths(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = MARKS.iter().map(|mark| mark.name).chain(self.coverage.unknown());
        let runs = names.map(|name| (name, self.coverage.of(name).runs)).filter(|(_, runs)| *runs > 0);
        rows(f, "rare paths, by runs that took them", &runs.collect())
    }

    /// Prints the rare paths that no run took; whether one is among them that every sweep has to take.
    pub fn misses_paths(&self) -> bool {
        let (never, missed) = (self.coverage.never(), self.coverage.missed());
        println!("rare paths that no run took: {}", never.len());
        for name in never {
            let must = if missed.contains(&name) { "  which has to be taken" } else { "" };
            println!("  {:>12}  {name}{must}", "-");
        }
        !missed.is_empty()
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hours = self.simulated_ns as f64 / 3.6e12;
        writeln!(f, "cases                {:>12}", self.cases)?;
        writeln!(f, "runs                 {:>12}", self.runs)?;
        writeln!(f, "simulated hours      {hours:>12.2}")?;
        writeln!(f, "events               {:>12}", self.events)?;
        rows(f, "cases by workload", &self.workloads)?;
        rows(f, "runs with faults, by exit status", &self.ends)?;
        writeln!(
            f,
            "  {:>12}  of these were given up, for their many events, before all was healed",
            self.without_end
        )?;
        rows(f, "jobs that were started again from disks, by exit status", &self.again)?;
        rows(f, "what was said in the end, and how long it took at most", &self.said)?;
        rows(f, "faults by kind", &self.injected)?;
        self.paths(f)?;
        writeln!(f, "failures             {:>12}", self.found.len())
    }
}

fn rows(f: &mut fmt::Formatter<'_>, title: &str, rows: &BTreeMap<impl Display, impl Display>) -> fmt::Result {
    writeln!(f, "{title}")?;
    rows.iter().try_for_each(|(name, count)| writeln!(f, "  {count:>12}  {name}"))
}

impl Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FAILED: {}", self.what)?;
        self.lines.iter().try_for_each(|line| write!(f, "\n  {line}"))?;
        let left_out = self.log.len().saturating_sub(LOG_LINES);
        self.log.iter().skip(left_out).try_for_each(|line| write!(f, "\n    {line}"))
    }
}

fn add_all<K: Ord + Clone>(sums: &mut BTreeMap<K, u64>, counts: &BTreeMap<K, u64>) {
    counts.iter().for_each(|(key, count)| *sums.entry(key.clone()).or_default() += count);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_adds_up() {
        let one = Table {
            cases: 2,
            runs: 4,
            injected: [("lost", 3), ("crash", 1)].into(),
            ends: [(0, 2)].into(),
            ..Table::default()
        };
        let other =
            Table { cases: 1, injected: [("lost", 2)].into(), ends: [(3, 1)].into(), ..Table::default() };
        let mut sum = one.clone();
        sum.merge(other.clone());
        assert_eq!((sum.cases, sum.runs), (3, 4));
        assert_eq!(sum.injected, [("crash", 1), ("lost", 5)].into());
        assert_eq!(sum.ends, [(0, 2), (3, 1)].into());
        let mut turned = other;
        turned.merge(one);
        assert_eq!(sum, turned);
    }
}
