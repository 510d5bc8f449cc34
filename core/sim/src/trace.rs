//! What happened: a hash over everything, and the last events of each node for people.

use std::collections::VecDeque;
use std::fmt;

/// Events of each node that are kept for a failure's report.
const LAST: usize = 40;

/// Who did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Who {
    Launcher,
    Node(u32),
}

/// All that happened.
pub(super) struct Trace {
    hash: u64,
    events: u64,
    /// By node; the launcher's first.
    last: Vec<VecDeque<Line>>,
    /// Every line, if a log is wanted.
    log: Option<Vec<Line>>,
}

#[derive(Clone, Debug)]
struct Line {
    at: u64,
    event: u64,
    who: Who,
    what: String,
}

impl Trace {
    pub(super) fn new(nodes: u32, logging: bool) -> Self {
        Trace {
            hash: 0xcbf2_9ce4_8422_2325,
            events: 0,
            last: vec![VecDeque::new(); nodes as usize + 1],
            log: logging.then(Vec::new),
        }
    }

    /// One more event, as numbers.
    pub(super) fn note(&mut self, at: u64, kind: u64, who: u64, detail: u64) {
        self.events += 1;
        for word in [at, kind, who, detail] {
            // As FNV-1a, a word at a time, with a shift to bring the upper bits down.
            self.hash = (self.hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.hash ^= self.hash >> 29;
        }
    }

    /// The same in words. They count for the hash as well.
    pub(super) fn say(&mut self, at: u64, who: Who, what: impl fmt::Display) {
        let what = what.to_string();
        let sum = what.bytes().fold(0u64, |sum, byte| sum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte));
        self.note(at, u64::MAX, who.number(), sum);
        self.keep(Line { at, event: self.events, who, what });
    }

    /// The last event again, in words, if there is a log: for what happens too often to be put into words always.
    pub(super) fn explain(&mut self, at: u64, who: Who, what: impl FnOnce() -> String) {
        if self.log.is_some() {
            self.keep(Line { at, event: self.events, who, what: what() });
        }
    }

    fn keep(&mut self, line: Line) {
        let who = line.who;
        self.log.iter_mut().for_each(|log| log.push(line.clone()));
        let last = &mut self.last[who.number() as usize];
        if last.len() == LAST {
            last.pop_front();
        }
        last.push_back(line);
    }

    pub(super) fn events(&self) -> u64 {
        self.events
    }

    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    /// All lines if there is a log, else the last ones of everybody.
    pub(super) fn lines(self) -> Vec<String> {
        let lines = self.log.unwrap_or_else(|| self.last.into_iter().flatten().collect());
        lines.iter().map(ToString::to_string).collect()
    }
}

impl Who {
    fn number(self) -> u64 {
        match self {
            Who::Launcher => 0,
            Who::Node(node) => u64::from(node) + 1,
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::Launcher => f.pad("launcher"),
            Who::Node(node) => f.pad(&format!("node {node}")),
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line { at, event, who, what } = self;
        write!(f, "{:>14.3} µs  #{event:<8} {who:<9} {what}", *at as f64 / 1e3)
    }
}
