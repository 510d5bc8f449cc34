//! Nodes that are added to a running job (`talisman grow`): numbers that have no process, as it has gone on without them or they were never
//! there, get one.
//!
//! ```text
//! asked ─► Start ─(Hello)─► Task ─(Ready)─► Book ─(Linked)─► all are: a checkpoint ─(committed)─► Go, Halt to all: from here on like after a loss
//!            └──── one ends, or takes too long: the others are ended, and the job has noticed nothing
//! ```
//!
//! In a job that logs nobody goes back: the next line begins with them, at a cut.
//!
//! ```text
//! all are: Expect to all ─► Checkpoint, to the first ─(Holds, of those that were there)─► Go to the new ones, Line to all: from here on like after
//!                                                                                         their loss
//! ```

use std::collections::BTreeSet;
use std::time::Duration;

use super::arriving::COMES_WITHIN;
use super::releasing::BEGINS_WITHIN;
use super::{Action, Coordinator};
use crate::exit_cause::KillReason;
use crate::logging::Logging;
use crate::members::Stage;
use crate::messages::nodes_in_words;
use crate::protocol::ToNode;
use talisman_job::asking::Request;
use talisman_observe::sometimes::sometimes;

/// Nodes that are being added.
pub(super) struct Growing {
    /// Of the request.
    number: u64,
    nodes: Vec<u32>,
    /// Those whose former processes have not ended.
    unstarted: BTreeSet<u32>,
    /// Those that have come so far that they can be told to halt with the others.
    come: BTreeSet<u32>,
    /// When all have to have come, or in a job that logs the line has to have begun with those that have.
    by: Duration,
    /// They have been told.
    joined: bool,
}

impl Growing {
    fn have_all_come(&self) -> bool {
        self.come.len() == self.nodes.len()
    }
}

impl Coordinator {
    /// So many nodes are to be added, or all that can be.
    pub(super) fn begin_to_grow(&mut self, now: Duration, number: u64, count: Option<u32>) {
        let nodes = match self.to_be_added(count) {
            Ok(nodes) => nodes,
            Err(why) => return self.actions.push(Action::Answer(number, Err(why))),
        };
        let (unstarted, come) = (nodes.iter().copied().collect(), BTreeSet::new());
        let by = now + COMES_WITHIN;
        self.requests.growing = Some(Growing { number, nodes, unstarted, come, by, joined: false });
        self.start_added(now);
    }

    /// Starts those whose former processes have ended.
    pub(super) fn start_added(&mut self, now: Duration) {
        let Some(growing) = &mut self.requests.growing else { return };
        let is_gone = |node: &u32| self.roster[*node].stage == Stage::Gone;
        let ended: Vec<u32> = growing.unstarted.iter().copied().filter(is_gone).collect();
        growing.unstarted.retain(|node| !ended.contains(node));
        ended.into_iter().for_each(|node| self.start_another(now, node));
    }

    /// Whether this node is about to be one of the job's.
    pub(super) fn is_being_added(&self, node: u32) -> bool {
        let growing = self.requests.growing.as_ref().filter(|growing| !growing.joined);
        growing.is_some_and(|growing| growing.nodes.contains(&node))
    }

    /// It waits to be told to halt with the others.
    pub(super) fn on_added(&mut self, now: Duration, node: u32) {
        let Some(growing) = &mut self.requests.growing else { return };
        growing.come.insert(node);
        if !growing.have_all_come() {
            return;
        }
        let (number, request) = (growing.number, Request::Grow(Some(growing.nodes.len() as u32)));
        let Some(logging) = &mut self.logging else { return self.wait_for_checkpoint(number, request) };
        growing.by = now + BEGINS_WITHIN;
        logging.add(&growing.nodes, |node| self.plan.host_number(node));
        self.tell_coming();
        self.ask_for_cut_to_grow();
    }

    /// Whoever was asked for the cut may have been lost.
    pub(super) fn ask_for_cut_to_grow(&mut self) {
        let growing = self.requests.growing.as_ref().filter(|growing| self.plan.logs && !growing.joined);
        if let Some(growing) = growing.filter(|growing| growing.have_all_come()) {
            self.ask_for_checkpoint(&Request::Grow(Some(growing.nodes.len() as u32)));
        }
    }

    /// The next line of a job that logs has begun: whoever is there in it, and was not, goes on from it as after a loss.
    pub(super) fn take_in_added(&mut self) {
        let view = self.logging.as_ref().map(|logging| &logging.membership().view);
        let are_in = |growing: &&mut Growing| {
            growing.nodes.iter().all(|node| view.is_some_and(|view| view.is_there(*node)))
        };
        let Some(growing) = self.requests.growing.as_mut().filter(are_in) else { return };
        growing.joined = true;
        let are = if growing.nodes.len() == 1 { "is" } else { "are" };
        let text = format!("{} {are} added; nobody goes back", nodes_in_words(&growing.nodes));
        self.actions.push(Action::Say(text));
        for node in &growing.nodes {
            self.roster[*node].stage = Stage::Running;
            self.actions.push(Action::Send(*node, ToNode::Go));
        }
    }

