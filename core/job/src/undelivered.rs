//! Messages that nobody got, as they are told at the end of a job.

use serde::{Deserialize, Serialize};
use talisman_base::ids::PeId;

use crate::report::Undelivered;

/// Kinds of messages that a job tells of, however many PEs it has.
const TOLD: usize = 1000;
/// Callers that are named of messages of one kind.
pub const NAMED: usize = 3;

/// Why elements of an array that is filled by insertion were not called.
pub const NEVER_COMPLETE: &str =
    "they wait for its first elements to be all there, and `done_inserting()` was never called";

/// What PEs know of messages that nobody got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Leftovers {
    pub kept: Vec<Kept>,
    pub callers: Vec<Caller>,
    /// What waits for all elements of arrays.
    pub held: Vec<Undelivered>,
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
        self.held.append(&mut other.held);
        let further = self.held.split_off(self.held.len().min(TOLD));
        let further = further.iter().fold(0, |sum: u64, held| sum.saturating_add(held.count));
        self.others = self.others.saturating_add(further);
    }

    /// What is told of them, in the same order in every run; those of too many kinds as one.
    pub fn told(mut self) -> Vec<Undelivered> {
        self.kept
            .sort_by(|one, other| (&one.to, &one.entry, one.pe).cmp(&(&other.to, &other.entry, other.pe)));
        self.held.sort_by(|one, other| (&one.to, &one.entry).cmp(&(&other.to, &other.entry)));
        let mut told: Vec<_> = self.kept.iter().map(|kept| self.of(kept)).collect();
        told.append(&mut self.held);
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
        Undelivered {
            to: kept.to.clone(),
            entry: kept.entry.clone(),
            from,
            count: kept.count,
            ..Undelivered::default()
        }
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
    fn what_waited_for_all_elements_is_told_with_the_reason() {
        let (to, entry, cause) = ("A".into(), "go".into(), NEVER_COMPLETE.into());
        let held = vec![Undelivered { to, entry, cause, count: 2, ..Undelivered::default() }];
        let mut all = Leftovers::default();
        all.add(Leftovers { held, ..Leftovers::default() });
        let expected = "2 messages for all elements of `A`: `go`; they wait for its first elements to be all there, and \
                        `done_inserting()` was never called";
        assert_eq!(all.told().iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn however_many_pes_have_kept_some_little_is_told() {
        let mut all = Leftovers::default();
        for pe in 0..2000 {
            let callers = (0..64).map(|who| caller("A[9]", pe, &format!("A[{who}]"))).collect();
            let kept = vec![kept("A[9]", pe, 5); 64];
            all.add(Leftovers { kept, callers, others: 1, ..Leftovers::default() });
        }
        assert!(all.kept.len() <= TOLD && all.callers.len() <= TOLD);
        let told = all.told();
        assert_eq!(told.iter().map(|of| of.count).sum::<u64>(), 2000 * (64 * 5 + 1));
        assert_eq!(told[0].from, "A[0], A[1], A[2], others on PE 0");
    }
}
