//! Makes a failing case as simple as it can be while it still fails in the same way.

use crate::case::{CALM, Case, Kept, Overrides, Strikes};
use crate::played::Stage;
use crate::run::{Judged, judged};
use crate::verdict::{Failure, Kind};

/// What shrinking came to.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The simplest case that was found.
    pub case: Case,
    /// How it fails.
    pub judged: Judged,
    /// What was wrong with the first one.
    pub first: Failure,
    /// The runs that were needed.
    pub tried: u32,
}

impl Shrunk {
    /// What is wrong with the simplest case, of what was wrong with the first one.
    pub fn failure(&self) -> &Failure {
        let mut failures = self.judged.failures.iter();
        failures.find(|failure| failure.is_like(&self.first)).unwrap_or(&self.first)
    }
}

/// Shrinks a case that failed, within so many tries.
pub fn shrink(stage: &dyn Stage, case: Case, found: Judged, tries: u32) -> Shrunk {
    let failure = found.failures.first().expect("only what failed is shrunk").clone();
    let mut search = Search { stage, best: Shrunk { case, judged: found, first: failure, tried: 0 }, tries };
    search.fewer_faults();
    // What is simpler one way may get simpler another way then.
    while search.round() {}
    search.best
}

struct Search<'a> {
    stage: &'a dyn Stage,
    best: Shrunk,
    tries: u32,
}

impl Search<'_> {
    /// One attempt at everything; whether anything got simpler.
    fn round(&mut self) -> bool {
        let all = [
            Self::calmer,
            Self::without_replacements,
            Self::fewer_nodes,
            Self::fewer_pes,
            Self::smaller,
            Self::fewer_faults,
        ];
        let progress = all.map(|simpler| simpler(self));
        progress.contains(&true)
    }

    /// What comes by rates is left out, class by class.
    fn calmer(&mut self) -> bool {
        let mut simpler = false;
        for class in CALM {
            let overrides = self.overrides();
            if overrides.strikes.is_none() && !overrides.calm.iter().any(|calm| calm == class) {
                let calm = [overrides.calm.clone(), vec![class.into()]].concat();
                simpler |= self.attempt_other(Overrides { calm, ..overrides });
            }
        }
        simpler
    }

    /// Nobody comes in a lost node's place, and PEs that have halted read nothing.
    fn without_replacements(&mut self) -> bool {
        let fewer = self.attempt_other(Overrides { respawn: Some(false), ..self.overrides() });
        let none = self.attempt_other(Overrides { spares: Some(0), ..self.overrides() });
        let fixed = self.attempt_other(Overrides { more: Some(0), ..self.overrides() });
        let alone = self.attempt_other(Overrides { succession: Some(false), ..self.overrides() });
        self.attempt_other(Overrides { lingers: Some(false), ..self.overrides() })
            || fewer
            || none
            || fixed
            || alone
    }

    fn fewer_nodes(&mut self) -> bool {
        let nodes = self.best.case.nodes();
        // A strike names its node.
        let least = self.overrides().strikes.map_or(1, |strikes| strikes.nodes_least());
        let one_of = |nodes| Overrides { nodes: Some(nodes), ..self.overrides() };
        let fewer: Vec<_> = lower(nodes).filter(|nodes| *nodes >= least).map(one_of).collect();
        fewer.into_iter().any(|overrides| self.attempt(overrides))
    }

    fn fewer_pes(&mut self) -> bool {
        let one_of = |pes| Overrides { pes: Some(pes), ..self.overrides() };
        let fewer: Vec<_> = lower(self.best.case.pes).map(one_of).collect();
        fewer.into_iter().any(|overrides| self.attempt(overrides))
    }

    fn smaller(&mut self) -> bool {
        let one_of = |size| Overrides { size: Some(size), ..self.overrides() };
        let smaller: Vec<_> = lower(self.best.case.size).map(one_of).collect();
        smaller.into_iter().any(|overrides| self.attempt(overrides))
    }

    /// Delta debugging (Zeller and Hildebrandt 2002): leaves out ever smaller parts of the list until none can be spared.
    fn fewer_faults(&mut self) -> bool {
        if let Some(strikes) = self.overrides().strikes {
            return self.fewer_strikes(&strikes);
        }
        let before = self.numbers().len();
        let mut parts = 1;
        while !self.numbers().is_empty() && parts <= self.numbers().len() {
            match self.without_a_part(parts) {
                true => parts = parts.saturating_sub(1).max(1),
                false => {
                    parts = if parts == self.numbers().len() {
                        parts + 1
                    } else {
                        (2 * parts).min(self.numbers().len())
                    }
                }
            }
        }
        self.numbers().len() < before
    }

    fn fewer_strikes(&mut self, Strikes(all): &Strikes) -> bool {
        (0..all.len()).any(|spared| {
            let mut left = all.clone();
            left.remove(spared);
            self.attempt(Overrides { strikes: Some(Strikes(left)), ..self.overrides() })
        })
    }

    /// Leaves out one of so many parts of the faults, if it fails without; whether it does.
    fn without_a_part(&mut self, parts: usize) -> bool {
        let numbers = self.numbers();
        let length = numbers.len().div_ceil(parts);
        (0..numbers.len()).step_by(length).any(|from| {
            let mut left = numbers.clone();
            left.drain(from..(from + length).min(numbers.len()));
            self.attempt(Overrides { faults: Some(Kept(left)), ..self.overrides() })
        })
    }

    /// An attempt that is worth a run only if it makes a difference.
    fn attempt_other(&mut self, overrides: Overrides) -> bool {
        let is_other = Case::draw(self.best.case.seed, &overrides)
            .is_ok_and(|case| Case { overrides: self.overrides(), ..case } != self.best.case);
        is_other && self.attempt(overrides)
    }

    /// Takes this case if it fails as the first one did.
    fn attempt(&mut self, overrides: Overrides) -> bool {
        if self.best.tried >= self.tries {
            return false;
        }
        let Ok(case) = Case::draw(self.best.case.seed, &overrides) else { return false };
        self.best.tried += 1;
        let judged = judged(self.stage, &case, self.best.first.kind == Kind::Unequal, false);
        let fails = judged.fails_like(&self.best.first);
        if fails {
            (self.best.case, self.best.judged) = (case, judged);
        }
        fails
    }

    fn overrides(&self) -> Overrides {
        self.best.case.overrides.clone()
    }

    fn numbers(&self) -> Vec<usize> {
        self.best.case.all_faults().map(|drawn| drawn.number).collect()
    }
}

/// Lower numbers than this, the most daring first.
fn lower(than: u32) -> impl Iterator<Item = u32> {
    let mut tried: Vec<u32> = [1, 2, than / 2, than.saturating_sub(1)].into();
    tried.retain(|number| (1..than).contains(number));
    tried.sort_unstable();
    tried.dedup();
    tried.into_iter()
}

#[cfg(test)]
mod tests;
