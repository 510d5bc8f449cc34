//! Leads a job from its start to its end: what the launcher does about what happens to the nodes.
//!
//! Pure: events and the time go in, actions come out. It starts no process and reads no clock.
//!
//! ```text
//! a node:  Starting → Joined → Ready → Linked → Running → Done → Gone
//! all:     Task when joined, Book when all are ready, Go when all are linked, Stop once the job is over
//! ```

use std::time::Duration;

use super::control::{NodeReport, Stop, ToLauncher, ToNode, VERSION};
use super::fate::{Doom, Fate, How};
use super::heartbeat::TICK;
use super::kills::{Due, Kills};
use super::local::Event;
use super::plan::Plan;
use super::roster::{Roster, Stage};
use super::verdict::Verdict;
use crate::launch::progress::Steps;
use crate::mutations::mutated;
use crate::sometimes::sometimes;

/// A lost node ends the job within two seconds, whatever the others do: who has not stopped by then is killed.
const GRACE_AFTER_LOSS: Duration = Duration::from_millis(500);
/// After a failure of the program, or Ctrl-C, entry methods may end what they do.
const GRACE_AFTER_FAILURE: Duration = Duration::from_millis(1500);
/// A node that has said all may take so long to end.
const GRACE_TO_LEAVE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests;

/// What the launcher is to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Say something to a node.
    Send(u32, ToNode),
    /// Kill a node at once.
    Kill(u32),
    /// Tell people.
    Say(String),
    /// Show how far the program is.
    Show(Steps),
}

/// The state of a job.
pub(crate) struct Conductor {
    plan: Plan,
    roster: Roster,
    kills: Kills,
    verdict: Verdict,
    /// When the program began.
    went: Option<Duration>,
    /// When those who have not stopped are killed.
    deadline: Option<Duration>,
    /// The next tick of the heartbeat.
    beat: Duration,
    steps: Steps,
    /// Nodes that wait at a step until others are gone.
    waiting: Vec<Waiting>,
    actions: Vec<Action>,
}

/// A node that goes on after this step once the others are gone.
struct Waiting {
    node: u32,
    step: u64,
    killed: Vec<u32>,
}

