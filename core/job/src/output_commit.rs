//! Output commit: holds output until the state that produced it is stable.
//!
//! With fault tolerance, a line of `cx.output()` belongs to the period in which it was printed. The cut of a version ends a
//! period; once that version is committed, the period will not be done again, and the launcher is told its lines. Until it
//! has them they are a part of every later version, so that somebody can say them whoever is lost. It prints those of
//! each version and node once. What the last period said comes with the node's last words. Results go the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use talisman_ft::{NodeId, Version};

use crate::lines::Lines;
use crate::streams::Line;
use crate::{ResultValue, Results};
use talisman_pup::Pup;

/// A piece for the launcher has about so many bytes of lines: far below what a frame of the control connection takes.
const PIECE: usize = 1 << 20;

/// What has been said on a node, and on those whose heir it is.
#[derive(Default)]
pub struct Said(Mutex<Periods>);

#[derive(Default)]
struct Periods {
    /// Since the last cut.
    now: Period,
    /// Those that are over: by the version that ended them, and where.
    over: BTreeMap<(Version, NodeId), Period>,
    /// Those of them that the launcher knows: only the results are left, for the next launcher.
    known: BTreeSet<(Version, NodeId)>,
    /// Until this version all has been said to the launcher.
    settled: Version,
    /// Pieces that a launcher has printed, with the last version whose part may have them: the one that was cut last by then, or one after the job
    /// went back to such a part.
    seen: BTreeMap<(Version, NodeId, u32), Version>,
    /// The version that was cut last.
    cut: Version,
}

#[derive(Clone, Debug, Default, PartialEq, Pup)]
struct Period {
    lines: Vec<String>,
    results: Results,
}

/// A period as a checkpoint keeps it.
#[derive(Clone, Debug, PartialEq, Pup)]
pub struct SavedPeriod {
    version: Version,
    node: NodeId,
    said: Period,
}

impl SavedPeriod {
    /// What was reported on a node until this version, where its lines are printed.
    pub fn of_results(version: Version, node: NodeId, results: Results) -> SavedPeriod {
        SavedPeriod { version, node, said: Period { results, lines: Vec::new() } }
    }

    /// Its lines are printed in this way.
    pub fn without_lines(mut self, print: impl Fn(&str)) -> SavedPeriod {
        self.said.lines.drain(..).for_each(|line| print(&line));
        self
    }
}

/// What was reported in it, for the launcher.
impl From<SavedPeriod> for Lines {
    fn from(SavedPeriod { version, node, said }: SavedPeriod) -> Lines {
        Lines { version: Some(version), node, results: said.results, ..Lines::default() }
    }
}

impl Said {
    /// Holds text of one or more lines.
    pub fn print(&self, text: &str) {
        self.hold(lines_of(text).map(|line| Line::Output(line).held()));
    }

    /// The same for standard error.
    pub fn print_errors(&self, text: &str) {
        self.hold(lines_of(text).map(|line| Line::Errors(line).held()));
    }

    fn hold(&self, lines: impl Iterator<Item = String>) {
        self.lock().now.lines.extend(lines);
    }

    pub fn record(&self, name: &str, value: ResultValue) {
        self.lock().now.results.set(name, value);
    }

    /// The cut of a version ends the period of this node: gives what belongs into its part of that version.
    pub fn cut(&self, version: Version, node: NodeId) -> Vec<SavedPeriod> {
        let mut periods = self.lock();
        periods.cut = version;
        let now = std::mem::take(&mut periods.now);
        if now != Period::default() {
            periods.over.insert((version, node), now);
        }
        let Periods { over, seen, .. } = &mut *periods;
        let is_kept = |(of, node): &_| over.contains_key(&(*of, *node));
        let kept = seen.iter_mut().filter(|((of, node, _), _)| is_kept(&(*of, *node)));
        kept.for_each(|(_, cut)| *cut = version);
        let saved =
            |(&(version, node), said): (&_, &Period)| SavedPeriod { version, node, said: said.clone() };
        periods.over.iter().map(saved).collect()
    }

