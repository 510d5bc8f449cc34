//! How much a node keeps for others, and how much it may (`--log-budget`).
//!
//! At three quarters of the budget a checkpoint is asked for, after which nothing is kept. Entries wait when seven eighths are full: what is
//! left is for what the runtime says until all have taken their parts. Frames are taken in meanwhile, and others are served that go back.
//! An entry that runs comes to its end, whatever it sends.

use std::time::{Duration, Instant};

use talisman_core::logging::member::Member;
use talisman_ft::NodeId;
use talisman_ft::logging::{Budget, Shape};
use talisman_job::LogKept;

/// Of the budget, what is left to the runtime.
const SPARE: u64 = 8;

/// What a node keeps, as it is looked at after each turn.
pub(super) struct Kept {
    node: NodeId,
    shape: Shape,
    limit: Option<u64>,
    budget: Option<Budget>,
    /// Bytes now, and the most that there were.
    bytes: u64,
    most: u64,
    /// How long entries have waited, and since when they do.
    waited: Duration,
    waits_since: Option<Instant>,
}

impl Kept {
    /// With a budget of so many bytes, if there is one.
    pub(super) fn new(node: NodeId, shape: Shape, limit: Option<u64>) -> Self {
        let budget = limit.map(Budget::new);
        let (waited, waits_since) = (Duration::ZERO, None);
        Kept { node, shape, limit, budget, bytes: 0, most: 0, waited, waits_since }
    }

    /// It only grows until the next line begins: it need not be looked at before that, without a budget.
    pub(super) fn count(&mut self, member: &Member) {
        self.bytes = member.kept_bytes() as u64;
        self.most = self.most.max(self.bytes);
    }

    /// Bytes, as they were last counted.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// It is looked at, if there is a budget. Whether a checkpoint is to be asked for, which is said once in a line.
    pub(super) fn look(&mut self, member: &Member) -> bool {
        if self.budget.is_none() {
            return false;
        }
        self.count(member);
        let Some(budget) = &mut self.budget else { return false };
        let mut others = 0;
        for to in self.shape.others(self.node) {
            let bytes = member.kept_for(to) as u64;
            others += bytes;
            budget.set(to, bytes);
        }
        budget.set(self.node, self.bytes.saturating_sub(others));
        !budget.to_ask().is_empty()
    }

    /// Whether entries are to wait.
    pub(super) fn must_wait(&mut self) -> bool {
        let spare = self.limit.unwrap_or(0) / SPARE;
        let waits = self.budget.as_ref().is_some_and(|budget| budget.must_wait(spare));
        match (waits, self.waits_since) {
            (true, None) => self.waits_since = Some(Instant::now()),
            (false, Some(_)) => self.end_waiting(),
            _ => {}
        }
        waits
    }

    /// How many bytes a turn may send before it is looked again.
    pub(super) fn allowance(&self) -> u64 {
        let limit = self.limit.map(|limit| limit - limit / SPARE);
        limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.bytes))
    }

    /// The next line has begun.
    pub(super) fn begin_line(&mut self) {
        self.budget = self.limit.map(Budget::new);
        self.end_waiting();
    }

    fn end_waiting(&mut self) {
        self.waited += self.waits_since.take().map_or(Duration::ZERO, |since| since.elapsed());
    }

    /// For the job's report.
    pub(super) fn report(&mut self, member: &Member) -> LogKept {
        self.end_waiting();
        self.count(member);
        let (bytes, frames) = (member.kept_bytes() as u64, member.kept_frames());
        LogKept { node: self.node, bytes_max: self.most, bytes, frames, waited_s: self.waited.as_secs_f64() }
    }
}