impl Conductor {
    pub(crate) fn new(plan: Plan, kills: Kills) -> Self {
        Conductor {
            roster: Roster::new(&plan),
            plan,
            kills,
            verdict: Verdict::default(),
            went: None,
            deadline: None,
            beat: TICK,
            steps: Steps::default(),
            waiting: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// What is to be done, in this order.
    #[must_use]
    pub(crate) fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// Whether all nodes are gone: there is nothing left to lead.
    pub(crate) fn is_over(&self) -> bool {
        self.roster.living().is_empty()
    }

    /// Whether it is known how the job ends.
    pub(crate) fn is_ending(&self) -> bool {
        self.verdict.is_over()
    }

    /// For how long the program has been running.
    pub(crate) fn running_for(&self, now: Duration) -> Duration {
        self.went.map_or(Duration::ZERO, |went| now.saturating_sub(went))
    }

    /// How the job ended, and what the nodes left behind; those that were lost left nothing.
    pub(crate) fn into_end(self) -> (Stop, Vec<NodeReport>, Steps) {
        let mut steps = self.steps;
        let reports = self.roster.into_reports();
        reports.iter().for_each(|report| merge(&mut steps, report.steps));
        (self.verdict.stop(), reports, steps)
    }

    /// Something happened to a node. `out_of_memory` says whether the system has killed anybody for want of memory.
    pub(crate) fn on_event(
        &mut self,
        now: Duration,
        node: u32,
        event: Event,
        out_of_memory: impl FnOnce() -> bool,
    ) {
        if !self.roster.has(node) {
            return;
        }
        match event {
            Event::Started(pid) => self.roster[node].pid = Some(pid),
            Event::NotStarted(why) => self.on_not_started(now, node, &why),
            Event::Garbled(what) => self.on_garbled(now, node, &what),
            Event::Ended(how) => self.on_ended(now, node, how, out_of_memory),
            Event::Lost(why) => self.on_lost(now, node, why),
            Event::Said(message) => {
                if !mutated("words-not-heard") {
                    self.roster[node].heartbeat.heard();
                }
                self.on_message(now, node, message);
            }
        }
    }

    /// Time went by.
    pub(crate) fn on_time(&mut self, now: Duration) {
        if now >= self.beat {
            self.beat = now + TICK;
            self.on_beat(now);
        }
        if let Some(went) = self.went.filter(|_| !self.verdict.is_over()) {
            let due = self.kills.on_time(now - went, &self.roster.living());
            self.inject(due);
        }
        self.on_deadlines(now);
    }

    /// Somebody asks the job to end early, with this exit status.
    pub(crate) fn on_interrupt(&mut self, now: Duration, status: i32) {
        sometimes("a job was asked to end early");
        self.verdict.on_failure(status, None);
        self.stop(now, Some(GRACE_AFTER_FAILURE));
    }

    fn on_message(&mut self, now: Duration, node: u32, message: ToLauncher) {
        match message {
            ToLauncher::Hello { version, pid } => self.on_hello(now, node, version, pid),
            ToLauncher::Ready(address) => {
                self.roster[node].address = address;
                self.reach(now, node, Stage::Ready);
            }
            ToLauncher::Linked => self.reach(now, node, Stage::Linked),
            ToLauncher::Step(steps) => self.on_step(node, steps),
            ToLauncher::Ended(stop) => self.on_word(now, stop),
            ToLauncher::Note(text) => {
                self.actions.push(Action::Say(format!("{}: {text}", self.roster.name(node))))
            }
            ToLauncher::Done(report) => self.on_done(now, node, report),
            ToLauncher::Alive
            | ToLauncher::Halted { .. }
            | ToLauncher::Resumed { .. }
            | ToLauncher::Suspect { .. }
            | ToLauncher::Lines(_) => {}
            ToLauncher::Failed(why) => self.on_failed(now, node, &why),
            ToLauncher::Terminated => self.on_interrupt(now, SIGTERM_STATUS),
        }
    }

    fn on_hello(&mut self, now: Duration, node: u32, version: u16, pid: u32) {
        self.roster[node].pid = Some(pid);
        if version != VERSION {
            let why = format!(
                "speaks version {version} of the control connection, the launcher {VERSION}; run one build"
            );
            return self.on_failed(now, node, &why);
        }
        self.actions.push(Action::Send(node, ToNode::Task(Box::new(self.plan.task(node)))));
        self.reach(now, node, Stage::Joined);
    }

    /// A node has come so far; what all have waited for happens once the last one has.
    fn reach(&mut self, now: Duration, node: u32, stage: Stage) {
        if self.verdict.is_over() {
            return sometimes("a node came further when the job was over");
        }
        if !self.roster.reach(node, stage) {
            return;
        }
        match stage {
            Stage::Ready => self.send_all(&ToNode::Book(self.roster.addresses())),
            Stage::Linked => {
                self.roster.go();
                self.went = Some(now);
                self.send_all(&ToNode::Go);
            }
            _ => {}
        }
    }

    fn on_step(&mut self, node: u32, steps: Steps) {
        merge(&mut self.steps, steps);
        self.actions.push(Action::Show(self.steps));
        if self.plan.watched.iter().any(|watched| *watched <= steps.done) {
            let due = self.kills.on_step(steps.done);
            self.inject(due);
            let killed = self.roster.injured();
            if !killed.is_empty() {
                sometimes("a step waited until a node was gone");
            }
            self.waiting.push(Waiting { node, step: steps.done, killed });
            self.let_go_on();
        }
    }

    /// Kills nodes as an option asks, if they are still there.
    fn inject(&mut self, due: Vec<Due>) {
        let living = self.roster.living();
        if due.iter().any(|due| !living.contains(&due.node)) {
            sometimes("a node that was to be killed was gone");
        }
        for Due { node, option } in due.into_iter().filter(|due| living.contains(&due.node)) {
            self.kill(node, Doom::Injected(option));
        }
    }

    /// Those who wait at a step go on once the nodes that were to be killed there are gone.
    fn let_go_on(&mut self) {
        let roster = &self.roster;
        let is_gone = |node: &u32| roster[*node].stage == Stage::Gone;
        for waiting in self.waiting.extract_if(.., |waiting| waiting.killed.iter().all(is_gone)) {
            self.actions.push(Action::Send(waiting.node, ToNode::StepSeen(waiting.step)));
        }
    }

    /// A node's program has ended the job.
    fn on_word(&mut self, now: Duration, stop: Stop) {
        if self.verdict.is_over() {
            sometimes("a node ended a job that was over");
        }
        let grace = (stop.status != 0).then_some(GRACE_AFTER_FAILURE);
        self.verdict.on_word(stop);
        self.stop(now, grace);
    }

    fn on_done(&mut self, now: Duration, node: u32, report: NodeReport) {
        let member = &mut self.roster[node];
        member.report = Some(report);
        member.leave_by = now + GRACE_TO_LEAVE;
        member.stage = member.stage.max(Stage::Done);
    }

    fn on_failed(&mut self, now: Duration, node: u32, why: &str) {
        self.lose(now, format!("{}: {why}", self.roster.name(node)));
    }

    fn on_garbled(&mut self, now: Duration, node: u32, what: &str) {
        sometimes("what a node said could not be understood");
        self.kill(node, Doom::Straggler);
        self.on_failed(now, node, what);
    }

    fn on_not_started(&mut self, now: Duration, node: u32, why: &str) {
        sometimes("a node could not be started");
        self.roster[node].stage = Stage::Gone;
        self.lose(now, format!("node {node} of {}: {why}", self.plan.nodes));
    }

    /// Whatever else the verdict may hold of it: a host that is out of reach has not ended in order.
    fn on_lost(&mut self, now: Duration, node: u32, why: String) {
        sometimes("a node was lost with its host");
        self.roster[node].stage = Stage::Gone;
        self.let_go_on();
        self.lose(now, why);
    }

    fn on_ended(&mut self, now: Duration, node: u32, how: How, out_of_memory: impl FnOnce() -> bool) {
        let has_said_all = self.roster[node].stage == Stage::Done;
        self.roster[node].stage = Stage::Gone;
        self.let_go_on();
        // Whoever was told to stop because of a failure may end in any way. After a success each has to have said all.
        let is_success = self.verdict.is_success() && !mutated("loss-at-the-end-unnoticed");
        let was_told = self.verdict.is_over() && !is_success;
        if has_said_all || (was_told && !self.is_news(node)) {
            return;
        }
        if was_told {
            sometimes("the end of a node was the reason for what others complained of");
        }
        let out_of_memory = how == How::Signalled(9) && out_of_memory();
        let fate = self.fate(node, how, out_of_memory).message();
        self.lose(now, fate);
    }

    fn fate(&self, node: u32, how: How, out_of_memory: bool) -> Fate<'_> {
        let member = &self.roster[node];
        let running = self.went.is_some();
        let host = member.host.as_deref();
        Fate { node, pid: member.pid, host, how, running, doom: member.doom.as_ref(), out_of_memory }
    }

    /// Whether the end of a node may be the reason why others complained: it was not killed for being late.
    fn is_news(&self, node: u32) -> bool {
        self.roster[node].doom != Some(Doom::Straggler) && self.verdict.is_symptom()
    }

    fn lose(&mut self, now: Duration, message: String) {
        self.mark_loss();
        self.verdict.on_loss(message);
        self.stop(now, Some(GRACE_AFTER_LOSS));
    }

    fn mark_loss(&self) {
        match () {
            () if self.verdict.is_success() => sometimes("a node was lost after the program had ended well"),
            () if self.verdict.is_over() => sometimes("a node was lost while the job was ending"),
            () if self.went.is_some() => sometimes("a node was lost while the program ran"),
            () => sometimes("a node was lost before the program began"),
        }
    }

    /// Everybody is to stop, and who has not after `grace` is killed; later calls can only bring that nearer.
    fn stop(&mut self, now: Duration, grace: Option<Duration>) {
        if self.deadline.is_none() && !mutated("stop-not-sent") {
            self.send_all(&ToNode::Stop(self.verdict.stop()));
        }
        let by = grace.map_or(Duration::MAX, |grace| now + grace);
        if self.deadline.is_some_and(|deadline| by < deadline) {
            sometimes("the nodes were left less time to stop than they had been");
        }
        self.deadline = Some(self.deadline.map_or(by, |deadline| deadline.min(by)));
    }

    fn on_beat(&mut self, now: Duration) {
        self.send_all(&ToNode::Ping);
        let mut silent = self.roster.tick();
        if mutated("silence-ignored") {
            silent.clear();
        }
        for node in silent {
            self.on_silence(now, node);
        }
    }

    fn on_silence(&mut self, now: Duration, node: u32) {
        sometimes("a node was silent for too long");
        self.kill(node, Doom::Silent(self.plan.silence));
        let fate = self.fate(node, How::Signalled(9), false).message();
        self.lose(now, fate);
    }

    fn on_deadlines(&mut self, now: Duration) {
        let stop_by = self.deadline.unwrap_or(Duration::MAX);
        for node in self.roster.living() {
            if now >= stop_by.min(self.roster[node].leave_by) && !mutated("stragglers-live") {
                self.kill(node, Doom::Straggler);
            }
        }
    }

    /// Kills a node; why it was done first is what counts.
    fn kill(&mut self, node: u32, doom: Doom) {
        let member = &mut self.roster[node];
        if member.doom.is_none() {
            match doom {
                Doom::Straggler if member.stage == Stage::Done => {
                    sometimes("a node was killed that had said all and did not end");
                }
                Doom::Straggler => sometimes("a node was killed that did not stop in time"),
                _ => {}
            }
            member.doom = Some(doom);
            self.actions.push(Action::Kill(node));
        }
    }

    fn send_all(&mut self, message: &ToNode) {
        let living = self.roster.living();
        self.actions.extend(living.into_iter().map(|node| Action::Send(node, message.clone())));
    }
}

/// The exit status of a process that SIGTERM ended.
const SIGTERM_STATUS: i32 = 143;

fn merge(all: &mut Steps, one: Steps) {
    all.done = all.done.max(one.done);
    all.total = all.total.max(one.total);
}
