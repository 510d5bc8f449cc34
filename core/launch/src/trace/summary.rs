//! What is found in a trace, in memory that depends on the number of PEs and entries alone.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::histogram::Histogram;
use super::merge::{LOSS, NAME};
use super::path::{Looked, Part};
use super::reader::{Event, Names, ReadError, Text, TraceReader, What};
use super::tracks::Track;
use super::usage::Usage;
use super::vocabulary::names;
use std::path::Path;

/// Entries that took longest, as many are told.
const OUTLIERS: usize = 10;
/// Pairs of PEs that are counted each by itself.
const PAIRS_MAX: usize = 1 << 20;
/// Rows of pictures over time.
const ROWS_MAX: usize = 4096;
/// Calls of a rank within each other.
const WITHIN_MAX: usize = 8;
/// Ranks whose calls are looked at.
const RANKS_MAX: usize = 1 << 20;
/// Checkpoints, balancing steps, losses, steps of the program and moves of a PE back, as many are kept of each.
const EVENTS_MAX: usize = 1 << 16;

/// What one PE did.
#[derive(Clone, Debug, Default)]
pub struct OfPe {
    pub busy_ns: u64,
    pub idle_ns: u64,
    /// Of that, it slept, or gave its core away.
    pub asleep_ns: u64,
    pub entries: u64,
    pub sent: u64,
    pub frozen_ns: u64,
    /// Objects that left it.
    pub moves: u64,
    open: Option<Open>,
    frozen_since: Option<u64>,
    idle: Option<(u64, u64)>,
}

/// An entry that runs.
#[derive(Clone, Debug)]
struct Open {
    since: u64,
    name: u32,
    index: Option<Text>,
}

/// Calls of one entry.
#[derive(Clone, Debug, Default)]
pub struct OfEntry {
    pub calls: u64,
    pub ns: u64,
    pub max_ns: u64,
}

/// An entry that took long. In order of that.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outlier {
    pub ns: u64,
    pub at: u64,
    pub pe: u32,
    pub name: u32,
    pub index: String,
}

/// A checkpoint.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    pub version: u64,
    pub at: u64,
    /// When all parts had been taken.
    pub taken: Option<u64>,
    /// When it was committed, or given up.
    pub over: Option<u64>,
    pub objects: u64,
    pub bytes: u64,
}

/// A balancing step. Loads in seconds.
#[derive(Clone, Debug, Default)]
pub struct Step {
    pub step: u64,
    pub at: u64,
    pub over: Option<u64>,
    pub moves: u64,
    pub max_before_s: f64,
    pub average_before_s: f64,
    pub max_predicted_s: f64,
}

/// A node that was lost.
#[derive(Clone, Debug, Default)]
pub struct Loss {
    pub who: String,
    pub what: String,
    pub at: u64,
    pub until: Option<u64>,
}

/// When a PE did again what a lost one had done.
#[derive(Clone, Copy, Debug)]
pub struct Replay {
    pub pe: u32,
    /// The version of the line that it did it from.
    pub line: u64,
    pub at: u64,
    /// How long it took, if it came to its end.
    pub ns: Option<u64>,
}

/// What the job is.
#[derive(Clone, Debug, Default)]
pub struct OfJob {
    pub program: String,
    pub nodes: u64,
    pub pes_per_node: u64,
    pub hosts: u64,
    /// By how much times of two hosts may be wrong against each other; none if only calendars tell.
    pub clock_error_ns: Option<u64>,
    /// Chares whose objects can be moved.
    pub movable: Vec<String>,
}

