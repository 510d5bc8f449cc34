//! What each process of a relay has executed, as it has noted.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::process::Command;

use crate::job::{Ended, Job, Scratch, Shape, program, until};

/// So many rounds may be begun behind the one that is waited for. Who waits then finds a job that goes on, and that has not ended, however
/// late it looks.
const AHEAD: u64 = 5;

/// A relay under way. It begins no round that nobody waits for before its end is waited for.
pub struct Relay {
    pub job: Job,
    notes: Scratch,
    report: Scratch,
    hold: Hold,
}

/// The file that a relay looks at before each round: the last one that it may begin.
pub struct Hold {
    file: Scratch,
    last: Cell<u64>,
}

impl Hold {
    pub fn new() -> Hold {
        let hold = Hold { file: Scratch::new("hold"), last: Cell::new(0) };
        hold.go_on_to(1);
        hold
    }

    pub fn name(&self) -> &str {
        self.file.name()
    }

    /// At once, so that nobody reads a part of it.
    pub fn go_on_to(&self, round: u64) {
        if round > self.last.get() {
            self.last.set(round);
            let new = format!("{}.new", self.name());
            let written =
                std::fs::write(&new, round.to_string()).and_then(|()| std::fs::rename(&new, &self.file.0));
            written.expect("the scratch folder can be written");
        }
    }

    pub fn let_go(&self) {
        self.last.set(u64::MAX);
        let _ = std::fs::remove_file(&self.file.0);
    }
}

/// What was left of it.
pub struct Left {
    pub ended: Ended,
    /// Sorted: those of different nodes have no order.
    pub lines: Vec<String>,
    pub report: serde_json::Value,
    /// By runner: what each of its processes has executed, the rounds in order, the first process first.
    pub executed: BTreeMap<u32, Vec<(i32, Vec<u64>)>>,
}

impl Relay {
    pub fn start(shape: Shape, options: &str) -> Relay {
        Relay::start_by(shape, options, |command| command)
    }

    /// In surroundings that another command makes.
    pub fn start_by(shape: Shape, options: &str, by: impl FnOnce(Command) -> Command) -> Relay {
        let (notes, report, hold) = (Scratch::new("notes"), Scratch::new("report"), Hold::new());
        let words = format!(
            "--relay --notes {} --report {} --hold {} {options}",
            notes.name(),
            report.name(),
            hold.name()
        );
        Relay { job: Job::start(by(program(&words, shape))), notes, report, hold }
    }

    /// For traps: whose nodes are not started by the launcher itself.
    pub fn note_launcher(&self) {
        let noted =
            std::fs::write(format!("{}.launcher", self.notes.name()), self.job.launcher_pid().to_string());
        noted.expect("the scratch folder can be written");
    }

    /// Waits until the newest process of a runner's has come to this round; which process that is. Another than `before`.
    #[track_caller]
    pub fn wait_for(&self, runner: u32, round: u64, before: &[i32]) -> i32 {
        self.hold.go_on_to(round + AHEAD);
        let found = until(|| {
            let executed = self.executed();
            let (pid, rounds) = executed.get(&runner)?.last()?.clone();
            (!before.contains(&pid) && rounds.last() >= Some(&round)).then_some(pid)
        });
        found.unwrap_or_else(|| panic!("runner {runner} never came to round {round}: {}", self.job.said()))
    }

    fn executed(&self) -> BTreeMap<u32, Vec<(i32, Vec<u64>)>> {
        executed(&self.notes)
    }

    /// It goes on to this round without being waited for.
    pub fn go_on_to(&self, round: u64) {
        self.hold.go_on_to(round);
    }

    /// It goes on to its end, whoever waits for that.
    pub fn let_go(&self) {
        self.hold.let_go();
    }

    /// To its end, with this status.
    #[track_caller]
    pub fn end(self, status: i32, texts: &[&str]) -> Left {
        self.let_go();
        let ended = self.job.end().expect(status, texts);
        Left::of(ended, &self.notes, &self.report)
    }

    /// The same where its launcher is killed, or was, whatever the job comes to then.
    #[track_caller]
    pub fn leave(self) -> Left {
        self.let_go();
        let left = Left::of(self.job.end_without_launcher(), &self.notes, &self.report);
        assert_eq!(left.ended.status.code(), None, "{}", left.ended.said());
        left
    }

    /// To its end in order without its launcher.
    #[track_caller]
    pub fn end_without_launcher(self, texts: &[&str]) -> Left {
        let left = self.leave();
        assert_eq!(left.report["status"], 0, "{}", left.ended.said());
        for text in texts {
            let is_said = left.ended.stderr.iter().any(|line| line.contains(text));
            assert!(is_said, "no {text:?} {}", left.ended.said());
        }
        left
    }
}

