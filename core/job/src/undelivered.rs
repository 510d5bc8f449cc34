//! Messages that nobody got, as they are told at the end of a job.

use serde::{Deserialize, Serialize};
use talisman_base::ids::PeId;

use crate::report::Undelivered;

/// Kinds of messages that a job tells of, however many PEs it has.
const TOLD: usize = 1000;
/// Callers that are named of messages of one kind.
const NAMED: usize = 3;

/// What PEs know of messages that nobody got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Leftovers {
    pub kept: Vec<Kept>,
    pub callers: Vec<Caller>,
    /// Messages of further kinds.
    pub others: u64,
}

/// Messages of one kind, at the home of their receiver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub to: String,
    pub entry: String,
    /// Where it was called.
    pub pe: PeId,
    pub count: u64,
}

/// Who called an entry, on a PE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Caller {
    pub to: String,
    pub entry: String,
    pub pe: PeId,
    pub who: String,
}

impl Leftovers {
    /// With those of others.
    pub fn add(&mut self, mut other: Leftovers) {
        self.others = self.others.saturating_add(other.others);
        self.kept.append(&mut other.kept);
        self.callers.append(&mut other.callers);
        self.callers.truncate(TOLD);
        let further = self.kept.split_off(self.kept.len().min(TOLD));
        let further = further.iter().fold(0, |sum: u64, kept| sum.saturating_add(kept.count));
        self.others = self.others.saturating_add(further);
    }

    /// What is told of them, in the same order in every run; those of too many kinds as one.
    pub fn told(mut self) -> Vec<Undelivered> {
        self.kept
            .sort_by(|one, other| (&one.to, &one.entry, one.pe).cmp(&(&other.to, &other.entry, other.pe)));
        let mut told: Vec<_> = self.kept.iter().map(|kept| self.of(kept)).collect();
        if self.others > 0 {
            told.push(Undelivered { count: self.others, ..Undelivered::default() });
        }
        told
    }

    fn of(&self, kept: &Kept) -> Undelivered {
        let is_of =
            |caller: &&Caller| caller.to == kept.to && caller.entry == kept.entry && caller.pe == kept.pe;
        let mut who: Vec<_> = self.callers.iter().filter(is_of).map(|caller| caller.who.as_str()).collect();
        if who.len() > NAMED {
            who.truncate(NAMED);
            who.push("others");
        }
        let from = match who.is_empty() {
            true => format!("PE {}", kept.pe),
            false => format!("{} on PE {}", who.join(", "), kept.pe),
        };
        Undelivered { to: kept.to.clone(), entry: kept.entry.clone(), from, count: kept.count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(to: &str, pe: PeId, count: u64) -> Kept {
        Kept { to: to.into(), entry: "go".into(), pe, count }
    }

    fn caller(to: &str, pe: PeId, who: &str) -> Caller {
        Caller { to: to.into(), entry: "go".into(), pe, who: who.into() }
    }

    #[test]
    fn who_called_is_found_on_the_pe_that_it_was_called_on() {
        let mut all =
            Leftovers { kept: vec![kept("A[9]", 3, 2), kept("A[8]", 1, 1)], ..Leftovers::default() };
        let callers = vec![caller("A[9]", 3, "A[2]"), caller("A[9]", 2, "A[1]"), caller("A[7]", 1, "A[0]")];
        all.add(Leftovers { callers, ..Leftovers::default() });
        let lines: Vec<_> = all.told().iter().map(ToString::to_string).collect();
        let expected = [
            "1 message for A[8], which does not exist: `go`, called by PE 1",
            "2 messages for A[9], which does not exist: `go`, called by A[2] on PE 3",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn however_many_pes_have_kept_some_little_is_told() {
        let mut all = Leftovers::default();
        for pe in 0..2000 {
            let callers = (0..64).map(|who| caller("A[9]", pe, &format!("A[{who}]"))).collect();
            all.add(Leftovers { kept: vec![kept("A[9]", pe, 5); 64], callers, others: 1 });
        }
        assert!(all.kept.len() <= TOLD && all.callers.len() <= TOLD);
        let told = all.told();
        assert_eq!(told.iter().map(|of| of.count).sum::<u64>(), 2000 * (64 * 5 + 1));
        assert_eq!(told[0].from, "A[0], A[1], A[2], others on PE 0");
    }
}
