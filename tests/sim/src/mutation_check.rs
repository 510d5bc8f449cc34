//! Whether deliberate mistakes are noticed, and after how many seeds.

use std::cell::RefCell;
use std::fmt::{self, Display};
use std::ops::ControlFlow;
use std::time::Instant;

use crate::case::{Case, Overrides};
use crate::mutations::{self, Mutation};
use crate::played::Worlds;
use crate::pool::Pool;
use crate::regressions::case_of;
use crate::replay::said;
use crate::run::judged;
use crate::shrink::shrink;
use crate::table::Found;
use crate::verdict::Failure;

/// A check of all mistakes, or of one.
#[derive(Clone, Debug)]
pub struct MutationCheck {
    /// The first seed.
    pub from: u64,
    /// How many seeds may pass until a mistake is noticed.
    pub seeds: u64,
    /// What is said of all cases.
    pub overrides: Overrides,
    /// Only mistakes whose name has this in it.
    pub only: Option<String>,
    /// Whether the table is Markdown.
    pub markdown: bool,
    /// Whether the case that notices a mistake is made as simple as it can be, and told, to be put on the list.
    pub shrinking: bool,
    /// Who runs them.
    pub pool: Pool,
}

/// What became of a mistake.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Which.
    pub mutation: &'static Mutation,
    /// What the first seed showed that noticed it.
    pub noticed: Option<Noticed>,
}

/// How a mistake was noticed.
#[derive(Clone, Debug)]
pub struct Noticed {
    /// How many seeds it took.
    pub tried: u64,
    /// The last of them.
    pub seed: u64,
    /// What it ran.
    pub workload: &'static str,
    /// What was seen.
    pub failure: Failure,
    /// What is said to see the simplest case that shows it, if that was wanted.
    pub simplest: Option<String>,
}

impl MutationCheck {
    /// Checks each mistake and prints the table; whether all were noticed.
    pub fn run(&self) -> bool {
        let chosen = chosen(self.only.as_deref());
        let outcomes = RefCell::new(Vec::new());
        let start = Instant::now();
        println!("{}", if self.markdown { MARKDOWN_HEAD } else { TEXT_HEAD });
        self.pool.run(
            chosen,
            |mutation| format!("mutations --mistake '{}'", mutation.name),
            |mutation| Outcome { mutation, noticed: self.noticed(mutation.name) },
            || format!("{} mistakes in {:.0} s", outcomes.borrow().len(), start.elapsed().as_secs_f64()),
            |one: Outcome| {
                println!("{}", if self.markdown { one.markdown() } else { one.to_string() });
                outcomes.borrow_mut().push(one);
                ControlFlow::Continue(())
            },
        );
        let outcomes = outcomes.into_inner();
        let missed = outcomes.iter().filter(|one| one.noticed.is_none()).count();
        println!("\n{} mistakes, {missed} never noticed in {} seeds each", outcomes.len(), self.seeds);
        missed == 0
    }

    /// What the first seed shows that notices a mistake.
    fn noticed(&self, name: &'static str) -> Option<Noticed> {
        let in_time = |_: &u64| self.pool.until.is_none_or(|until| Instant::now() < until);
        (0..self.seeds).take_while(in_time).find_map(|tried| {
            let seed = self.from.wrapping_add(tried);
            let case = Case::draw(seed, &self.overrides).ok()?;
            let failure = noticed_by(&case, name)?;
            let simplest = self.shrinking.then(|| simplest(&case, name, &failure));
            Some(Noticed { tried: tried + 1, seed, workload: case.workload, failure, simplest })
        })
    }
}

/// The mistakes that a world may notice, or those of them whose name has this in it.
pub fn chosen(part: Option<&str>) -> impl Iterator<Item = &'static Mutation> + Send {
    let is_asked_for = move |one: &&Mutation| part.is_none_or(|part| one.name.contains(part));
    mutations::all().filter(|one| one.level.is_simulated()).filter(is_asked_for)
}

/// Runs of each mistake the case that is on the list, and gives those that are not noticed by theirs.
pub fn unnoticed(mutations: impl Iterator<Item = &'static Mutation> + Send, pool: &Pool) -> Vec<Found> {
    let mut all = Vec::new();
    pool.run(
        mutations,
        |mutation| format!("{} --mutation {}", mutation.seen_by, mutation.name),
        is_unnoticed,
        || "mistakes that have to be noticed".into(),
        |found: Option<Found>| {
            found.iter().for_each(|found| println!("{found}"));
            all.extend(found);
            ControlFlow::Continue(())
        },
    );
    all
}