fn executed(notes: &Scratch) -> BTreeMap<u32, Vec<(i32, Vec<u64>)>> {
    let text = std::fs::read_to_string(&notes.0).unwrap_or_default();
    // The last line may be half written.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut executed: BTreeMap<u32, Vec<(i32, Vec<u64>)>> = BTreeMap::new();
    for line in whole.lines() {
        let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [pid, runner, round] = numbers[..] else { panic!("a note of {line:?}") };
        let processes = executed.entry(runner as u32).or_default();
        match processes.iter_mut().find(|(known, _)| *known == pid as i32) {
            Some((_, rounds)) => rounds.push(round),
            None => processes.push((pid as i32, vec![round])),
        }
    }
    executed
}

impl Left {
    fn of(ended: Ended, notes: &Scratch, report: &Scratch) -> Left {
        let mut lines = ended.stdout.clone();
        lines.sort();
        let text = std::fs::read_to_string(&report.0).unwrap_or_default();
        let report = serde_json::from_str(&text).unwrap_or_default();
        Left { ended, lines, report, executed: executed(notes) }
    }

    /// Together with lines that were printed elsewhere, by so many launchers on hosts of their own. Each of them may have printed what the one
    /// before had, as the host is lost that knew, and none of them the same twice.
    #[track_caller]
    pub fn and_elsewhere(mut self, mut lines: Vec<String>, launchers: usize) -> Left {
        lines.sort();
        for (printed, by) in [(&self.lines, 1), (&lines, launchers)] {
            let again = printed.windows(by + 1).find(|same| same[0] == same[by]);
            assert_eq!(again, None, "{}", self.ended.said());
        }
        self.lines.append(&mut lines);
        self.lines.sort();
        self.lines.dedup();
        self
    }

    /// Whom the report has lost, in order; launchers have no number, and come no more.
    pub fn lost_with_launchers(&self) -> Vec<Option<u64>> {
        let failures = self.report["failures"].as_array().cloned().unwrap_or_default();
        failures.iter().map(|failure| failure["node"].as_u64()).collect()
    }

    /// Nobody was executed twice but on these nodes, each of which has had so many processes, the last of which has done all.
    #[track_caller]
    pub fn only_these_went_back(&self, rounds: u64, lost: &[(u32, usize)]) {
        let all: Vec<u64> = (1..=rounds).collect();
        for (runner, processes) in &self.executed {
            let wanted = lost.iter().find(|(node, _)| node == runner).map_or(1, |(_, count)| *count);
            assert_eq!(processes.len(), wanted, "processes of node {runner}: {}", self.ended.said());
            let (_, last) = &processes[processes.len() - 1];
            assert_eq!(last, &all, "what node {runner} has executed last: {}", self.ended.said());
            for (_, rounds) in processes {
                assert!(all.starts_with(rounds), "node {runner} has executed {rounds:?}");
            }
        }
    }

    /// These nodes alone have had several processes, so many; each has executed rounds in a row, the first from the beginning, and the last to the
    /// end. From where each of the others has gone on, by node.
    #[track_caller]
    pub fn went_back_to(&self, rounds: u64, lost: &[(u32, usize)]) -> BTreeMap<u32, Vec<u64>> {
        let mut begins = BTreeMap::new();
        for (runner, processes) in &self.executed {
            let wanted = lost.iter().find(|(node, _)| node == runner).map_or(1, |(_, count)| *count);
            assert_eq!(processes.len(), wanted, "processes of node {runner}: {}", self.ended.said());
            let firsts: Vec<_> = processes.iter().map(|(_, executed)| executed[0]).collect();
            for (_, executed) in processes {
                let row: Vec<u64> = (executed[0]..).take(executed.len()).collect();
                assert_eq!(executed, &row, "what node {runner} has executed");
            }
            let last = processes[processes.len() - 1].1.last();
            assert_eq!((firsts[0], last), (1, Some(&rounds)), "{}", self.ended.said());
            begins.insert(*runner, firsts[1..].to_vec());
        }
        begins
    }

    /// Checkpoints that were committed.
    pub fn checkpoints(&self) -> usize {
        self.report["checkpoints"].as_array().map_or(0, Vec::len)
    }

    /// What each node has kept: this of it, by node.
    #[track_caller]
    pub fn kept(&self, what: &str) -> Vec<u64> {
        let kept = self.report["logging"].as_array().cloned().unwrap_or_default();
        kept.iter().map(|node| node[what].as_u64().unwrap_or_else(|| panic!("no {what} in {node}"))).collect()
    }

    /// The same lines and results as a run has that loses nobody.
    #[track_caller]
    pub fn is_like(&self, other: &Left) {
        assert_eq!(self.lines, other.lines, "{}", self.ended.said());
        assert_eq!(self.report["results"], other.report["results"], "{}", self.ended.said());
        assert!(self.report["results"]["all"].is_u64(), "{}", self.ended.said());
    }

    /// The nodes that the report has lost, in order; each has another process.
    #[track_caller]
    pub fn lost(&self) -> Vec<u64> {
        let failures = self.report["failures"].as_array().cloned().unwrap_or_default();
        assert!(failures.iter().all(|failure| failure["replaced"] == true), "{}", self.ended.said());
        failures.iter().filter_map(|failure| failure["node"].as_u64()).collect()
    }
}
