//! Whether deliberate mistakes are noticed, and after how many seeds.

use std::cell::RefCell;
use std::fmt::{self, Display};
use std::ops::ControlFlow;
use std::time::Instant;

use crate::case::{Case, Overrides};
use crate::mutations::MUTATIONS;
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
    /// Who runs them.
    pub pool: Pool,
}

/// What became of a mistake.
#[derive(Clone, Debug, PartialEq)]
pub struct Noticed {
    /// Its name.
    pub name: &'static str,
    /// How many seeds it took, and what was seen; `None` if nothing was.
    pub by: Option<(u64, u64, Failure)>,
}

impl MutationCheck {
    /// Checks each mistake and prints the table; whether all were noticed.
    pub fn run(&self) -> bool {
        let names = MUTATIONS.iter().map(|mutation| mutation.name);
        let chosen = names.filter(|name| self.only.as_ref().is_none_or(|only| name.contains(only.as_str())));
        let noticed = RefCell::new(Vec::new());
        let start = Instant::now();
        self.pool.run(
            chosen.collect::<Vec<_>>().into_iter(),
            |name| format!("mutations --only '{name}'"),
            |name| Noticed { name, by: self.noticed(name) },
            || format!("{} mistakes in {:.0} s", noticed.borrow().len(), start.elapsed().as_secs_f64()),
            |one: Noticed| {
                println!("{one}");
                noticed.borrow_mut().push(one);
                ControlFlow::Continue(())
            },
        );
        let noticed = noticed.into_inner();
        let missed = noticed.iter().filter(|one| one.by.is_none()).count();
        println!("{} mistakes, {missed} never noticed in {} seeds each", noticed.len(), self.seeds);
        missed == 0
    }

    /// The first seed that notices a mistake, how many it took, and what it saw.
    fn noticed(&self, name: &'static str) -> Option<(u64, u64, Failure)> {
        let in_time = |_: &u64| self.pool.until.is_none_or(|until| Instant::now() < until);
        (0..self.seeds).take_while(in_time).find_map(|tried| {
            let seed = self.from.wrapping_add(tried);
            let case = Case::draw(seed, &self.overrides).ok()?;
            noticed_by(&case, name).map(|failure| (tried + 1, seed, failure))
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

impl Display for Noticed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.by {
            Some((tried, seed, failure)) => {
                let what: String =
                    failure.to_string().lines().next().unwrap_or_default().chars().take(160).collect();
                write!(f, "{:<56} {tried:>6}  {seed:#x}  {what}", self.name)
            }
            None => write!(f, "{:<56}  NEVER", self.name),
        }
    }
}