    /// This version is committed, as everybody knows by now or is told when the job goes back: what can be said.
    pub fn until(&self, version: Version) -> Vec<Lines> {
        let mut periods = self.lock();
        periods.settled = periods.settled.max(version);
        periods.seen.retain(|_, cut| *cut >= version);
        let settled = periods.over.range(..=(version, NodeId::MAX));
        let settled = settled.filter(|(name, _)| !periods.known.contains(name));
        settled.flat_map(|((version, node), said)| said.pieces(Some(*version), *node)).collect()
    }

    /// The launcher has printed this piece of it.
    pub fn seen(&self, version: Version, node: NodeId, piece: u32) {
        let mut periods = self.lock();
        let cut = periods.cut;
        periods.seen.insert((version, node, piece), cut);
        let Periods { over, known, seen, .. } = &mut *periods;
        let is_seen = |lines: &Lines| seen.contains_key(&(version, node, lines.piece));
        let whole = |said: &Period| said.pieces(Some(version), node).iter().all(is_seen);
        let Some(said) = over.get_mut(&(version, node)).filter(|said| whole(said)) else { return };
        said.lines.clear();
        known.insert((version, node));
        let newer = said.results.clone();
        // A program may report results of the same names again and again: the last value of each is enough, in the place where the name
        // came first.
        let mut rest = newer.clone();
        for (_, older) in over.range_mut(..(version, node)).filter(|((_, of), _)| *of == node) {
            older.results = older.results.without(&newer.without(&rest));
            older.results.renew(&rest);
            rest = rest.without(&older.results);
        }
        over.entry((version, node)).and_modify(|said| said.results = rest);
        let is_needed = |name: &_, said: &Period| !known.contains(name) || !said.results.is_empty();
        over.retain(|name, said| is_needed(name, said));
        known.retain(|name| over.contains_key(name));
    }

    /// The pieces that a launcher has printed, as far as parts have them that the job may go back to.
    pub fn all_seen(&self) -> Vec<(Version, NodeId, u32)> {
        self.lock().seen.keys().copied().collect()
    }

    /// The job goes back: only what its parts hold has been said. What was printed stays so.
    pub fn go_back(&self) {
        let mut periods = self.lock();
        let (seen, cut) = (std::mem::take(&mut periods.seen), periods.cut);
        *periods = Periods { seen, cut, ..Periods::default() };
    }

    /// A part that is restored held this.
    pub fn take_up(&self, saved: Vec<SavedPeriod>) {
        let mut periods = self.lock();
        let by_name = |SavedPeriod { version, node, said }| ((version, node), said);
        periods.over.extend(saved.into_iter().map(by_name));
    }

    /// What was said since the last version that this node knows to be committed, which goes with its last words: the lines for
    /// the launcher, with what was reported up to the last cut, and the results since. The job may have ended before a cut that it had taken
    /// was one to go back to.
    pub fn last_words(&self, node: NodeId) -> (Vec<Lines>, Results) {
        let periods = self.lock();
        let mut last = Vec::new();
        for ((version, of), said) in periods.over.range((periods.settled + 1, 0)..) {
            last.extend(said.pieces(None, *of).into_iter().map(|piece| Lines { until: *version, ..piece }));
        }
        let now = Period { lines: periods.now.lines.clone(), results: Results::default() };
        last.extend(now.pieces(None, node).into_iter().map(|piece| Lines { until: Version::MAX, ..piece }));
        (last, periods.now.results.clone())
    }

    /// What was reported in periods that are over: of the same name, what was last.
    pub fn results(&self) -> Results {
        let mut all = Results::default();
        let periods = self.lock();
        let results = periods.over.values().flat_map(|said| said.results.iter());
        results.for_each(|(name, value)| all.set(name, value.clone()));
        all
    }