fn is_unnoticed(mutation: &Mutation) -> Option<Found> {
    let Mutation { name, rule, seen_by, .. } = mutation;
    let case = case_of(seen_by).expect("a test reads every line");
    if noticed_by(&case, name).is_some() {
        return None;
    }
    let what = format!("nobody notices `{name}` in the case that is known for it, against the rule: {rule}");
    let again = format!("cargo run --release -p talisman-sim -- {seen_by} --mutation {name}");
    let another =
        format!("another case: cargo run --release -p talisman-sim -- mutations --mistake {name} --shrunk");
    Some(Found { what, lines: vec![again, another], log: Vec::new() })
}

/// What is said to see the simplest case that shows a mistake as this one does.
fn simplest(case: &Case, name: &'static str, failure: &Failure) -> String {
    let worlds = Worlds { mutation: Some(name) };
    let (workload, ft) = (Some(case.workload.into()), Some(case.survival));
    let pinned = Case::draw(case.seed, &Overrides { workload, ft, ..case.overrides.clone() });
    let pinned = pinned.expect("what is drawn can be said");
    let mut judged = judged(&worlds, &pinned, false, false);
    judged.failures.retain(|other| other.is_like(failure));
    if judged.failures.is_empty() {
        return said(case);
    }
    let shrunk = shrink(&worlds, pinned.clone(), judged, SHRINKING_TRIES).case;
    said(if noticed_by(&shrunk, name).is_some() { &shrunk } else { &pinned })
}

/// Runs that may go into making one case simpler.
const SHRINKING_TRIES: u32 = 100;

/// What a case shows of a mistake: something that it does not show without.
fn noticed_by(case: &Case, name: &'static str) -> Option<Failure> {
    let with = judged(&Worlds { mutation: Some(name) }, case, false, false).failures;
    if with.is_empty() {
        return None;
    }
    let without = judged(&Worlds::default(), case, false, false).failures;
    with.into_iter().find(|failure| without.iter().all(|other| !failure.is_like(other)))
}

/// The name of a mistake, as the runtime knows it.
///
/// # Errors
/// There is none of this name.
pub fn known(name: &str) -> Result<&'static str, String> {
    let found = mutations::all().find(|mutation| mutation.name == name);
    found
        .map(|mutation| mutation.name)
        .ok_or_else(|| format!("there is no mistake `{name}`; see `mutations`"))
}

const TEXT_HEAD: &str =
    "mistake                                  seeds  the last, what it ran, what was seen";
const MARKDOWN_HEAD: &str =
    "| mistake | the rule that it breaks | seeds | noticed by | in |\n|---|---|---:|---|---|";

impl Outcome {
    /// Its row of the table for people who read about it.
    fn markdown(&self) -> String {
        let Mutation { name, rule, .. } = self.mutation;
        match &self.noticed {
            Some(Noticed { tried, workload, failure, .. }) => {
                format!("| `{name}` | {rule} | {tried} | {} | `{workload}` |", failure.by())
            }
            None => format!("| `{name}` | {rule} | never | | |"),
        }
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<38} ", self.mutation.name)?;
        match &self.noticed {
            Some(Noticed { tried, seed, workload, failure, simplest }) => {
                let what: String =
                    failure.to_string().lines().next().unwrap_or_default().chars().take(160).collect();
                write!(f, "{tried:>7}  {seed:#x} {workload}  {what}")?;
                simplest.iter().try_for_each(|simplest| write!(f, "\n  {simplest}"))
            }
            None => write!(f, "  NEVER"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_that_its_case_does_not_show_is_told() {
        let mistake = |part| *chosen(Some(part)).next().expect("there is one");
        let doubled = mistake("message-doubled");
        assert_eq!(is_unnoticed(&doubled), None);
        // On one node nobody has a buddy.
        let alone = "--seed 0x2a --workload ring --size 1 --nodes 1 --pes 1 --ft off --faults none";
        let buddy = Mutation { seen_by: alone, ..mistake("buddy-on-the-same-host") };
        let told = is_unnoticed(&buddy).expect("nothing comes of it");
        assert!(told.what.contains("buddy-on-the-same-host") && told.lines[0].contains(alone), "{told}");
    }
}