    /// Whether a process of a job that logs has ended before a line began with its node: nobody misses it.
    pub(super) fn has_gone_before_it_came(&mut self, now: Duration, node: u32, why: &str) -> bool {
        let is_in = |logging: &Logging| logging.membership().view.is_there(node);
        let is_outside = self.is_arriving(node) && !self.logging.as_ref().is_some_and(is_in);
        if is_outside {
            self.on_arriving_ended(now, node, why);
        }
        is_outside
    }

    /// The checkpoint for this is there, or cannot be: all halt, and go on from it with the new ones.
    pub(super) fn grow(&mut self, now: Duration, number: u64, checkpoint: Result<(), String>) {
        let Some(growing) = self.requests.growing.as_mut().filter(|growing| growing.number == number) else {
            return sometimes("nodes that were to be added were given up while a checkpoint was taken");
        };
        if let Err(why) = checkpoint {
            return self.give_up_growing(now, &why);
        }
        growing.joined = true;
        let nodes = growing.nodes.clone();
        let are = if nodes.len() == 1 { "is" } else { "are" };
        self.actions.push(Action::Say(format!("{} {are} added; all go back", nodes_in_words(&nodes))));
        for node in &nodes {
            self.roster[*node].stage = Stage::Running;
            self.actions.push(Action::Send(*node, ToNode::Go));
        }
        self.lead(self.running_for(now), |recovery| recovery.add(&nodes));
    }

    /// All go on: whether with the new ones.
    pub(super) fn answer_if_grown(&mut self) {
        let Some(growing) = self.requests.growing.take_if(|growing| growing.joined) else { return };
        let is_lost = |node: &u32| self.roster[*node].stage != Stage::Running;
        let lost: Vec<u32> = growing.nodes.iter().copied().filter(is_lost).collect();
        let whom = nodes_in_words(&growing.nodes);
        let answer = match lost[..] {
            [] if self.plan.balances => Ok(format!("the job goes on with {whom}")),
            [] => Ok(format!("the job goes on with {whom}; without --balancer, no objects will move there")),
            [_] => Err(format!("{} is lost again; the others go on", nodes_in_words(&lost))),
            _ => Err(format!("{} are lost again; the others go on", nodes_in_words(&lost))),
        };
        self.actions.push(Action::Answer(growing.number, answer));
    }

    /// Nothing comes of it: those that have not become nodes are ended.
    pub(super) fn give_up_growing(&mut self, now: Duration, why: &str) {
        let Some(growing) = self.requests.growing.take() else { return };
        sometimes("nodes that were to be added were not");
        if growing.have_all_come() && !growing.joined {
            self.take_back_coming();
        }
        for node in growing.nodes {
            if self.is_arriving(node) {
                self.kill(now, node, KillReason::Straggler);
            }
        }
        self.actions.push(Action::Answer(growing.number, Err(why.into())));
    }

    /// Who takes too long is not waited for.
    pub(super) fn give_up_late_ones(&mut self, now: Duration) {
        let Some(growing) = &self.requests.growing else { return };
        let is_late = |node: &&u32| !growing.come.contains(node);
        let late: Vec<u32> = growing.nodes.iter().filter(is_late).copied().collect();
        let has_line = growing.joined || self.logging.is_none();
        match () {
            () if growing.by > now => {}
            () if !late.is_empty() => {
                let whom = nodes_in_words(&late);
                self.give_up_growing(now, &format!("{whom} did not join within {COMES_WITHIN:?}"));
            }
            () if !has_line => {
                sometimes("nodes were not added since there was no checkpoint in time");
                let why = format!(
                    "there was no checkpoint within {BEGINS_WITHIN:?} from which all go on with them"
                );
                self.give_up_growing(now, &why);
            }
            () => {}
        }
    }

    /// The numbers that have no process, the lowest first; or why so many cannot be added.
    fn to_be_added(&self, count: Option<u32>) -> Result<Vec<u32>, String> {
        if self.requests.growing.is_some() {
            return Err("other nodes are being added; ask again when they are there".into());
        }
        let is_in =
            |node| self.logging.as_ref().is_some_and(|logging| logging.membership().view.is_there(node));
        let is_absent = |node: &u32| {
            let member = &self.roster[*node];
            let is_gone = member.stage == Stage::Gone || member.stage == Stage::Done && member.released;
            is_gone && !is_in(*node)
        };
        let mut absent: Vec<u32> = (0..self.plan.nodes).filter(is_absent).collect();
        let whom = nodes_in_words(&absent);
        match count {
            _ if absent.is_empty() => {
                Err("all nodes of the job are there; --max-nodes says how many it may ever have".into())
            }
            Some(count) if count as usize > absent.len() => {
                Err(format!("{count} nodes cannot be added: only {whom} can be"))
            }
            count => {
                absent.truncate(count.map_or(usize::MAX, |count| count as usize));
                Ok(absent)
            }
        }
    }
}