/// What is found in a trace.
pub struct Summary {
    pub job: OfJob,
    pub events: u64,
    pub end: u64,
    pub dropped: u64,
    pub pes: BTreeMap<u32, OfPe>,
    pub entries: BTreeMap<u32, OfEntry>,
    pub grains: Histogram,
    /// How busy PEs were.
    pub usage: Usage,
    /// What entries took, by their names' numbers.
    pub profile: Usage,
    /// What ranks called, by the numbers of names: from the call until it returned.
    pub rank_calls: BTreeMap<u32, OfEntry>,
    /// Since when a rank is in which calls: one may be made within another.
    in_call: HashMap<u32, Vec<(u64, u32)>>,
    /// Steps of the program, and when they were done.
    pub marks: Vec<(u64, u64)>,
    /// A part of the time, and what is known of it alone, if somebody has looked at it.
    pub looked: Option<(Part, Looked)>,
    /// Messages and bytes from one PE to another: bytes where these are on different nodes.
    pub pairs: HashMap<(u32, u32), (u64, u64)>,
    /// Messages of pairs that are not counted each by itself.
    pub other_pairs: u64,
    outliers: BinaryHeap<Reverse<Outlier>>,
    pub checkpoints: Vec<Checkpoint>,
    pub steps: Vec<Step>,
    pub losses: Vec<Loss>,
    /// When PEs went back: how many at each, by the period that began.
    pub recoveries: BTreeMap<u64, (u64, u64)>,
    /// PEs that did again what lost ones had done, in a job that logs.
    pub replays: Vec<Replay>,
    pub names: Names,
}

impl Summary {
    /// That of a trace.
    ///
    /// # Errors
    /// It cannot be read, is damaged, or is somebody else's.
    pub fn of(file: &Path) -> Result<Summary, ReadError> {
        Summary::read(TraceReader::open(file)?, file)
    }

    /// The same of what is being read.
    pub fn read<R: std::io::BufRead>(reader: TraceReader<R>, file: &Path) -> Result<Summary, ReadError> {
        let mut summary = Summary::new();
        let names = reader.read(|event, names| summary.see(event, names))?;
        match summary.job.pes_per_node {
            0 => Err(ReadError::OfAnother(file.to_owned())),
            _ => Ok(Summary { names, ..summary }),
        }
    }

    fn new() -> Summary {
        Summary {
            job: OfJob::default(),
            events: 0,
            end: 0,
            dropped: 0,
            pes: BTreeMap::new(),
            entries: BTreeMap::new(),
            grains: Histogram::default(),
            usage: Usage::new(ROWS_MAX),
            profile: Usage::new(ROWS_MAX),
            rank_calls: BTreeMap::new(),
            in_call: HashMap::new(),
            marks: Vec::new(),
            looked: None,
            pairs: HashMap::new(),
            other_pairs: 0,
            outliers: BinaryHeap::new(),
            checkpoints: Vec::new(),
            steps: Vec::new(),
            losses: Vec::new(),
            recoveries: BTreeMap::new(),
            replays: Vec::new(),
            names: Names::default(),
        }
    }

    /// Entries that took longest, the longest first.
    pub fn outliers(&self) -> Vec<Outlier> {
        let sorted = self.outliers.clone().into_sorted_vec();
        sorted.into_iter().map(|Reverse(outlier)| outlier).collect()
    }

    /// What the busiest PE had to do, and a PE on average, in a part of the time: shares of it. None if the bins are wider.
    pub fn balance_in(&self, from: u64, until: u64) -> Option<(f64, f64)> {
        let busy = self.pes.keys().map(|pe| self.usage.within(*pe, from, until));
        let (mut max, mut sum, mut span, mut pes) = (0, 0, 0, 0);
        for (ns, width) in busy {
            (max, sum, span, pes) = (ns.max(max), sum + ns, width, pes + 1);
        }
        (span > 0 && pes > 0).then(|| (max as f64 / span as f64, sum as f64 / span as f64 / f64::from(pes)))
    }

    fn see(&mut self, event: &Event<'_>, names: &Names) {
        self.events += 1;
        self.end = self.end.max(event.at);
        match event.track {
            Track::Pe(pe) => self.see_pe(pe, event, names),
            Track::Frozen(pe) => {
                let of = self.pes.entry(pe).or_default();
                match event.what {
                    What::Begins => of.frozen_since = Some(event.at),
                    What::Ends => {
                        let since = of.frozen_since.take().unwrap_or(event.at);
                        of.frozen_ns += event.at.saturating_sub(since);
                    }
                    What::Happens => {}
                }
            }
            Track::Replay(pe) => self.see_replay(pe, event),
            Track::Checkpoints => self.see_checkpoint(event),
            Track::Steps => self.see_step(event),
            Track::Program => self.see_mark(event),
            Track::Rank(rank) => self.see_rank(rank, event),
            Track::Job => self.see_job(event, names),
            Track::Host(_) | Track::Node(_) => {}
        }
    }

