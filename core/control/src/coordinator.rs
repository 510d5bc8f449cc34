//! Leads a job from its start to its end: what the launcher does about what happens to the nodes.
//!
//! Pure: events and the time go in, actions come out. It starts no process and reads no clock.
//!
//! ```text
//! a node:  Starting → Joined → Ready → Linked → Running → Done → Gone
//! all:     Task when joined, Book when all are ready, Go when all are linked, Stop once the job is over
//! ```
//!
//! `steps` has what happens at the program's steps, `limits` how long everything may take, `surviving` what is
//! different in a job that survives losses, `leaving` how that ends, `arriving` how lost nodes get other processes,
//! `logging` what is different where only what is lost goes back, `releasing` how nodes leave such a job, `growing` how nodes are added,
//! `spreading` that nodes and their keepers stay on several hosts, `layouts` that all are laid out alike, `taking_over` and
//! `leading_on` how one goes on that has lost its launcher.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use crate::event::Event;
use crate::exit_cause::{ExitCause, How, KillReason};
use crate::heartbeat::{LOOK, TICK};
use crate::job_result::Verdict;
use crate::kills::Kills;
use crate::logging::Logging;
use crate::members::{Roster, Stage};
use crate::output_dedup::Printed;
use crate::plan::Plan;
use crate::protocol::{NodeReport, Stop, ToLauncher, ToNode, VERSION};
use crate::recovery::{Halted, Recovery};
use crate::seen::Seen;
use layouts::Layouts;
use requests::Requests;
use spares::Spares;
use talisman_base::layout::mark::LayoutMark;
use talisman_ft::Version;
use talisman_job::lines::Piece;
use talisman_job::progress::Steps;
use talisman_job::{Failure, NotInjected, Results};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_store::restart::Keeping;

/// A lost node ends the job within two seconds, whatever the others do: who has not stopped by then is killed.
const GRACE_AFTER_LOSS: Duration = Duration::from_millis(500);
/// After a failure of the program, or Ctrl-C, entry methods may end what they do.
const GRACE_AFTER_FAILURE: Duration = Duration::from_millis(1500);
/// A node that may leave may take so long to end.
const GRACE_TO_LEAVE: Duration = Duration::from_secs(2);

mod arriving;
mod growing;
mod layouts;
mod leading_on;
mod leaving;
mod limits;
mod logging;
mod looking;
mod releasing;
mod requests;
mod spares;
mod spreading;
mod steps;
mod surviving;
mod taking_over;
#[cfg(test)]
mod tests;
mod writing;

/// What the launcher is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Say something to a node.
    Send(u32, ToNode),
    /// The same, once all is printed that was to be before.
    SendWhenPrinted(u32, ToNode),
    /// Kill a node at once.
    Kill(u32),
    /// Start another process for a node that has none any more.
    Start(u32),
    /// A process that waits, of this number, is this node from now on.
    Use { spare: u32, node: u32 },
    /// Tell people.
    Say(String),
    /// Tell people of a loss, or of what does not go as it should.
    Warn(String),
    /// Show how far the program is.
    Show(Steps),
    /// Answer a request from outside, of this number.
    Answer(u64, Result<String, String>),
    /// Write lines of the program, printed on this node, to standard output: a piece of them, or the last ones of the job.
    Print { node: u32, piece: Option<Piece>, lines: Vec<String> },
}

/// The state of a job.
pub struct Coordinator {
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
    /// The next look at who has been silent.
    look: Duration,
    steps: Steps,
    /// Nodes that wait at a step until others are gone.
    waiting: Vec<steps::Waiting>,
    /// Of a job that survives losses.
    recovery: Option<Recovery>,
    /// Of one that logs its messages, so that only what is lost goes back.
    logging: Option<Logging>,
    /// Of one that does not, and was started again: what had been reported before.
    before: Printed,
    /// Nodes leave, and nothing can be gone back to any more.
    leaves: bool,
    /// Nodes that may not know that yet, after an end in order.
    unsettled: BTreeSet<u32>,
    /// Nodes that are waited for while others halt, as they get another process, and for how long.
    expected: BTreeMap<u32, Duration>,
    spares: Spares,
    layouts: Layouts,
    requests: Requests,
    /// What nodes have said to those who look.
    seen: Seen,
    /// How many processes have been started in place of others.
    lives: u64,
    /// Whose loss ended a job that survives losses, before that had begun.
    early_loss: Option<String>,
    /// What the job goes back to that cannot go on.
    back: Option<Back>,
    actions: Vec<Action>,
}

