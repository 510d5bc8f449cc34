//! How much a node keeps for others, and how much it may (`--log-budget`).
//!
//! At three quarters of the budget a checkpoint is asked for, after which nothing is kept. Entries wait when seven eighths are full: what is
//! left is for what the runtime says until all have taken their parts. Frames are taken in meanwhile, and others are served that go back.
//! An entry that runs comes to its end, whatever it sends.
//!
//! Where the system gives no memory for a part of a checkpoint, or hardly any for more to be kept, a node keeps less from the next line on:
//! three quarters of what it kept then.
//!
//! What is counted is memory: also that of shelves (`kernel/src/port/shelf.rs`) in which no frame lies yet. A quarter of the budget at most
//! is left of that from one line to the next, since a checkpoint would be asked for again at once where it is much.

use std::time::{Duration, Instant};

use talisman_core::logging::member::Member;
use talisman_ft::NodeId;
use talisman_ft::logging::{Budget, Shape};
use talisman_job::LogKept;

/// Of the budget, what is left to the runtime.
const SPARE: u64 = 8;
/// Of the budget, what shelves may have when a line begins.
const SHELVES: u64 = 4;
/// It is not lowered below that.
const LEAST: u64 = 16 << 20;
/// A checkpoint that was given up is asked for again after so long, if it was asked for as there is a budget.
const TRY_AGAIN: Duration = Duration::from_secs(10);
/// When so many in a row were given up while entries wait for one, they have waited for long enough.
const GIVEN_UP_MAX: u32 = 6;
/// Whether there is memory is asked when so much more is kept.
const PROBE_MIN: u64 = 4 << 20;

/// What a node keeps, as it is looked at after each turn.
pub(super) struct Kept {
    node: NodeId,
    shape: Shape,
    /// From the next line on, and in this one.
    limit: Option<u64>,
    limit_in_line: Option<u64>,
    budget: Option<Budget>,
    /// Bytes now, and the most that there were.
    bytes: u64,
    most: u64,
    /// How long entries have waited, and since when they do.
    waited: Duration,
    waits_since: Option<Instant>,
    /// When a checkpoint is asked for again, the last one having been given up; how many were, one after the other, while entries waited.
    again: Option<Instant>,
    given_up: u32,
    /// What was kept when it was last found that there is memory for more, and whether there was none.
    probed: u64,
    is_short: bool,
}

impl Kept {
    /// With a budget of so many bytes, if there is one.
    pub(super) fn new(node: NodeId, shape: Shape, limit: Option<u64>) -> Self {
        let budget = limit.map(Budget::new);
        Kept {
            node,
            shape,
            limit,
            limit_in_line: limit,
            budget,
            bytes: 0,
            most: 0,
            waited: Duration::ZERO,
            waits_since: None,
            again: None,
            given_up: 0,
            probed: 0,
            is_short: false,
        }
    }

    /// Less is kept from the next line on, as there is too little memory.
    pub(super) fn lower(&mut self) {
        let lower = (self.bytes / 4 * 3).max(LEAST);
        self.limit = Some(self.limit.map_or(lower, |limit| limit.min(lower)));
    }

    /// A checkpoint was given up: if it was asked for as there is a budget, it is asked for again later.
    ///
    /// # Errors
    /// Entries wait for one, and it was the last of many: they would wait forever, as what keeps it from being taken (a rank with threads, a
    /// host without memory) may wait for them.
    pub(super) fn gave_up(&mut self) -> Result<(), String> {
        self.again = Some(Instant::now() + TRY_AGAIN);
        self.given_up = if self.waits_since.is_some() { self.given_up + 1 } else { 0 };
        if self.given_up < GIVEN_UP_MAX {
            return Ok(());
        }
        let (kept, limit) = (self.bytes >> 10, self.limit_in_line.unwrap_or(0) >> 10);
        Err(format!(
            "it keeps {kept} of the {limit} KiB that it may keep of messages until a checkpoint, and {GIVEN_UP_MAX} in a row could not be \
             taken, for reasons that were told: give a larger --log-budget, or none, and memory for it"
        ))
    }

    /// Whether the system would give no memory for as much again as is kept more than when it was last asked. Then less is kept from the
    /// next line on, and so many bytes. Said once in a line.
    pub(super) fn runs_short(
        &mut self,
        member: &Member,
        spare: u64,
        has_memory: impl Fn(usize) -> bool,
    ) -> Option<u64> {
        self.count(member, spare);
        let more = self.bytes.saturating_sub(self.probed);
        if self.is_short || more < PROBE_MIN {
            return None;
        }
        self.probed = self.bytes;
        if has_memory(usize::try_from(2 * more).unwrap_or(usize::MAX)) {
            return None;
        }
        self.is_short = true;
        self.lower();
        self.limit
    }

    /// It only grows until the next line begins: it need not be looked at before that, without a budget. So many bytes of shelves are
    /// beside what the member has on them.
    pub(super) fn count(&mut self, member: &Member, spare: u64) {
        self.bytes = member.kept_bytes() as u64 + spare;
        self.most = self.most.max(self.bytes);
    }

