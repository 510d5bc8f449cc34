//! A job that logs its messages has lost its launcher, and this one leads it from now on.
//!
//! ```text
//! the launcher is gone ─► Introduce to all that are left ─(Standing, of all)─► Line, Finish ─► Ask, as after a loss
//! ```
//!
//! Nobody stops. Whoever is lost by then, or was going back, goes back as after any other loss.

use std::time::Duration;

use super::Coordinator;
use crate::follower::Followers;
use crate::logging::Logging;
use crate::logging::messages::ToMember;
use crate::logging::succession::Led;
use talisman_ft::logging::{LogId, Shape, Standing};
use talisman_job::{CheckpointTaken, Failure};

use crate::protocol::Stop;

impl Coordinator {
    /// Those that are left are asked where they are.
    pub(super) fn gather_logged(&mut self, followers: &Followers, failures: Vec<Failure>) {
        self.logging = Some(Logging::taking_over(&self.plan, followers, failures));
        self.those_running().into_iter().for_each(|node| self.tell_logged(node, &ToMember::Introduce));
    }

    /// One says where it is.
    pub(super) fn on_standing(
        &mut self,
        now: Duration,
        node: u32,
        (standing, end, took): (Standing, Option<Stop>, Vec<CheckpointTaken>),
    ) {
        if !standing.is_of(Shape { nodes: self.plan.nodes, pes_per_node: self.plan.pes }) {
            return self.on_garbled(now, node, "is nowhere where a node of this job can be");
        }
        self.logging
            .iter_mut()
            .for_each(|logging| logging.on_standing(node, standing.clone(), end.clone(), took.clone()));
        self.lead_on(now);
    }

    /// Once all have: whoever has not heard of the line, or of the end, is told, and then a recovery begins.
    pub(super) fn lead_on(&mut self, now: Duration) {
        let Some(Led { behind, released, end, orders }) = self.logging.as_mut().and_then(Logging::lead_on)
        else {
            return;
        };
        behind.into_iter().for_each(|node| self.tell_line(node));
        self.release(now, released);
        self.tell_coming();
        end.into_iter().for_each(|stop| self.on_end_logged(now, stop));
        self.carry_out_logged(now, orders);
    }

    /// The former launcher had ended the job. Whoever is lost has left nothing.
    pub(super) fn miss_whoever_is_gone(&mut self, now: Duration) {
        let gathering =
            self.logging.as_ref().filter(|logging| logging.is_gathering() && self.verdict.is_success());
        if let Some(what) = gathering.and_then(Logging::missed).map(|failure| failure.what.clone()) {
            self.lose(now, what);
        }
    }

    /// So much of what was said on a PE is printed: its keeper is to know, as both its node and whoever prints may be lost.
    pub(super) fn tell_what_is_printed(&mut self, log: LogId) {
        let Some(logging) = &self.logging else { return };
        let word = ToMember::Printed { line: logging.line(), log, before: logging.printed(log) };
        let keeper = logging.membership().keeper(log.node);
        // The node says no more of it once it knows.
        for to in [keeper, log.node] {
            if self.those_running().contains(&to) {
                self.tell_logged(to, &word);
            }
        }
    }

    /// A keeper has a new process: that is to know it too.
    pub(super) fn tell_keeper_what_is_printed(&mut self, keeper: u32) {
        let Some(logging) = &self.logging else { return };
        let wards = logging.membership().keepers.wards(keeper);
        let logs = wards.flat_map(|node| (0..self.plan.pes).map(move |rank| LogId { node, rank }));
        let printed = logs.map(|log| (log, logging.printed(log))).filter(|(_, before)| *before > 0);
        let line = logging.line();
        for (log, before) in printed.collect::<Vec<_>>() {
            self.tell_logged(keeper, &ToMember::Printed { line, log, before });
        }
    }
}
