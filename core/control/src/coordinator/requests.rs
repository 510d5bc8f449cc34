//! What people ask a running job for from outside: a checkpoint or a step of load balancing now, or to go on with fewer nodes, or with more ([`growing`](super::growing)).
//!
//! A node that is to go is let go from a checkpoint that is taken for that, so that nothing has to be done again but what ran since its cut.
//! What is under way when a node is lost is begun again once all go on.

use std::collections::VecDeque;
use std::time::Duration;

use talisman_ft::Version;

use super::growing::Growing;
use super::releasing::Releasing;
use super::{Action, Coordinator, GRACE_TO_LEAVE};
use crate::members::Stage;
use crate::messages::nodes_in_words;
use crate::protocol::ToNode;
use talisman_job::asking::Request;
use talisman_observe::sometimes::sometimes;

/// Those that are not answered.
#[derive(Default)]
pub(super) struct Requests {
    /// For a checkpoint, in the order in which they came.
    pub(super) waiting: VecDeque<(u64, Request)>,
    /// For a step of load balancing.
    balancing: VecDeque<u64>,
    /// Nodes are being let go.
    releasing: Option<(u64, Vec<u32>)>,
    /// The same in a job that logs.
    pub(super) at_cut: Option<Releasing>,
    /// Nodes are being added.
    pub(super) growing: Option<Growing>,
}