    fn see_replay(&mut self, pe: u32, event: &Event<'_>) {
        match event.what {
            What::Begins if self.replays.len() < EVENTS_MAX => {
                let line = event.number("version").unwrap_or(0);
                self.replays.push(Replay { pe, line, at: event.at, ns: None });
            }
            What::Ends => {
                let open = self.replays.iter_mut().rev().find(|replay| replay.pe == pe);
                if let Some(replay) = open.filter(|replay| replay.ns.is_none()) {
                    replay.ns = Some(event.at.saturating_sub(replay.at));
                }
            }
            _ => {}
        }
    }

    fn see_pe(&mut self, pe: u32, event: &Event<'_>, names: &Names) {
        let of = self.pes.entry(pe).or_default();
        match (event.what, event.name) {
            (What::Begins, Some(name)) if event.is_entry => {
                of.open = Some(Open { since: event.at, name, index: event.first_text() });
            }
            (What::Begins, Some(_)) => of.idle = Some((event.at, event.number("asleep_ns").unwrap_or(0))),
            (What::Ends, _) => match (of.idle.take(), of.open.take()) {
                (Some((since, asleep)), open) => {
                    let idle = event.at.saturating_sub(since);
                    of.idle_ns += idle;
                    of.asleep_ns += asleep.min(idle);
                    of.open = open;
                }
                (None, Some(open)) => self.see_entry(pe, event, open),
                (None, None) => {}
            },
            (What::Happens, Some(name)) => match names.get(name) {
                names::SEND | names::PASS_ON => self.see_message(pe, event),
                names::MOVES => of.moves += 1,
                names::DROPPED => {
                    self.dropped = self.dropped.saturating_add(event.number("dropped").unwrap_or(0));
                }
                names::GOES_BACK if self.recoveries.len() < EVENTS_MAX => {
                    let epoch = event.number("epoch").unwrap_or(0);
                    let (at, pes) = self.recoveries.entry(epoch).or_insert((event.at, 0));
                    (*at, *pes) = (event.at.max(*at), *pes + 1);
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn see_entry(&mut self, pe: u32, event: &Event<'_>, open: Open) {
        let ns = event.at.saturating_sub(open.since);
        let of = self.pes.entry(pe).or_default();
        of.busy_ns += ns;
        of.entries += 1;
        let entry = self.entries.entry(open.name).or_default();
        entry.calls += 1;
        entry.ns += ns;
        entry.max_ns = entry.max_ns.max(ns);
        self.grains.add(ns);
        self.usage.add(pe, open.since, event.at);
        self.profile.add(open.name, open.since, event.at);
        let is_long = |least: &Reverse<Outlier>| ns > least.0.ns;
        if self.outliers.len() < OUTLIERS || self.outliers.peek().is_some_and(is_long) {
            let index = open.index.map(|text| event.look_up(&text)).unwrap_or_default();
            self.outliers.push(Reverse(Outlier { ns, at: open.since, pe, name: open.name, index }));
            if self.outliers.len() > OUTLIERS {
                self.outliers.pop();
            }
        }
    }

    fn see_message(&mut self, pe: u32, event: &Event<'_>) {
        self.pes.entry(pe).or_default().sent += 1;
        let Some(to) = event.number("to") else { return };
        let pair = (pe, to.min(u32::MAX.into()) as u32);
        if self.pairs.len() >= PAIRS_MAX && !self.pairs.contains_key(&pair) {
            self.other_pairs += 1;
            return;
        }
        let (messages, bytes) = self.pairs.entry(pair).or_default();
        *messages += 1;
        *bytes = bytes.saturating_add(event.number("bytes").unwrap_or(0));
    }

    fn see_checkpoint(&mut self, event: &Event<'_>) {
        let has_room = self.checkpoints.len() < EVENTS_MAX;
        let last = self.checkpoints.last_mut();
        match event.what {
            What::Begins if has_room => {
                let version = event.number("version").unwrap_or(0);
                self.checkpoints.push(Checkpoint { version, at: event.at, ..Checkpoint::default() });
            }
            What::Begins => {}
            What::Happens => last.into_iter().for_each(|last| {
                last.taken = Some(event.at);
                last.objects = event.number("objects").unwrap_or(0);
                last.bytes = event.number("bytes").unwrap_or(0);
            }),
            What::Ends => last.into_iter().for_each(|last| last.over = Some(event.at)),
        }
    }

    fn see_step(&mut self, event: &Event<'_>) {
        let has_room = self.steps.len() < EVENTS_MAX;
        let last = self.steps.last_mut();
        match event.what {
            What::Begins if has_room => {
                let step = event.number("step").unwrap_or(0);
                self.steps.push(Step { step, at: event.at, ..Step::default() });
            }
            What::Begins => {}
            What::Happens => last.into_iter().for_each(|last| {
                let known = |name: &str, before: f64| event.float(name).unwrap_or(before);
                last.moves = event.number("moves").unwrap_or(last.moves);
                last.max_before_s = known("max_before_s", last.max_before_s);
                last.average_before_s = known("average_before_s", last.average_before_s);
                last.max_predicted_s = known("max_predicted_s", last.max_predicted_s);
            }),
            What::Ends => last.into_iter().for_each(|last| last.over = Some(event.at)),
        }
    }

    /// Several objects may say that a step was done: the last one does it.
    fn see_mark(&mut self, event: &Event<'_>) {
        let Some(step) = event.number("step") else { return };
        match self.marks.binary_search_by_key(&step, |(step, _)| *step) {
            Ok(place) => self.marks[place].1 = self.marks[place].1.max(event.at),
            Err(place) if self.marks.len() < EVENTS_MAX => self.marks.insert(place, (step, event.at)),
            Err(_) => {}
        }
    }

    /// A call during which the rank moves to another node may end before it begins, in the order of the file: it is not told.
    fn see_rank(&mut self, rank: u32, event: &Event<'_>) {
        match (event.what, event.name) {
            (What::Begins, Some(name)) if self.in_call.len() < RANKS_MAX => {
                let calls = self.in_call.entry(rank).or_default();
                if calls.len() == WITHIN_MAX {
                    // Ends are missing.
                    calls.clear();
                }
                calls.push((event.at, name));
            }
            (What::Ends, _) => {
                let Some((since, name)) = self.in_call.get_mut(&rank).and_then(Vec::pop) else { return };
                let (ns, call) = (event.at.saturating_sub(since), self.rank_calls.entry(name).or_default());
                (call.calls, call.ns, call.max_ns) = (call.calls + 1, call.ns + ns, call.max_ns.max(ns));
            }
            _ => {}
        }
    }

    fn see_job(&mut self, event: &Event<'_>, names: &Names) {
        let name = event.name.map_or("", |name| names.get(name));
        match (event.what, name.strip_prefix(LOSS)) {
            (What::Happens, None) if name == NAME => {
                self.job = OfJob {
                    program: event.text("program").unwrap_or_default().to_owned(),
                    nodes: event.number("nodes").unwrap_or(0),
                    pes_per_node: event.number("pes_per_node").unwrap_or(0),
                    hosts: event.number("hosts").unwrap_or(0),
                    clock_error_ns: event.number("clock_error_ns"),
                    movable: event.text("movable").unwrap_or_default().lines().map(str::to_owned).collect(),
                };
            }
            (What::Begins, Some(who)) if self.losses.len() < EVENTS_MAX => {
                let what = event.text("what").unwrap_or_default().to_owned();
                self.losses.push(Loss { who: who.to_owned(), what, at: event.at, until: None });
            }
            (What::Ends, _) => {
                let last = self.losses.last_mut();
                last.into_iter().for_each(|last| last.until = Some(event.at));
            }
            _ => {}
        }
    }
}
