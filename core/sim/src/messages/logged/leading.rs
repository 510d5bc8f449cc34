//! Whoever leads and prints is lost, and another takes its place, as in processes (`core/control/src/coordinator/leading_on.rs`).
//!
//! What nodes had said to it is lost with it; of what it had said to each, only the beginning may come. What was printed last is known to the
//! next one, whoever had heard of that, as standard output goes through something that outlives whoever prints.

use std::collections::BTreeMap;

use super::Logged;
use super::post::Mail;
use crate::messages::{Cluster, Rules};
use talisman_ft::action::Action;
use talisman_ft::logging::{Gathering, Leader, LogId, Position, Seen, Standing, Succession, Votes};
use talisman_ft::{NodeId, Version};
use talisman_job::job::{End, Job};

/// What was printed so long ago is not known any more where standard output goes through, in nanoseconds: keepers have heard of it by then.
const SEEN_NS: u64 = 400_000;

/// What the world knows of those that lead.
#[derive(Default)]
pub(super) struct Leading {
    /// The next one waits for nodes to say where they are; how the job ends, as those say that have.
    pub(super) gathering: Option<(Gathering, Option<End>)>,
    /// One has led before.
    pub(super) is_another: bool,
    /// What was printed last, and when.
    seen: Vec<(u64, Seen)>,
    /// By node: how it was told that the job ends.
    pub(super) told: BTreeMap<NodeId, End>,
}

impl Leading {
    pub(super) fn note_printed(&mut self, now: u64, seen: Seen) {
        self.seen.retain(|(at, _)| at + SEEN_NS >= now);
        self.seen.push((now, seen));
    }

    fn seen(&self, now: u64) -> Vec<Seen> {
        self.seen.iter().filter(|(at, _)| at + SEEN_NS >= now).map(|(_, seen)| *seen).collect()
    }
}

impl Cluster {
    /// Whoever leads is lost, and these nodes at once.
    pub(super) fn lose_leader(&mut self, job: &Job, nodes: &[u32]) {
        if job.is_over() {
            return;
        }
        let now = self.clock.get();
        let logged = self.logged_mut();
        logged.now = now;
        logged.post.lose_leader();
        logged.leading.is_another = true;
        (logged.ending, logged.votes) = (None, Votes::default());
        nodes.iter().for_each(|node| self.end_process(*node));
        let logged = self.logged_mut();
        let there = logged.leader.there().filter(|node| logged.members[*node as usize].is_some());
        let left: Vec<_> = there.collect();
        logged.leading.gathering = Some((Gathering::of(left.iter().copied()), None));
        _ = logged.lost_at.get_or_insert(now);
        for to in left {
            let incarnation = self.logged().newest[to as usize];
            self.post(Mail::Introduce { to, incarnation });
        }
        self.lead_on(job);
    }

    /// Nodes are lost while another is about to lead.
    pub(super) fn lose_while_gathering(&mut self, job: &Job, nodes: &[u32]) -> bool {
        if self.logged().leading.gathering.is_none() {
            return false;
        }
        for node in nodes {
            self.end_process(*node);
            let gathering = &mut self.logged_mut().leading.gathering;
            gathering.iter_mut().for_each(|(gathering, _)| gathering.on_lost(*node));
        }
        self.lead_on(job);
        true
    }

    /// Another leads: a node says where it is.
    pub(super) fn introduce(&mut self, node: NodeId) {
        let incarnation = self.logged().newest[node as usize];
        let Some(member) = self.logged_mut().member(node) else { return };
        let standing = Box::new(member.introduce());
        let end = self.logged().leading.told.get(&node).cloned();
        self.post(Mail::Standing { from: node, incarnation, standing, end });
    }

    /// One says where it is.
    pub(super) fn on_standing(&mut self, job: &Job, node: NodeId, standing: Standing, end: Option<End>) {
        if let Some((gathering, known)) = &mut self.logged_mut().leading.gathering {
            gathering.on_standing(node, standing);
            *known = end.or(known.take());
        }
        self.lead_on(job);
    }

    /// Once all have.
    fn lead_on(&mut self, job: &Job) {
        let now = self.present();
        let logged = self.logged_mut();
        let Some((gathering, end)) =
            logged.leading.gathering.take_if(|(gathering, _)| gathering.is_complete())
        else {
            return;
        };
        let seen = logged.leading.seen(now);
        let Succession { leader, votes, behind, released, unfinished, orders } =
            gathering.lead(logged.fresh_leader(), &seen);
        (logged.leader, logged.votes) = (leader, votes);
        let version = logged.votes.line();
        unfinished.into_iter().for_each(|node| self.end_process(node));
        self.take_up_membership();
        behind.into_iter().chain(released).for_each(|to| self.tell_line(to, version));
        self.tell_coming();
        end.into_iter().for_each(|end| self.hear_end(end));
        self.carry_out(job, orders.into_iter().map(Action::Order).collect());
    }

    /// The job ends, as its program says, and all are told. A failure is heard over an end in order.
    pub(super) fn hear_end(&mut self, end: End) {
        let known = self.logged().ending.as_ref();
        if !known.is_none_or(|known| known.status == 0 && end.status != 0) {
            return;
        }
        self.logged_mut().ending = Some(end);
        (0..self.shape.nodes).for_each(|node| self.tell_end(node));
    }

    /// A node is told how the job ends, if it does.
    pub(super) fn tell_end(&mut self, to: NodeId) {
        let incarnation = self.logged().newest[to as usize];
        if let Some(end) = self.logged().ending.clone() {
            self.post(Mail::Finish { to, incarnation, end });
        }
    }

    /// A node, and its keeper, are told how much is printed of what was said on a PE.
    pub(super) fn say_what_is_printed(&mut self, log: LogId) {
        let logged = self.logged();
        let (line, before) = (logged.votes.line(), logged.leader.printed(log));
        for to in [logged.membership.keeper(log.node), log.node] {
            let incarnation = self.logged().newest[to as usize];
            self.post(Mail::Printed { to, incarnation, line, log, before });
        }
    }

    /// A keeper has a new process, which is told of all its wards.
    pub(super) fn tell_keeper_what_is_printed(&mut self, keeper: NodeId) {
        let logged = self.logged();
        let (line, incarnation) = (logged.votes.line(), logged.newest[keeper as usize]);
        let logs = logged.membership.keepers.wards(keeper).flat_map(|ward| logged.shape.logs_of(ward));
        let printed: Vec<_> = logs.map(|log| (log, logged.leader.printed(log))).collect();
        for (log, before) in printed {
            self.post(Mail::Printed { to: keeper, incarnation, line, log, before });
        }
    }

    pub(super) fn on_introduce(&mut self, job: &Job, node: NodeId, rules: &mut impl Rules) {
        self.introduce(node);
        self.see_to(job, node, rules);
    }
}

impl Logged {
    /// Of a job that begins in its line.
    fn fresh_leader(&self) -> Leader {
        let images = (0..self.shape.nodes).map(|node| Position::at_beginning(node, self.shape)).collect();
        // As processes know it from the beginning.
        Leader::new(self.shape, images).among(self.first_membership.clone())
    }
}

/// Something of this number was printed in that line.
pub(super) fn seen(line: Version, log: LogId, number: u64) -> Seen {
    (line, log, number as u32)
}
