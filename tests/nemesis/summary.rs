//! How many rounds of each kind ended how.

use std::fmt;

use crate::command_line::Played;
use crate::judge::Verdict;
use crate::plan::{KINDS, Kind};
use crate::round::Outcome;

/// Of all rounds so far.
#[derive(Debug, Default)]
pub struct Summary {
    of: [Count; KINDS.len()],
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    survived: u64,
    ended: u64,
    failed: u64,
    skipped: u64,
    /// Strikes that came too late.
    late: usize,
}

impl Summary {
    pub fn add(&mut self, kind: Kind, played: &Played) {
        let at = KINDS.iter().position(|known| *known == kind).expect("it is one of all kinds");
        let count = &mut self.of[at];
        match played {
            Played::Skipped => count.skipped += 1,
            Played::Over(Outcome { verdict, late, .. }) => {
                count.late += late;
                *match verdict {
                    Verdict::Survived => &mut count.survived,
                    Verdict::Ended(_) => &mut count.ended,
                    Verdict::Failed(_) => &mut count.failed,
                } += 1;
            }
        }
    }

    pub fn has_failed(&self) -> bool {
        self.of.iter().any(|count| count.failed > 0)
    }

    fn total(&self) -> Count {
        self.of.iter().fold(Count::default(), |one, other| Count {
            survived: one.survived + other.survived,
            ended: one.ended + other.ended,
            failed: one.failed + other.failed,
            skipped: one.skipped + other.skipped,
            late: one.late + other.late,
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:40} survived  ended as documented  failed  skipped  strikes too late", "")?;
        for (kind, count) in KINDS.iter().zip(&self.of) {
            writeln!(f, "{:40} {count}", kind.name())?;
        }
        write!(f, "{:40} {}", "all", self.total())
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count { survived, ended, failed, skipped, late } = self;
        write!(f, "{survived:8}  {ended:19}  {failed:6}  {skipped:7}  {late:16}")
    }
}