    /// Bytes, as they were last counted.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// It is looked at, if there is a budget. Whether a checkpoint is to be asked for, which is said once in a line.
    pub(super) fn look(&mut self, member: &Member, spare: impl FnOnce() -> u64) -> bool {
        if self.budget.is_none() {
            return false;
        }
        self.count(member, spare());
        if self.again.is_some_and(|at| at <= Instant::now()) {
            self.again = None;
            self.budget = self.limit_in_line.map(Budget::new);
        }
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
        let spare = self.limit_in_line.unwrap_or(0) / SPARE;
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
        let limit = self.limit_in_line.map(|limit| limit - limit / SPARE);
        limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.bytes))
    }

    /// What the shelf of each PE may have when the next line begins.
    pub(super) fn shelf(&self) -> Option<usize> {
        shelf_of(self.limit, self.shape.pes_per_node)
    }

    /// The next line has begun.
    pub(super) fn begin_line(&mut self) {
        self.limit_in_line = self.limit;
        self.budget = self.limit.map(Budget::new);
        (self.again, self.given_up, self.probed, self.is_short) = (None, 0, 0, false);
        self.end_waiting();
    }

    fn end_waiting(&mut self) {
        self.waited += self.waits_since.take().map_or(Duration::ZERO, |since| since.elapsed());
    }

    /// For the job's report.
    pub(super) fn report(&mut self, member: &Member, spare: u64) -> LogKept {
        self.end_waiting();
        self.count(member, spare);
        let (bytes, frames) = (self.bytes, member.kept_frames());
        LogKept { node: self.node, bytes_max: self.most, bytes, frames, waited_s: self.waited.as_secs_f64() }
    }
}

/// What the shelf of each of so many PEs may have when a line begins, with such a budget.
pub(super) fn shelf_of(limit: Option<u64>, pes: u32) -> Option<usize> {
    limit.map(|limit| usize::try_from(limit / SHELVES / u64::from(pes)).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { nodes: 2, pes_per_node: 1 };

    fn kept(limit: Option<u64>, bytes: u64) -> Kept {
        Kept { bytes, ..Kept::new(0, SHAPE, limit) }
    }

    #[test]
    fn what_may_be_kept_is_lowered_in_the_next_line_and_not_in_this_one() {
        for (limit, bytes, lower) in [
            (None, 100 << 20, 75 << 20),
            (Some(1 << 30), 100 << 20, 75 << 20),
            (Some(50 << 20), 100 << 20, 50 << 20),
            (None, 1 << 20, LEAST),
        ] {
            let mut kept = kept(limit, bytes);
            kept.lower();
            assert_eq!((kept.limit_in_line, kept.limit), (limit, Some(lower)));
            kept.begin_line();
            assert_eq!(kept.limit_in_line, Some(lower));
        }
    }

    #[test]
    fn memory_of_shelves_counts_and_is_no_reason_for_a_checkpoint_when_a_line_begins() {
        let member = Member::blank(0, SHAPE, 0);
        let mut kept = kept(Some(LEAST), 0);
        let left = kept.shelf().expect("there is a budget") as u64;
        assert_eq!(left, LEAST / 4);
        assert!(!kept.look(&member, || left));
        assert_eq!((kept.bytes(), kept.allowance()), (left, LEAST / 8 * 7 - left));
        assert!(kept.look(&member, || LEAST / 4 * 3) && !kept.must_wait());
        assert!(!kept.look(&member, || LEAST / 8 * 7 + 1), "it is asked for once in a line");
        assert!(kept.must_wait());
        kept.begin_line();
        assert!(!kept.look(&member, || left) && !kept.must_wait());
        let report = kept.report(&member, 5);
        assert_eq!((report.bytes_max, report.bytes), (LEAST / 8 * 7 + 1, 5));
    }

    #[test]
    fn entries_do_not_wait_forever_for_a_checkpoint_that_is_given_up_each_time() {
        let member = Member::blank(0, SHAPE, 0);
        let mut kept = kept(Some(LEAST), 0);
        let give_up = |kept: &mut Kept, times: u32| (0..times).filter(|_| kept.gave_up().is_err()).count();
        assert!(kept.look(&member, || LEAST / 4 * 3) && !kept.must_wait());
        assert_eq!(give_up(&mut kept, 2 * GIVEN_UP_MAX), 0, "nobody waits");
        assert!(!kept.look(&member, || LEAST) && kept.must_wait());
        assert_eq!(give_up(&mut kept, GIVEN_UP_MAX - 1), 0);
        kept.begin_line();
        assert!(kept.look(&member, || LEAST) && kept.must_wait());
        assert_eq!(give_up(&mut kept, GIVEN_UP_MAX), 1);
        let why = kept.gave_up().expect_err("they wait");
        assert!(why.contains("16384 of the 16384 KiB") && why.contains("--log-budget"), "{why}");
    }
}
