//! Which hosts nodes of a job that logs and their keepers are on, when some have got processes on others: a host that has a node
//! with its keeper cannot be lost. So in the next line all are kept on other hosts again, if there are several.
//!
//! ```text
//! all go on, and a keeper is to be another: Expect, to all
//!   ─► Checkpoint, to the first, if a keeper is on the host of its node ─(Holds, of all)─► Line
//! ```
//!
//! Nobody goes back, and a cut sends no more for that: each part goes to a keeper anyway.

use super::Coordinator;
use talisman_observe::sometimes::sometimes;

impl Coordinator {
    /// All go on, from a loss or from a cut: nodes may be elsewhere than they were.
    pub(super) fn spread_keepers(&mut self) {
        let plan = &self.plan;
        let logging = self.logging.as_mut();
        if logging.is_some_and(|logging| logging.spread_keepers(|node| plan.host_number(node))) {
            sometimes("nodes were to have other keepers, as some had come to other hosts");
            self.tell_coming();
        }
    }

    /// Whoever was asked for the cut may have been lost.
    pub(super) fn ask_for_cut_to_spread(&mut self) {
        let plan = &self.plan;
        let logging = self.logging.as_ref();
        if logging.is_some_and(|logging| logging.is_kept_beside(|node| plan.host_number(node))) {
            self.ask_first_for_checkpoint(false, Vec::new());
        }
    }
}