impl Coordinator {
    /// What the job can be asked to do.
    pub fn requests_taken(&self) -> Vec<&'static str> {
        let keeps = self.recovery.is_some() || self.plan.logs;
        let taken =
            [("checkpoint", keeps), ("balance", self.plan.balances), ("shrink", keeps), ("grow", keeps)];
        taken.into_iter().filter(|(_, takes)| *takes).map(|(request, _)| request).collect()
    }

    /// Somebody asks for something; the answer will have this number.
    pub fn on_request(&mut self, now: Duration, number: u64, request: Request) {
        if let Err(why) = self.check(&request) {
            return self.actions.push(Action::Answer(number, Err(why)));
        }
        match request {
            // They come first, while the job goes on.
            Request::Grow(count) => self.begin_to_grow(now, number, count),
            Request::Balance => {
                self.requests.balancing.push_back(number);
                self.ask_first_for_balance();
            }
            Request::Shrink(nodes) if self.plan.logs => self.begin_release_at_cut(now, number, nodes),
            Request::Checkpoint | Request::Shrink(_) => self.wait_for_checkpoint(number, request),
            // Whoever leads answers, as soon as the nodes have.
            Request::Look => {}
        }
    }

    /// A request goes on once there is a checkpoint.
    pub(super) fn wait_for_checkpoint(&mut self, number: u64, request: Request) {
        self.ask_for_checkpoint(&request);
        self.requests.waiting.push_back((number, request));
    }

    /// So many requests for a checkpoint have come to an end; and why it is not on disk, if any of them wanted that in vain.
    pub(super) fn on_checkpointed(
        &mut self,
        now: Duration,
        node: u32,
        asked: u32,
        (checkpoint, not_written): (Result<Version, String>, Option<String>),
    ) {
        for _ in 0..asked {
            if self.is_void(node) || !self.goes_on() {
                return sometimes("a checkpoint that was asked for was overtaken by a loss");
            }
            let Some((number, request)) = self.requests.waiting.pop_front() else { return };
            let kept = checkpoint.clone().map_err(|why| format!("the checkpoint cannot be kept: {why}"));
            match (request, kept) {
                (Request::Grow(_), kept) => self.grow(now, number, kept.map(|_| ())),
                (_, Err(why)) => self.actions.push(Action::Answer(number, Err(why))),
                (Request::Checkpoint, Ok(version)) => {
                    let text = self.taken(version, not_written.as_deref());
                    self.actions.push(Action::Answer(number, text));
                }
                (Request::Shrink(nodes), Ok(_)) => self.begin_release(now, number, nodes),
                (Request::Balance | Request::Look, Ok(_)) => unreachable!("it waits for no checkpoint"),
            }
        }
    }

    /// A job that logs has a checkpoint of this version: of those who wait for one, the first so many are answered. Why it is not on disk, if it
    /// was to be.
    pub(super) fn answer_with_checkpoint(
        &mut self,
        version: Version,
        asked: usize,
        not_written: Option<&str>,
    ) {
        let asked = asked.min(self.requests.waiting.len());
        for (number, _) in self.requests.waiting.drain(..asked).collect::<Vec<_>>() {
            let text = self.taken(version, not_written);
            self.actions.push(Action::Answer(number, text));
        }
    }

    /// All go on: who was asked for a checkpoint may have been lost.
    pub(super) fn ask_for_checkpoints_again(&mut self) {
        let waiting: Vec<Request> =
            self.requests.waiting.iter().map(|(_, request)| request.clone()).collect();
        waiting.iter().for_each(|request| self.ask_for_checkpoint(request));
        self.ask_for_cut_to_release();
        self.ask_for_cut_to_grow();
        self.ask_for_cut_to_spread();
    }

    /// So many requests for a step of load balancing have come to an end.
    pub(super) fn on_balanced(&mut self, node: u32, asked: u32, step: &Result<String, String>) {
        if self.is_void(node) || !self.goes_on() {
            return sometimes("a balancing step that was asked for was overtaken by a loss");
        }
        let answered = self.requests.balancing.len().min(asked as usize);
        let numbers = self.requests.balancing.drain(..answered);
        self.actions.extend(numbers.map(|number| Action::Answer(number, step.clone())));
    }

    /// These nodes have halted and are not needed any more.
    pub(super) fn release(&mut self, now: Duration, nodes: Vec<u32>) {
        for node in nodes {
            let member = &mut self.roster[node];
            (member.stage, member.released) = (Stage::Done, true);
            member.leave_by = now + GRACE_TO_LEAVE;
            self.actions.push(Action::Send(node, ToNode::Leave));
        }
    }

    /// All go on: what was asked for is answered, or begun again.
    pub(super) fn go_on_with_requests(&mut self) {
        if let Some((number, nodes)) = self.requests.releasing.take() {
            let is_done = nodes.iter().all(|node| self.roster[*node].stage >= Stage::Done);
            let whom = nodes_in_words(&nodes);
            self.actions.push(Action::Answer(
                number,
                match is_done {
                    true => Ok(format!("the job goes on without {whom}")),
                    false => {
                        Err(format!("the job cannot go on without {whom}: what it has is held nowhere else"))
                    }
                },
            ));
        }
        self.answer_if_grown();
        self.ask_for_checkpoints_again();
        self.ask_for_balance_again();
    }

    /// All go on, or in a job that logs from a checkpoint: who was asked for a step may not know any more.
    pub(super) fn ask_for_balance_again(&mut self) {
        for _ in 0..self.requests.balancing.len() {
            self.ask_first_for_balance();
        }
    }

    /// Nothing that is asked for will be done.
    pub(super) fn refuse_requests(&mut self, now: Duration, why: &str) {
        self.give_up_growing(now, why);
        let waiting = std::mem::take(&mut self.requests.waiting).into_iter();
        let waiting =
            waiting.filter(|(_, request)| !matches!(request, Request::Grow(_))).map(|(number, _)| number);
        let releasing = self.requests.releasing.take().map(|(number, _)| number);
        let balancing = std::mem::take(&mut self.requests.balancing);
        let all =
            waiting.chain(releasing).chain(balancing).map(|number| Action::Answer(number, Err(why.into())));
        self.actions.extend(all);
    }

    /// Why this cannot be.
    fn check(&self, request: &Request) -> Result<(), String> {
        if self.recovery.is_none() && !self.plan.logs && *request != Request::Balance {
            return Err("the job keeps no checkpoints: start it with --ft, such as --ft double".into());
        }
        if self.went.is_none() || self.recovery.is_some() && !self.survives() || self.verdict.is_over() {
            let why = if self.went.is_none() { "the job has not begun yet" } else { "the job ends" };
            return Err(why.into());
        }
        if self.plan.logs && matches!(request, Request::Grow(_) | Request::Shrink(_)) {
            self.check_change_at_cut()?;
        }
        let Request::Shrink(nodes) = request else { return Ok(()) };
        let there: Vec<u32> = self
            .roster
            .living()
            .into_iter()
            .filter(|node| self.roster[*node].stage == Stage::Running)
            .collect();
        if let Some(node) = nodes.iter().find(|node| !there.contains(node)) {
            return Err(format!("node {node} is not there; the job has {}", nodes_in_words(&there)));
        }
        let stays = |node: &&u32| !nodes.contains(node);
        match there.iter().filter(stays).count() {
            0 => Err("a job cannot go on without any node; end it with Ctrl-C".into()),
            _ => Ok(()),
        }
    }

    /// Whether all nodes go on, so that there is somebody to ask.
    pub(super) fn goes_on(&self) -> bool {
        match &self.recovery {
            Some(recovery) => self.survives() && recovery.is_running(),
            None if self.logging.as_ref().is_some_and(|logging| !logging.is_running()) => false,
            None => self.went.is_some() && !self.verdict.is_over(),
        }
    }

    /// The first node of those that run, if there is somebody to ask.
    fn first_running(&self) -> Option<u32> {
        let first = self.roster.living().into_iter().find(|node| self.roster[*node].stage == Stage::Running);
        first.filter(|_| self.goes_on())
    }

    /// Tells the first node that one more step of load balancing is wanted.
    fn ask_first_for_balance(&mut self) {
        if let Some(node) = self.first_running() {
            self.actions.push(Action::Send(node, ToNode::Balance));
        }
    }

    /// Tells the first node that one more checkpoint is wanted; while the job halts nobody is there to hear that. What is gone on from at
    /// once need not be on disk.
    pub(super) fn ask_for_checkpoint(&mut self, request: &Request) {
        let on_disk = *request == Request::Checkpoint;
        let leaving = match request {
            Request::Shrink(nodes) => nodes.clone(),
            Request::Checkpoint | Request::Grow(_) | Request::Balance | Request::Look => Vec::new(),
        };
        self.ask_first_for_checkpoint(on_disk, leaving);
    }

    /// The same, whoever wants it.
    pub(super) fn ask_first_for_checkpoint(&mut self, on_disk: bool, leaving: Vec<u32>) {
        if let Some(node) = self.first_running() {
            self.actions.push(Action::Send(node, ToNode::Checkpoint { on_disk, leaving }));
        }
    }

    fn begin_release(&mut self, now: Duration, number: u64, nodes: Vec<u32>) {
        // Some may be lost meanwhile.
        if let Err(why) = self.check(&Request::Shrink(nodes.clone())) {
            return self.actions.push(Action::Answer(number, Err(why)));
        }
        self.actions.push(Action::Say(format!("{} to be released; all go back", are(&nodes))));
        self.requests.releasing = Some((number, nodes.clone()));
        self.lead(self.running_for(now), |recovery| recovery.release(&nodes));
    }

    fn taken(&self, version: Version, not_written: Option<&str>) -> Result<String, String> {
        let in_memory = format!("checkpoint {version} is taken, in the memory of the nodes");
        let Some(checkpoint_dirs) = &self.plan.keeping.checkpoint_dirs else { return Ok(in_memory) };
        let dir = checkpoint_dirs.dir.display();
        match not_written {
            None => {
                Ok(format!("checkpoint {version} is taken; after the loss of all nodes: --restart {dir}"))
            }
            Some(why) => Err(format!("{in_memory}, but not in {dir}: {why}")),
        }
    }
}

fn are(nodes: &[u32]) -> String {
    format!("{} {}", nodes_in_words(nodes), if nodes.len() == 1 { "is" } else { "are" })
}