/// How a job ended, and what is left of it.
pub struct End {
    pub stop: Stop,
    /// What the nodes left behind; those that were lost left nothing.
    pub reports: Vec<NodeReport>,
    pub steps: Steps,
    /// Losses that the job survived, or not.
    pub failures: Vec<Failure>,
    /// Faults that were asked for, and did not happen.
    pub not_injected: Vec<NotInjected>,
    /// Results that came with lines, which those in reports replace.
    pub results: Results,
    /// It ended since this happened before the program had begun, and would survive that once it has: it can be started again.
    pub early_loss: Option<String>,
    /// It logged, and has lost more than can be restored; but nothing was printed since this.
    pub back: Option<Back>,
}

impl End {
    /// Hosts may have gone on with the job: it is not started again beside them.
    pub fn leave_to_others(&mut self) {
        if let Some(Back { version, .. }) = self.back.take() {
            let why = "as hosts that cannot be reached may go on without the others";
            let left = format!("it does not go back to checkpoint {version}, {why}");
            let message = self.stop.message.take();
            self.stop.message = Some(message.map_or(left.clone(), |message| format!("{message}; {left}")));
        }
    }
}

/// A checkpoint on disk that a whole job goes back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Back {
    /// In this folder.
    pub dir: PathBuf,
    /// Which one.
    pub version: Version,
}

