//! The end of a job that survives losses: nobody leaves as long as somebody may have to go back, or does not know that the job is over.
//!
//! ```text
//! all have said Done ─► what the program said last is printed ─► Settle ─(Settled by all)─► Leave
//! ```
//!
//! Whoever leaves takes with it what others would go back to. So all have to know first that nobody will go back: then whoever takes the
//! place of a launcher that is lost meanwhile knows it too, with all results.

use std::time::Duration;

use super::{Action, Coordinator, GRACE_TO_LEAVE};
use crate::members::Stage;
use crate::protocol::{Stop, ToNode};
use crate::recovery::Recovery;
use talisman_job::{Failure, Results};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

impl Coordinator {
    /// Whoever has said all may leave: after a failure at once, after an end in order when all have, and know that.
    pub(super) fn let_leave(&mut self, now: Duration) {
        if self.recovery.is_none() && self.logging.is_none() || !self.verdict.is_over() {
            return;
        }
        let stopped = self.roster.stopped();
        let all_have = self.roster.living().iter().all(|node| self.roster[*node].stage == Stage::Done);
        let waits =
            self.logging.is_some() && self.recovery.is_none() && self.verdict.is_success() && !self.leaves;
        if (self.survives() || waits) && !all_have && !mutated("leaving-before-all-are-done") {
            return;
        }
        self.print_the_rest();
        if !std::mem::replace(&mut self.leaves, true) && self.verdict.is_success() {
            self.settle();
        }
        self.unsettled.retain(|node| self.roster[*node].stage < Stage::Gone);
        if self.verdict.is_success() && !self.unsettled.is_empty() {
            return;
        }
        for node in stopped {
            self.roster[node].leave_by = now + GRACE_TO_LEAVE;
            self.actions.push(Action::Send(node, ToNode::Leave));
        }
    }

    /// A node knows that nobody goes back any more.
    pub(super) fn on_settled(&mut self, now: Duration, node: u32) {
        if self.unsettled.remove(&node) {
            self.let_leave(now);
        }
    }

    /// Of a job that was ending so when its launcher was lost: those that are left say once more what they leave behind.
    pub(super) fn end_settled(&mut self, failures: Vec<Failure>, results: Results) {
        sometimes("a launcher was lost when the nodes were about to leave");
        self.recovery = Some(Recovery::settled(&self.plan, failures, results));
        self.verdict.on_word(Stop::default());
        self.leaves = true;
        self.roster.living().into_iter().for_each(|node| self.tell_losses(node));
    }

    fn settle(&mut self) {
        let mut results = Results::default();
        let with_lines =
            self.recovery.as_ref().map(|recovery| recovery.printed.results()).unwrap_or_default();
        for of_one in [&with_lines].into_iter().chain(self.roster.reports().map(|report| &report.results)) {
            of_one.iter().for_each(|(name, value)| results.set(name, value.clone()));
        }
        self.unsettled = self.roster.living().into_iter().collect();
        self.send_all(&ToNode::Settle(results));
    }
}
