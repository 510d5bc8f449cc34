//! Cases that take rare paths to which fresh seeds come too seldom: CI runs them besides.
//!
//! A seed stands for another case when what is drawn from it changes, or what the runtime does. When none of the lines of a path takes it any
//! more, `sweep --taking "a part of its name"` finds others, best with what these lines have in common.

use crate::case::Case;
use crate::played::Stage;
use crate::regressions::case_of;
use crate::run::judged;
use crate::swarm::found;
use crate::table::Table;

/// A path, and cases that take it.
pub struct Rare {
    /// The mark that the runtime has there.
    pub path: &'static str,
    /// What is said to see them.
    pub lines: &'static [&'static str],
}

/// All such paths.
pub const RARE: &[Rare] = &[
    Rare {
        path: "a note of a balancing step came before its beginning",
        lines: &[
            "--seed 0x2 --workload sync --size 1 --nodes 12 --pes 1 --ft off --faults none",
            "--seed 0x3 --workload sync --size 1 --nodes 12 --pes 1 --ft off --faults none",
            "--seed 0x8 --workload sync --size 1 --nodes 12 --pes 1 --ft off --faults none",
            "--seed 0xb --workload sync --size 1 --nodes 12 --pes 1 --ft off --faults none",
            "--seed 0xc --workload sync --size 1 --nodes 12 --pes 1 --ft off --faults none",
        ],
    },
    Rare {
        path: "more lines of a node were printed than are known one by one",
        lines: &[
            "--seed 0x16 --workload chorus --size 75 --nodes 3 --pes 1 --ft 10us --heirs true --strikes 1@65000,launcher@80000",
        ],
    },
];

/// Runs all cases; what they take and what failed is in the table.
pub fn run(stage: &dyn Stage, rare: &[Rare]) -> Table {
    let mut table = Table::default();
    for line in rare.iter().flat_map(|rare| rare.lines) {
        table.merge(run_one(stage, case_of(line).expect("a test reads every line")));
    }
    table
}

fn run_one(stage: &dyn Stage, case: Case) -> Table {
    let (mut table, judged) = (Table::default(), judged(stage, &case, false, false));
    table.add(&case, &judged);
    table.found.extend(found(stage, case, judged));
    table.found.iter().for_each(|found| println!("{found}"));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::MARKS;
    use crate::played::Worlds;

    #[test]
    fn every_path_is_taken_by_one_of_its_lines_and_nothing_fails() {
        for rare in RARE {
            assert!(MARKS.iter().any(|mark| mark.name == rare.path), "there is no path `{}`", rare.path);
            let cases = rare.lines.iter().map(|line| case_of(line).expect(line));
            let tables: Vec<Table> = cases.map(|case| run_one(&Worlds::default(), case)).collect();
            assert!(tables.iter().all(|table| table.found.is_empty()), "{}", rare.path);
            let is_taken = tables.iter().any(|table| table.coverage.has(rare.path));
            assert!(is_taken, "no line takes it any more, see above: {}", rare.path);
        }
    }
}