impl Coordinator {
    pub fn new(plan: Plan, kills: Kills) -> Self {
        let before = plan.keeping.restart.as_ref().and_then(|restart| restart.layout.as_ref());
        Coordinator {
            layouts: Layouts::known("the processes that the checkpoint is of", before),
            roster: Roster::new(&plan),
            recovery: plan.survives.then(|| Recovery::new(&plan)),
            logging: plan.logs.then(|| Logging::new(&plan)),
            before: Printed::default(),
            leaves: false,
            unsettled: BTreeSet::new(),
            expected: BTreeMap::new(),
            lives: 0,
            early_loss: None,
            back: None,
            spares: Spares::new(plan.nodes, plan.spares),
            requests: Requests::default(),
            seen: Seen::default(),
            plan,
            kills,
            verdict: Verdict::default(),
            went: None,
            deadline: None,
            beat: TICK,
            look: LOOK,
            steps: Steps::default(),
            waiting: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// What is to be done, in this order.
    #[must_use]
    pub fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// Where the job keeps its checkpoints, and what it goes on from.
    pub fn keeping(&self) -> &Keeping {
        &self.plan.keeping
    }

    /// Whether all nodes are gone: there is nothing left to lead.
    pub fn is_over(&self) -> bool {
        self.roster.living().is_empty()
    }

    /// Whether it is known how the job ends.
    pub fn is_ending(&self) -> bool {
        self.verdict.is_over()
    }

    /// Processes that wait to replace others: when all nodes are gone, nobody needs them.
    pub fn waiting(&self) -> Vec<u32> {
        self.spares.waiting().collect()
    }

    /// How it ends, as far as that is known.
    pub fn ending(&self) -> Option<Stop> {
        self.verdict.is_over().then(|| self.verdict.stop())
    }

    /// For how long the program has been running.
    pub fn running_for(&self, now: Duration) -> Duration {
        self.went.map_or(Duration::ZERO, |went| now.saturating_sub(went))
    }

    /// How the job ended.
    pub fn into_end(self) -> End {
        let mut steps = self.steps;
        let mut reports = self.roster.into_reports();
        reports.iter().for_each(|report| merge(&mut steps, report.steps));
        let not_injected = self.kills.not_injected(steps.done);
        let (logged, taken) = self.logging.map(Logging::into_report).unwrap_or_default();
        if let Some(first) = reports.first_mut().filter(|_| !taken.is_empty()) {
            first.checkpoints = taken;
        }
        let (failures, results) =
            self.recovery.map_or_else(|| (logged, self.before.results()), Recovery::into_report);
        let (stop, early_loss, back) = (self.verdict.stop(), self.early_loss, self.back);
        End { stop, reports, steps, failures, not_injected, results, early_loss, back }
    }

    /// Something happened to a node. `out_of_memory` says whether the system has killed anybody for want of memory.
    pub fn on_event(&mut self, now: Duration, node: u32, event: Event, out_of_memory: impl FnOnce() -> bool) {
        let node = self.spares.node_of(node);
        if !self.roster.has(node) {
            return self.on_spare(now, node, event);
        }
        match event {
            Event::Started(pid) => self.roster[node].pid = Some(pid),
            Event::NotStarted(why) => self.on_not_started(now, node, &why),
            Event::Garbled(what) => self.on_garbled(now, node, &what),
            Event::Ended(how) => self.on_ended(now, node, how, out_of_memory),
            Event::Lost(why) => self.on_lost(now, node, why),
            Event::Said(message) => {
                if !mutated("words-not-heard") {
                    self.roster[node].heard(now);
                }
                self.on_message(now, node, message);
            }
        }
    }

    /// Time went by.
    pub fn on_time(&mut self, now: Duration) {
        if now >= self.beat {
            self.beat = now + TICK;
            self.send_all(&ToNode::Ping);
        }
        if now >= self.look {
            self.look = (self.look + LOOK).max(now);
            self.look_for_silence(now);
        }
        if let Some(went) = self.went.filter(|_| !self.verdict.is_over()) {
            let due = self.kills.on_time(now - went, &self.roster.living());
            self.inject(now, due);
        }
        self.settle_suspicions(now);
        self.end_if_all_is_printed(now);
        self.tell_who_is_awaited(now);
        self.tell_who_does_not_end(now);
        self.give_up_waiting(now);
        self.give_up_late_ones(now);
        self.give_up_late_release(now);
        self.on_deadlines(now);
    }

    /// Somebody asks the job to end early, with this exit status.
    pub fn on_interrupt(&mut self, now: Duration, status: i32) {
        sometimes("a job was asked to end early");
        self.verdict.on_failure(status, None);
        self.stop(now, Some(GRACE_AFTER_FAILURE));
    }

    fn on_message(&mut self, now: Duration, node: u32, message: ToLauncher) {
        match message {
            ToLauncher::Hello { version, pid, layout } => self.on_hello(now, node, (version, pid), layout),
            ToLauncher::Ready(address) => {
                self.roster[node].address = address;
                self.reach(now, node, Stage::Ready);
            }
            ToLauncher::Linked => self.reach(now, node, Stage::Linked),
            ToLauncher::Step(steps) => self.on_step(now, node, steps),
            ToLauncher::Ended(stop) if stop.status == 0 && self.is_void(node) => {
                sometimes("an end was overtaken by a loss");
            }
            ToLauncher::Ended(stop) => {
                self.on_word(now, stop);
                self.miss_whoever_is_gone(now);
            }
            ToLauncher::Note(text) => {
                self.actions.push(Action::Say(format!("{}: {text}", self.roster.name(node))))
            }
            ToLauncher::Done(_) if self.is_void(node) => {}
            ToLauncher::Done(report) => self.on_done(now, node, *report),
            ToLauncher::Settled => self.on_settled(now, node),
            ToLauncher::Alive => {}
            ToLauncher::Halted { epoch, held, steps } => {
                self.on_halted(now, node, Halted { epoch, held, steps })
            }
            ToLauncher::Resumed { epoch, steps } => self.on_resumed(now, node, epoch, steps),
            ToLauncher::Checkpointed { asked, checkpoint, not_written } => {
                self.on_checkpointed(now, node, asked, (checkpoint, not_written))
            }
            ToLauncher::Balanced { asked, step } => self.on_balanced(node, asked, &step),
            ToLauncher::Committed { version, contents } => {
                self.seen.on_committed(now, version);
                self.on_committed(version, contents);
            }
            ToLauncher::Figures(figures) => {
                merge(&mut self.steps, figures.steps);
                self.seen.on_figures(node, self.plan.pes, *figures);
            }
            ToLauncher::Suspect { node: of, why } => self.on_suspect(now, node, of, why),
            ToLauncher::Tried { inquiry, missed } => self.on_tried(now, node, inquiry, missed),
            ToLauncher::Lines(lines) => self.on_lines(node, lines),
            ToLauncher::Logging(piece) => self.on_logging(now, node, piece),
            // Said once, before there is a coordinator.
            ToLauncher::Follow(_) => {}
            // Answered beside this.
            ToLauncher::Fetch(_) => {}
            ToLauncher::Failed(why) => self.on_failed(now, node, &why),
            ToLauncher::Terminated => self.on_interrupt(now, SIGTERM_STATUS),
        }
    }

    fn on_hello(&mut self, now: Duration, node: u32, (version, pid): (u16, u32), layout: Option<LayoutMark>) {
        self.roster[node].pid = Some(pid);
        if version != VERSION {
            let why = format!(
                "speaks version {version} of the control connection, the launcher {VERSION}; run one build"
            );
            return self.on_failed(now, node, &why);
        }
        if let Some(why) = self.layouts.on_hello(&self.roster.name(node), layout) {
            return self.on_failed(now, node, &why);
        }
        if self.is_arriving(node) {
            return self.on_arriving_hello(now, node);
        }
        self.actions.push(Action::Send(node, ToNode::Task(Box::new(self.plan.task(node)))));
        self.reach(now, node, Stage::Joined);
    }

    /// A node has come so far; what all have waited for happens once the last one has.
    fn reach(&mut self, now: Duration, node: u32, stage: Stage) {
        if self.verdict.is_over() {
            return sometimes("a node came further when the job was over");
        }
        if self.is_arriving(node) {
            return self.on_arriving(now, node, stage);
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
        let stays = self.recovery.is_some() || self.logging.is_some();
        let member = &mut self.roster[node];
        member.report = Some(report);
        member.leave_by = match stays {
            true if member.released => member.leave_by,
            true => Duration::MAX,
            false => now + GRACE_TO_LEAVE,
        };
        member.stage = member.stage.max(Stage::Done);
        self.let_leave(now);
    }

    fn on_failed(&mut self, now: Duration, node: u32, why: &str) {
        if self.survives() || self.is_being_added(node) {
            // Its end will be the loss, if it is one.
            return self.kill(now, node, KillReason::Failed(why.into()));
        }
        self.lose(now, format!("{}: {why}", self.roster.name(node)));
    }

    fn on_garbled(&mut self, now: Duration, node: u32, what: &str) {
        sometimes("what a node said could not be understood");
        if !self.survives() {
            self.kill(now, node, KillReason::Straggler);
        }
        self.on_failed(now, node, what);
    }

    fn on_not_started(&mut self, now: Duration, node: u32, why: &str) {
        sometimes("a node could not be started");
        if self.logs() {
            return self.on_not_started_logged(now, node, why);
        }
        if self.is_arriving(node) {
            return self.on_arriving_ended(now, node, why);
        }
        self.roster[node].stage = Stage::Gone;
        self.lose(now, format!("node {node} of {}: {why}", self.plan.nodes));
    }

    /// Whatever else the verdict may hold of it: a host that is out of reach has not ended in order.
    fn on_lost(&mut self, now: Duration, node: u32, why: String) {
        sometimes("a node was lost with its host");
        self.lose_spares_beside(node, &why);
        if self.logs() {
            return self.on_lost_logged(now, node, why);
        }
        if self.is_arriving(node) {
            return self.on_arriving_ended(now, node, &why);
        }
        if self.roster[node].stage == Stage::Running && self.had_finished(node) {
            return self.go_on_without_finished(now, node, &why);
        }
        let has_said_all = self.roster[node].stage == Stage::Done;
        let is_missed = !(self.leaves && has_said_all);
        self.roster[node].stage = Stage::Gone;
        self.let_go_on();
        // The others have gone on without it: nobody would go back.
        if has_said_all && self.roster[node].released && self.survives() {
            self.start_added(now);
            return self.let_leave(now);
        }
        match self.survives() {
            true => self.survive(now, self.loss(now, node, why, "host")),
            false if is_missed => {
                self.note_early_loss(&why);
                self.lose(now, why);
            }
            false => self.let_leave(now),
        }
    }

    fn on_ended(&mut self, now: Duration, node: u32, how: How, out_of_memory: impl FnOnce() -> bool) {
        if self.logs() {
            let out_of_memory = how == How::Signalled(9) && out_of_memory();
            return self.on_ended_logged(now, node, how, out_of_memory);
        }
        if self.is_arriving(node) {
            let why = self.fate(node, how, false).in_short();
            return self.on_arriving_ended(now, node, &why);
        }
        let is_killed = matches!(how, How::Signalled(_)) || self.roster[node].doom.is_some();
        if is_killed && self.roster[node].stage == Stage::Running && self.had_finished(node) {
            let what = self.fate(node, how, false).in_short();
            return self.go_on_without_finished(now, node, &what);
        }
        if self.survives_end(node, how) {
            let out_of_memory = how == How::Signalled(9) && out_of_memory();
            return self.go_on_without(now, node, how, out_of_memory);
        }
        let has_said_all = self.roster[node].stage == Stage::Done;
        self.roster[node].stage = Stage::Gone;
        self.let_go_on();
        // Whoever was told to stop because of a failure may end in any way. After a success each has to have said all.
        let is_success = self.verdict.is_success() && !mutated("loss-at-the-end-unnoticed");
        let was_told = self.verdict.is_over() && !is_success;
        if has_said_all || (was_told && !self.is_news(node)) {
            return self.let_leave(now);
        }
        if was_told {
            sometimes("the end of a node was the reason for what others complained of");
        }
        let out_of_memory = how == How::Signalled(9) && out_of_memory();
        let fate = self.fate(node, how, out_of_memory);
        let (message, in_short) = (fate.message(), fate.in_short());
        // Who ends by itself, or says that it cannot go on, would do so again.
        if matches!(how, How::Signalled(_)) && self.roster[node].doom.is_none() && !out_of_memory {
            self.note_early_loss(&in_short);
        }
        self.lose(now, message);
    }

    /// A node was taken from a job that would survive that if it had begun: it is started again if it has not.
    fn note_early_loss(&mut self, what: &str) {
        let survives = self.recovery.is_some() || self.logging.is_some();
        if self.went.is_none() && survives && !self.verdict.is_over() {
            self.early_loss = Some(what.to_owned());
        }
    }

    fn fate(&self, node: u32, how: How, out_of_memory: bool) -> ExitCause<'_> {
        let member = &self.roster[node];
        let running = self.went.is_some();
        let host = member.host.as_deref();
        ExitCause { node, pid: member.pid, host, how, running, doom: member.doom.as_ref(), out_of_memory }
    }

    /// Whether the end of a node may be the reason why others complained: it was not killed for being late.
    fn is_news(&self, node: u32) -> bool {
        self.roster[node].doom != Some(KillReason::Straggler) && self.verdict.is_symptom()
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
}

/// The exit status of a process that SIGTERM ended.
const SIGTERM_STATUS: i32 = 143;

fn merge(all: &mut Steps, one: Steps) {
    all.done = all.done.max(one.done);
    all.total = all.total.max(one.total);
}
