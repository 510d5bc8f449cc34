//! Lines of the program that the launcher prints once, whoever says them, and however often.

use std::collections::{BTreeMap, BTreeSet};

use talisman_ft::Version;

use super::control::Lines;
use crate::launch::Results;
use crate::mutations::mutated;
use crate::sometimes::sometimes;

/// A node is told of so many pieces of another one at most: all that the other's part may still hold, unless its launcher was far behind.
const HANDED_OVER: usize = 256;

/// What has been printed, and what will be if the job ends now.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    /// By version, node and piece.
    known: BTreeSet<(Version, u32, u32)>,
    /// Of the last periods, by the cut that ended each, node and piece.
    last: BTreeMap<(Version, u32, u32), Lines>,
    /// What was reported, by version and node: what is said again may be older than what is known.
    results: BTreeMap<(Version, u32), Results>,
    last_results: Results,
}

impl Printed {
    /// These pieces, by version and node, are printed already.
    pub(crate) fn knowing(pieces: impl IntoIterator<Item = (Version, u32, u32)>) -> Self {
        Printed { known: pieces.into_iter().collect(), ..Printed::default() }
    }

    /// All is printed already, and this was reported.
    pub(crate) fn with_results(results: Results) -> Self {
        Printed { last_results: results, ..Printed::default() }
    }

    /// Somebody says lines; what is to be printed of them now.
    pub(crate) fn hear(&mut self, lines: Lines) -> Vec<String> {
        let Some(version) = lines.version.or(mutated("last-lines-printed-too-early").then_some(0)) else {
            self.last.insert((lines.until, lines.node, lines.piece), lines);
            return Vec::new();
        };
        let results = self.results.entry((version, lines.node)).or_default();
        lines.results.iter().for_each(|(name, value)| results.set(name, value.clone()));
        if !self.known.insert((version, lines.node, lines.piece)) && !mutated("lines-printed-again") {
            sometimes("lines were said again");
            return Vec::new();
        }
        lines.lines
    }

    /// What was printed of a node, for whoever takes up its part and may say it again: version and piece, the newest first.
    pub(crate) fn of(&self, node: u32) -> impl Iterator<Item = (Version, u32)> + '_ {
        let known = self.known.iter().rev().filter(move |(_, of, _)| *of == node);
        known.map(|(version, _, piece)| (*version, *piece)).take(HANDED_OVER)
    }

    /// The job goes back: its last period will be another one.
    pub(crate) fn go_back(&mut self) {
        if !self.last.is_empty() {
            sometimes("a program that had ended went back");
        }
        self.last.clear();
    }

    /// The last periods count: what is to be printed of them, of each by node.
    pub(crate) fn end(&mut self) -> Vec<(u32, Vec<String>)> {
        let last = std::mem::take(&mut self.last).into_values();
        let take = |lines: Lines| {
            lines.results.iter().for_each(|(name, value)| self.last_results.set(name, value.clone()));
            (lines.node, lines.lines)
        };
        last.map(take).collect()
    }

    /// What was reported with lines: of the same name, what was last.
    pub(crate) fn results(&self) -> Results {
        let mut all = Results::default();
        for results in self.results.values().chain([&self.last_results]) {
            results.iter().for_each(|(name, value)| all.set(name, value.clone()));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(version: Option<Version>, node: u32, piece: u32) -> Lines {
        let text = format!("{version:?} of {node}, {piece}");
        let mut results = Results::default();
        results.set("last", u64::from(node));
        Lines { version, node, piece, lines: vec![text], results, ..Lines::default() }
    }

    #[test]
    fn each_piece_of_a_version_is_printed_once() {
        let mut printed = Printed::default();
        for (version, node, piece) in [(1, 0, 0), (1, 0, 1), (1, 1, 0), (2, 0, 0)] {
            assert_eq!(printed.hear(lines(Some(version), node, piece)).len(), 1);
            assert_eq!(printed.hear(lines(Some(version), node, piece)), [""; 0]);
        }
        assert_eq!(printed.results().iter().count(), 1);
    }

    #[test]
    fn whoever_takes_up_a_part_is_told_what_was_printed_of_it() {
        let mut printed = Printed::default();
        for (version, node, piece) in [(1, 0, 0), (1, 0, 1), (2, 1, 0), (3, 0, 0)] {
            printed.hear(lines(Some(version), node, piece));
        }
        assert_eq!(printed.of(0).collect::<Vec<_>>(), [(3, 0), (1, 1), (1, 0)]);
        (4..1000).for_each(|version| drop(printed.hear(lines(Some(version), 0, 0))));
        assert_eq!((printed.of(0).count(), printed.of(0).next()), (HANDED_OVER, Some((999, 0))));
    }

    #[test]
    fn older_results_do_not_replace_newer_ones() {
        let mut printed = Printed::knowing([(1, 0, 0)]);
        for (version, value) in [(2, 5_u64), (1, 0), (2, 5)] {
            let mut said = lines(Some(version), 0, 0);
            said.results.set("last", value);
            printed.hear(said);
        }
        let mut expected = Results::default();
        expected.set("last", 5_u64);
        assert_eq!(printed.results(), expected);
    }

    #[test]
    fn the_last_period_is_printed_at_the_end_unless_the_job_goes_back() {
        let mut printed = Printed::default();
        assert_eq!(printed.hear(lines(None, 1, 0)), [""; 0]);
        printed.go_back();
        assert_eq!(printed.end(), []);
        for (node, piece) in [(1, 1), (1, 0), (0, 0)] {
            assert_eq!(printed.hear(lines(None, node, piece)), [""; 0]);
        }
        let ends = printed.end();
        assert_eq!(ends.iter().map(|(node, _)| *node).collect::<Vec<_>>(), [0, 1, 1]);
        assert_eq!(ends[1].1, ["None of 1, 0"]);
        assert_eq!(printed.end(), []);
    }

    #[test]
    fn what_was_said_before_a_cut_is_printed_before_what_was_said_after_it() {
        let mut printed = Printed::default();
        for (until, node) in [(Version::MAX, 0), (7, 2), (6, 3), (7, 1)] {
            let mut said = Lines { until, ..lines(None, node, 0) };
            said.results.set("until", until);
            assert_eq!(printed.hear(said), [""; 0]);
        }
        assert_eq!(printed.end().iter().map(|(node, _)| *node).collect::<Vec<_>>(), [3, 1, 2, 0]);
        let results = printed.results();
        let value = |name| results.value(name).cloned();
        assert_eq!([value("until"), value("last")], [Version::MAX, 0].map(|value| Some(value.into())));
    }
}
