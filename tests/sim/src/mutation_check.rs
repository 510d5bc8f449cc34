//! Whether deliberate mistakes are noticed, and after how many seeds.

use std::cell::RefCell;
use std::fmt::{self, Display};
use std::ops::ControlFlow;
use std::time::Instant;

use crate::case::{Case, Overrides};
use crate::mutations::{Level, MUTATIONS, Mutation};
use crate::played::Worlds;
use crate::pool::Pool;
use crate::run::judged;
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
}

impl MutationCheck {
    /// Checks each mistake and prints the table; whether all were noticed.
    pub fn run(&self) -> bool {
        let is_asked_for = |one: &&Mutation| self.only.as_ref().is_none_or(|only| one.name.contains(only));
        let chosen = MUTATIONS.iter().filter(|one| one.level != Level::Leader).filter(is_asked_for);
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
            Some(Noticed { tried: tried + 1, seed, workload: case.workload, failure })
        })
    }
}

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
    let found = MUTATIONS.iter().find(|mutation| mutation.name == name);
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
            Some(Noticed { tried, seed, workload, failure }) => {
                let what: String =
                    failure.to_string().lines().next().unwrap_or_default().chars().take(160).collect();
                write!(f, "{tried:>7}  {seed:#x} {workload}  {what}")
            }
            None => write!(f, "  NEVER"),
        }
    }
}
