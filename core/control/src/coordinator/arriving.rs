//! Lost nodes that get other processes, new ones (`--respawn`) or such as wait (`--spares`), while all others halt.
//!
//! ```text
//! a node is lost ─► Start ─(Hello)─► Task ─(Ready)─► Book ─(Linked)─► Go, Halt: from here on it is one of them
//!                     └──── it ends, or takes too long: the others go on without it
//! ```
//!
//! The same way come nodes that are added ([`growing`](super::growing)), but while the others go on.
//!
//! Its links are made as the order that follows says, by all at once: so it is linked with nobody when it says that it is.

use std::time::Duration;

use super::{Action, Coordinator};
use crate::exit_cause::KillReason;
use crate::logging::Logging;
use crate::members::Stage;
use crate::protocol::{Task, ToNode};
use talisman_observe::sometimes::sometimes;

/// A process that has not joined by then is not waited for any longer: all others stand still meanwhile.
pub(super) const COMES_WITHIN: Duration = Duration::from_secs(5);

impl Coordinator {
    /// A node that was just lost gets another process, if that is wanted and the others wait for it.
    pub(super) fn replace(&mut self, now: Duration, node: u32) {
        let expects = |recovery: &mut super::Recovery| recovery.expect(node);
        let has_any = self.plan.respawns || self.spares.waiting().next().is_some();
        if !has_any || !self.survives() || !self.recovery.as_mut().is_some_and(expects) {
            return;
        }
        self.expected.insert(node, now + COMES_WITHIN);
        self.start_another(now, node);
    }

    /// A node that has no process gets another one.
    pub(super) fn start_another(&mut self, now: Duration, node: u32) {
        self.lives += 1;
        self.roster.start_again(node, self.lives, self.plan.silence);
        let Some((spare, pid)) = self.take_spare(node) else {
            return self.actions.push(Action::Start(node));
        };
        sometimes("a process that waited took a node's place");
        self.on_placed(node, self.host_of_spare(spare));
        self.actions.push(Action::Use { spare, node });
        self.roster[node].pid = pid;
        if pid.is_some() {
            self.on_arriving_hello(now, node);
        }
    }

    /// A node has, or is to have, its process on this host, by its number among those of the job.
    pub fn on_placed(&mut self, node: u32, host: u32) {
        self.plan.put(node, host);
        self.roster[node].host = self.plan.host_of(node).map(str::to_owned);
        self.recovery.iter_mut().for_each(|recovery| recovery.put(node, host));
    }

    /// Whether a node has a process that is none of the job's nodes yet, after the program has begun.
    pub(super) fn is_arriving(&self, node: u32) -> bool {
        self.went.is_some() && self.roster[node].life > 0 && self.roster[node].stage < Stage::Running
    }

    pub(super) fn on_arriving_hello(&mut self, now: Duration, node: u32) {
        let (life, running) = (self.roster[node].life, self.running_for(now));
        let now_there = self.logging.as_ref().map(Logging::membership);
        let membership = now_there.filter(|membership| membership.number > 0).cloned();
        let task = Task { membership, ..self.plan.task_again(node, life, running) };
        self.actions.push(Action::Send(node, ToNode::Task(Box::new(task))));
        self.roster[node].stage = Stage::Joined;
    }

    /// It has come so far; linked with nobody, it is there.
    pub(super) fn on_arriving(&mut self, now: Duration, node: u32, stage: Stage) {
        let is_added = self.is_being_added(node);
        if !is_added && !self.expected.contains_key(&node) {
            return;
        }
        self.roster[node].stage = stage;
        match stage {
            Stage::Linked if is_added => self.on_added(now, node),
            Stage::Ready => self.actions.push(Action::Send(node, ToNode::Book(self.roster.addresses()))),
            Stage::Linked => {
                self.roster[node].stage = Stage::Running;
                self.expected.remove(&node);
                self.actions.push(Action::Send(node, ToNode::Go));
                if self.logs() {
                    return self.on_arrived_logged(now, node);
                }
                self.lead(self.running_for(now), |recovery| recovery.on_come(node));
            }
            _ => {}
        }
    }

    /// It has no process again, before it was there.
    pub(super) fn on_arriving_ended(&mut self, now: Duration, node: u32, why: &str) {
        self.roster[node].stage = Stage::Gone;
        self.let_go_on();
        match self.is_being_added(node) {
            true => self.give_up_growing(now, &format!("node {node} did not join: {why}")),
            false => self.give_up_on(now, node, why),
        }
        self.let_leave(now);
    }

    /// Whoever takes too long is not waited for any longer.
    pub(super) fn give_up_waiting(&mut self, now: Duration) {
        let late: Vec<u32> =
            self.expected.iter().filter(|(_, by)| **by <= now).map(|(node, _)| *node).collect();
        for node in late {
            self.kill(now, node, KillReason::Straggler);
            self.give_up_on(now, node, &format!("it has not joined within {COMES_WITHIN:?}"));
        }
    }

    fn give_up_on(&mut self, now: Duration, node: u32, why: &str) {
        if self.expected.remove(&node).is_none() || !self.survives() {
            return;
        }
        sometimes("a job went on without a replacement for a lost node");
        let text = format!("node {node} cannot be replaced ({why}); the others go on without it");
        self.actions.push(Action::Warn(text));
        self.lead(self.running_for(now), |recovery| recovery.on_not_coming(node));
    }
}
