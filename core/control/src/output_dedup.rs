//! Lines of the program that the launcher prints once, whoever says them, and however often.

use std::collections::{BTreeMap, BTreeSet};

use talisman_ft::Version;

use talisman_job::lines::Lines;
use talisman_job::{ResultValue, Results};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// Of each node so many pieces are known one by one, and whoever takes up its part is told of these: all that parts may still hold, unless
/// whoever printed them was far behind. Lines are said in their order, so that what is older than all of these was printed before them.
const KNOWN_EACH: usize = 256;

/// What has been printed, and what will be if the job ends now.
#[derive(Debug, Default)]
pub struct Printed {
    /// The last pieces of each node, by version and piece.
    known: BTreeMap<u32, BTreeSet<(Version, u32)>>,
    /// Of the last periods, by the cut that ended each, node and piece.
    last: BTreeMap<(Version, u32, u32), Lines>,
    reported: Reported,
    last_results: Results,
}

/// What was reported with lines that are printed, by name.
#[derive(Debug, Default)]
struct Reported(BTreeMap<String, Latest>);

/// What is said again may be older than what is known.
#[derive(Debug)]
struct Latest {
    /// The version and node that it is of.
    of: (Version, u32),
    value: ResultValue,
    /// The first version, node, and place among what these reported, of this name.
    place: (Version, u32, usize),
}

impl Printed {
    /// These pieces, by version and node, are printed already.
    pub fn knowing(pieces: impl IntoIterator<Item = (Version, u32, u32)>) -> Self {
        let mut printed = Printed::default();
        pieces.into_iter().for_each(|(version, node, piece)| {
            printed.know(version, node, piece);
        });
        printed
    }

    /// All is printed already, and this was reported.
    pub fn with_results(results: Results) -> Self {
        Printed { last_results: results, ..Printed::default() }
    }

    /// Somebody says lines; what is to be printed of them now.
    pub fn hear(&mut self, lines: Lines) -> Vec<String> {
        let Some(version) = lines.version.or(mutated("last-lines-printed-too-early").then_some(0)) else {
            self.last.insert((lines.until, lines.node, lines.piece), lines);
            return Vec::new();
        };
        self.reported.hear((version, lines.node), &lines.results);
        if !self.know(version, lines.node, lines.piece) && !mutated("lines-printed-again") {
            sometimes("lines were said again");
            return Vec::new();
        }
        lines.lines
    }

    /// What was printed of a node, for whoever takes up its part and may say it again: version and piece, the newest first.
    pub fn of(&self, node: u32) -> impl Iterator<Item = (Version, u32)> + '_ {
        self.known.get(&node).into_iter().flat_map(|known| known.iter().rev().copied())
    }

    /// A piece is printed; whether that is new.
    fn know(&mut self, version: Version, node: u32, piece: u32) -> bool {
        let known = self.known.entry(node).or_default();
        let is_full = known.len() == KNOWN_EACH;
        if is_full && known.first().is_some_and(|oldest| (version, piece) < *oldest) {
            return false;
        }
        let is_new = known.insert((version, piece));
        if is_full && is_new {
            sometimes("more lines of a node were printed than are known one by one");
            known.pop_first();
        }
        is_new
    }

    /// The job goes back: its last period will be another one.
    pub fn go_back(&mut self) {
        if !self.last.is_empty() {
            sometimes("a program that had ended went back");
        }
        self.last.clear();
    }

    /// The last periods count: what is to be printed of them, of each by node.
    pub fn end(&mut self) -> Vec<(u32, Vec<String>)> {
        let last = std::mem::take(&mut self.last).into_values();
        let take = |lines: Lines| {
            lines.results.iter().for_each(|(name, value)| self.last_results.set(name, value.clone()));
            (lines.node, lines.lines)
        };
        last.map(take).collect()
    }

    /// What was reported with lines: of the same name, what was last.
    pub fn results(&self) -> Results {
        let mut all = self.reported.results();
        self.last_results.iter().for_each(|(name, value)| all.set(name, value.clone()));
        all
    }
}

impl Reported {
    /// This is what a version and a node have reported.
    fn hear(&mut self, of: (Version, u32), results: &Results) {
        for (place, (name, value)) in results.iter().enumerate() {
            let place = (of.0, of.1, place);
            let new = || Latest { of, value: value.clone(), place };
            let latest = self.0.entry(name.to_owned()).or_insert_with(new);
            latest.place = latest.place.min(place);
            if of >= latest.of {
                (latest.of, latest.value) = (of, value.clone());
            }
        }
    }

    /// The last value of each name, in the order in which the names came.
    fn results(&self) -> Results {
        let mut all: Vec<(&String, &Latest)> = self.0.iter().collect();
        all.sort_by_key(|(_, latest)| latest.place);
        let mut results = Results::default();
        all.into_iter().for_each(|(name, latest)| results.set(name, latest.value.clone()));
        results
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
        assert_eq!((printed.of(0).count(), printed.of(0).next()), (KNOWN_EACH, Some((999, 0))));
    }

    #[test]
    fn what_is_known_of_a_node_does_not_grow_and_older_lines_are_not_printed_again() {
        let mut printed = Printed::knowing((1..=2000).map(|version| (version, 0, 0)));
        assert_eq!(printed.known[&0].len(), KNOWN_EACH);
        for version in [1, 1000, 1744, 1745, 2000] {
            assert_eq!(printed.hear(lines(Some(version), 0, 0)), [""; 0], "version {version}");
        }
        assert_eq!(printed.hear(lines(Some(1), 1, 0)).len(), 1, "of another node");
        assert_eq!(printed.hear(lines(Some(2001), 0, 0)).len(), 1);
        assert_eq!(printed.known[&0].len(), KNOWN_EACH);
    }

    #[test]
    fn results_are_in_the_order_in_which_their_names_came_whoever_says_them_first() {
        let mut printed = Printed::default();
        for (version, names) in [(3, &["third", "sum"][..]), (1, &["sum", "first"]), (2, &["second", "sum"])]
        {
            let mut said = Lines { version: Some(version), ..Lines::default() };
            names.iter().for_each(|name| said.results.set(*name, version));
            printed.hear(said);
        }
        let results = printed.results();
        let expected = [("sum", 3_u64), ("first", 1), ("second", 2), ("third", 3)];
        assert!(
            results
                .iter()
                .map(|(name, value)| (name, value.clone()))
                .eq(expected.map(|(name, value)| (name, value.into()))),
            "{results:?}"
        );
        assert_eq!(printed.reported.0.len(), 4);
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