    fn lock(&self) -> MutexGuard<'_, Periods> {
        // Nothing in a critical section panics half way.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.strip_suffix('\n').unwrap_or(text).split('\n')
}

impl Period {
    /// Divided in the same way each time: the launcher tells pieces by their numbers.
    fn pieces(&self, version: Option<Version>, node: NodeId) -> Vec<Lines> {
        let mut pieces = vec![Lines { version, node, results: self.results.clone(), ..Lines::default() }];
        let mut bytes = 0;
        for line in &self.lines {
            if bytes > PIECE {
                let piece = pieces.len() as u32;
                pieces.push(Lines { version, node, piece, ..Lines::default() });
                bytes = 0;
            }
            bytes += line.len() + 1;
            pieces.last_mut().expect("there is a first one").lines.push(line.clone());
        }
        pieces.retain(|piece| !piece.lines.is_empty() || !piece.results.is_empty());
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(said: &[Lines]) -> Vec<(Option<Version>, NodeId, Vec<&str>)> {
        fn of_one(piece: &Lines) -> (Option<Version>, NodeId, Vec<&str>) {
            (piece.version, piece.node, piece.lines.iter().map(String::as_str).collect())
        }
        said.iter().map(of_one).collect()
    }

    #[test]
    fn a_line_is_said_with_the_version_that_ended_its_period() {
        let said = Said::default();
        said.print("one\ntwo\n");
        said.cut(1, 3);
        said.print("three");
        assert_eq!(lines(&said.until(1)), [(Some(1), 3, vec!["one", "two"])]);
        assert_eq!(lines(&said.last_words(3).0), [(None, 3, vec!["three"])]);
        said.seen(1, 3, 0);
        assert_eq!(lines(&said.until(9)), []);
    }

    #[test]
    fn what_was_printed_is_known_as_long_as_somebody_may_say_it_again() {
        let said = Said::default();
        said.print("one");
        let part = said.cut(1, 3);
        said.until(1);
        said.seen(1, 3, 0);
        assert_eq!(said.all_seen(), [(1, 3, 0)]);
        said.go_back();
        said.take_up(part);
        assert_eq!((said.until(1).len(), said.all_seen()), (1, vec![(1, 3, 0)]), "it is said again");
        said.seen(1, 3, 0);
        said.cut(2, 3);
        said.until(2);
        assert_eq!(said.all_seen(), [], "version 1 is not there any more");
    }

    #[test]
    fn what_a_part_has_again_is_known_as_long_as_later_parts_have_it() {
        let said = Said::default();
        said.print("one");
        let part = said.cut(1, 3);
        said.until(1);
        said.seen(1, 3, 0);
        said.go_back();
        said.take_up(part);
        let later = said.cut(2, 3);
        said.until(2);
        assert_eq!(
            (later.len(), said.all_seen()),
            (1, vec![(1, 3, 0)]),
            "whoever goes back to version 2 says it again"
        );
    }

    #[test]
    fn results_are_kept_for_the_next_launcher() {
        let said = Said::default();
        said.print("one");
        said.record("sum", 3_u64.into());
        said.cut(1, 0);
        said.until(1);
        said.seen(1, 0, 0);
        assert_eq!(said.until(1), [], "this one knows them");
        let part = said.cut(2, 0);
        said.go_back();
        said.take_up(part);
        let again = said.until(2);
        assert_eq!(lines(&again), [(Some(1), 0, vec![])]);
        assert_eq!(again[0].results.iter().count(), 1);
        said.seen(1, 0, 0);
        said.record("sum", 4_u64.into());
        said.cut(3, 0);
        said.until(3);
        said.seen(3, 0, 0);
        assert_eq!(said.cut(4, 0).len(), 1, "the last ones of a name are enough");
    }

    #[test]
    fn of_results_that_are_taken_up_the_last_one_of_a_name_counts() {
        let said = Said::default();
        let period = |version, value: u64| {
            let mut results = Results::default();
            results.set("sum", value);
            SavedPeriod { version, node: 1, said: Period { results, lines: Vec::new() } }
        };
        said.take_up(vec![period(7, 3)]);
        said.take_up(vec![period(5, 4)]);
        assert_eq!(said.results().value("sum"), Some(&ResultValue::U64(3)));
    }

    #[test]
    fn for_the_next_launcher_too_results_are_in_the_order_in_which_their_names_came() {
        let said = Said::default();
        let reported = [&["sum", "first"][..], &["sum", "second"], &["second", "sum", "third"]];
        for (version, names) in (1..).zip(reported) {
            names.iter().for_each(|name| said.record(name, version.into()));
            said.cut(version, 0);
        }
        said.until(3);
        // The words of the launcher may come in any order.
        [1, 3, 2].into_iter().for_each(|version| said.seen(version, 0, 0));
        let part = said.cut(4, 0);
        said.go_back();
        said.take_up(part);
        let mut results = Results::default();
        for lines in said.until(4) {
            lines.results.iter().for_each(|(name, value)| results.set(name, value.clone()));
        }
        let expected = [("sum", 3_u64), ("first", 1), ("second", 3), ("third", 3)];
        let expected = expected.map(|(name, value)| (name, ResultValue::U64(value)));
        assert!(results.iter().eq(expected.iter().map(|(name, value)| (*name, value))), "{results:?}");
    }

    #[test]
    fn lines_are_kept_until_all_pieces_are_printed() {
        let said = Said::default();
        let long = "x".repeat(2 * PIECE);
        (0..3).for_each(|_| said.print(&long));
        said.cut(1, 0);
        said.seen(1, 0, 0);
        said.seen(1, 0, 1);
        assert_eq!(said.until(1).len(), 3);
        said.seen(1, 0, 2);
        assert_eq!(said.until(1).len(), 0);
    }

    #[test]
    fn what_was_cut_off_and_never_committed_is_said_at_the_end() {
        let said = Said::default();
        said.print("one");
        said.cut(1, 0);
        assert_eq!(said.until(1).len(), 1);
        said.print("two");
        said.record("sum", 2_u64.into());
        said.cut(2, 0);
        said.print("three");
        said.record("later", 3_u64.into());
        let (last, results) = said.last_words(0);
        assert_eq!(lines(&last), [(None, 0, vec!["two"]), (None, 0, vec!["three"])]);
        assert_eq!([last[0].until, last[1].until], [2, Version::MAX]);
        assert_eq!(last[0].results.value("sum"), Some(&ResultValue::U64(2)));
        assert!(results.iter().eq([("later", &ResultValue::U64(3))]), "{results:?}");
    }

    #[test]
    fn an_heir_says_what_the_launcher_may_not_have() {
        let (lost, heir) = (Said::default(), Said::default());
        lost.print("early");
        lost.cut(1, 0);
        lost.print("late");
        let part = lost.cut(2, 0);
        heir.print("taken back");
        heir.go_back();
        heir.take_up(part);
        let all = heir.until(2);
        assert_eq!(lines(&all), [(Some(1), 0, vec!["early"]), (Some(2), 0, vec!["late"])]);
        assert_eq!(lines(&heir.last_words(1).0), []);
    }

    #[test]
    fn pieces_are_bounded_and_the_same_each_time() {
        let said = Said::default();
        let long = "x".repeat(PIECE / 2);
        (0..7).for_each(|_| said.print(&long));
        said.record("sum", 3_u64.into());
        said.cut(4, 0);
        let pieces = said.until(4);
        let counts: Vec<_> = pieces.iter().map(|piece| (piece.piece, piece.lines.len())).collect();
        assert_eq!(counts, [(0, 2), (1, 2), (2, 2), (3, 1)]);
        assert_eq!(pieces[0].results.value("sum"), Some(&ResultValue::U64(3)));
        assert_eq!(pieces, said.until(4));
    }
}
