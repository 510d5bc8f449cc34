//! What the launcher does about losses of a job that survives them (`--ft`).
//!
//! A loss between `Go` and `Leave` sets off what the leader decides (`talisman_ft::double::leader`): all halt, say what they hold, and go on
//! from a checkpoint. An end in order that had been announced does not hold any more then: the program ends again. So a
//! node that has stopped stays until all have, and nothing is left that a loss could take away.

use std::time::Duration;

use talisman_ft::double::{Contents, Order, leader};
use talisman_ft::{Epoch, Version};

use crate::protocol::{Stop, ToNode};
use talisman_job::lines::Lines;

use super::{Action, Coordinator, GRACE_AFTER_LOSS};
use crate::exit_cause::{How, KillReason};
use crate::failure_detector::{Step, Suspect};
use crate::job_result::{UNRECOVERABLE, Verdict};
use crate::members::Stage;
use crate::recovery::{Halted, Loss, Recovery, Unnoticed, detected_by};
use talisman_job::lines::Piece;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

impl Coordinator {
    /// Whether the job goes on if a node is lost now.
    pub(super) fn survives(&self) -> bool {
        let is_failing = self.verdict.is_over() && !self.verdict.is_success();
        self.recovery.is_some() && self.went.is_some() && !is_failing && !self.leaves
    }

    /// Whether what this node says of its program does not hold, as it did not know of a loss then.
    pub(super) fn is_void(&self, node: u32) -> bool {
        self.survives() && self.recovery.as_ref().is_some_and(|recovery| recovery.is_void(node))
    }

    /// A process has ended that was not to. One that left by itself would do so again: that is no loss of a machine.
    pub(super) fn survives_end(&self, node: u32, how: How) -> bool {
        let is_own_doing = matches!(how, How::Exited(_)) && self.roster[node].doom.is_none();
        self.survives() && (!is_own_doing || self.roster[node].stage == Stage::Done)
    }

    /// A process has ended, and the job goes on without it. Whoever had said all has left nothing that is missing.
    pub(super) fn go_on_without(&mut self, now: Duration, node: u32, how: How, out_of_memory: bool) {
        let has_said_all = self.roster[node].stage == Stage::Done;
        self.roster[node].stage = Stage::Gone;
        self.let_go_on();
        if has_said_all || mutated("loss-before-done-is-none") && self.verdict.is_success() {
            sometimes("a node was lost after it had said all");
            self.start_added(now);
            return self.let_leave(now);
        }
        let what = self.fate(node, how, out_of_memory).in_short();
        let doom = self.roster[node].doom.as_ref();
        let (detected, is_own_fault) =
            (detected_by(doom), doom.is_none() && (how.is_own_fault() || out_of_memory));
        self.survive(now, Loss { is_own_fault, ..self.loss(now, node, what, detected) });
    }

    /// What is known now of a node that is lost, and of when that happened.
    pub(super) fn loss(&self, now: Duration, node: u32, what: String, detected: &'static str) -> Loss {
        let member = &self.roster[node];
        let unnoticed = match &member.doom {
            Some(KillReason::Silent(limit)) => Unnoticed::For(*limit),
            Some(KillReason::Injected(_)) => Unnoticed::For(now.saturating_sub(member.doomed_at)),
            Some(KillReason::Suspected { .. }) => Unnoticed::Nothing,
            Some(KillReason::Straggler | KillReason::Failed(_)) | None => {
                Unnoticed::Within(now.saturating_sub(member.heard_at))
            }
        };
        let complaint = match &member.doom {
            Some(KillReason::Suspected { why, .. } | KillReason::Failed(why)) => Some(why.clone()),
            _ => None,
        };
        Loss { node, what, detected, unnoticed, is_own_fault: false, complaint }
    }

    /// A node is lost, and everybody else goes back.
    pub(super) fn survive(&mut self, now: Duration, loss: Loss) {
        self.mark_loss();
        let is_told = self.recovery.as_ref().is_some_and(|recovery| recovery.has_told(&loss.what));
        if !is_told && !self.roster.living().is_empty() {
            self.actions.push(Action::Warn(format!("{}; the others go back", loss.what)));
        }
        if !mutated("end-not-withdrawn") {
            self.withdraw_end();
        }
        let node = loss.node;
        let (time, gone, steps) = (self.running_for(now), self.roster.gone(), self.steps.done);
        self.lead(time, |recovery| recovery.lose(time, loss, steps, gone));
        self.replace(now, node);
    }

    pub(super) fn on_halted(&mut self, now: Duration, node: u32, halted: Halted) {
        let time = self.running_for(now);
        self.lead(time, |recovery| recovery.on_halted(time, node, halted));
        if let Some(why) = self.recovery.as_mut().and_then(Recovery::take_hopeless) {
            sometimes("a job ended since it would have been lost again and again");
            self.verdict.on_loss(why);
            self.stop(now, Some(GRACE_AFTER_LOSS));
        }
    }

    pub(super) fn on_committed(&mut self, version: Version, contents: Vec<(u32, Contents)>) {
        if let Some(recovery) = &mut self.recovery {
            recovery.on_committed(version, contents);
        }
    }

    pub(super) fn on_resumed(&mut self, now: Duration, node: u32, epoch: Epoch, steps: u64) {
        let now = self.running_for(now);
        self.lead(now, |recovery| recovery.on_resumed(node, epoch, steps));
    }

    /// A node cannot reach another. Those that are doomed have nothing to complain of.
    pub(super) fn on_suspect(&mut self, now: Duration, by: u32, of: u32, why: String) {
        if self.leaves {
            return sometimes("a node complained of another when nobody needed that one any more");
        }
        if self.logs() && self.roster.has(of) && self.roster[of].stage != Stage::Running {
            return sometimes("a node of a job that logs complained of one that was lost");
        }
        if !self.survives() {
            return self.on_word(now, Stop { status: UNRECOVERABLE, message: Some(why) });
        }
        if let Some(recovery) = &mut self.recovery {
            sometimes("a node complained of another");
            recovery.suspicions.hear(by, of, why);
        }
        self.settle_suspicions(now);
    }

    /// A node has tried its connections, as it was asked.
    pub(super) fn on_tried(&mut self, now: Duration, by: u32, inquiry: u32, missed: Vec<u32>) {
        if !missed.is_empty() {
            sometimes("a node found that it cannot reach another, when it was asked");
        }
        self.recovery
            .iter_mut()
            .for_each(|recovery| recovery.suspicions.on_tried(by, inquiry, missed.clone()));
        self.settle_suspicions(now);
    }

    /// Asks who can reach whom if anybody complains, and kills those that have to go because others cannot reach them; their ends
    /// will be losses.
    pub(super) fn settle_suspicions(&mut self, now: Duration) {
        let undoomed = |node: &u32| self.roster[*node].doom.is_none();
        let living: Vec<u32> = self.roster.living().into_iter().filter(undoomed).collect();
        let Some(recovery) = &mut self.recovery else { return };
        let (roster, plan) = (&self.roster, &self.plan);
        let has_begun = |node: u32| roster[node].stage >= Stage::Running;
        match recovery.suspicions.settle(now, &living, has_begun, |node| plan.host_number(node)) {
            Step::Wait => {}
            Step::Ask(inquiry, nodes) => {
                let ask = |node| Action::Send(node, ToNode::Try { inquiry });
                self.actions.extend(nodes.into_iter().map(ask));
            }
            Step::LetGo(suspects) => {
                if suspects.len() > 1 {
                    sometimes("several nodes had to go at once, as others could not reach them");
                }
                for Suspect { node, by, why } in suspects {
                    self.kill(now, node, KillReason::Suspected { by, why });
                }
            }
        }
    }

    /// Nobody has to guess what a job is at that goes back and says nothing.
    pub(super) fn tell_who_is_awaited(&mut self, now: Duration) {
        if !self.survives() {
            return;
        }
        let line = self.recovery.as_mut().and_then(|recovery| recovery.on_time(now));
        self.actions.extend(line.map(Action::Warn));
    }

    /// Somebody says lines of the program that will not be done again, or not unless the job goes back. In a job that survives nothing, it is
    /// what had been reported before the checkpoint from which that was started again.
    pub(super) fn on_lines(&mut self, node: u32, lines: Lines) {
        if self.recovery.is_none() {
            self.before.hear(lines);
            return;
        }
        let (version, of, piece) = (lines.version, lines.node, lines.piece);
        // What was done since the cut on a node that was released is done again elsewhere.
        let is_void = version.is_none() && (self.is_void(node) || self.roster[node].released);
        let Some(recovery) = self.recovery.as_mut().filter(|_| !is_void) else { return };
        let printed = recovery.printed.hear(lines);
        version.iter().for_each(|version| recovery.on_printed(*version));
        self.print(of, version.map(|version| (version, of, piece)), printed);
        if let Some(version) = version {
            self.actions.push(Action::Send(node, ToNode::LinesSeen { version, node: of, piece }));
        }
        if self.recovery.is_some() && !self.survives() {
            self.print_the_rest();
        }
    }

    /// What was said of the job's end does not hold.
    fn withdraw_end(&mut self) {
        if self.verdict.is_over() {
            sometimes("a job that was ending well went back");
        }
        self.verdict = Verdict::default();
        self.deadline = None;
        self.roster.run_again();
    }

    pub(super) fn lead(&mut self, now: Duration, hear: impl FnOnce(&mut Recovery) -> Vec<leader::Action>) {
        if !self.survives() {
            return;
        }
        let actions = self.recovery.as_mut().map(hear).unwrap_or_default();
        actions.into_iter().for_each(|action| self.carry_out(now, action));
    }

    pub(super) fn carry_out(&mut self, now: Duration, action: leader::Action) {
        match action {
            leader::Action::Halt { to, epoch, lost } => {
                self.tell_losses(to);
                self.actions.push(Action::Send(to, ToNode::Halt { epoch, lost }));
            }
            leader::Action::Resume { to, order } => {
                let places = self.roster.places(|node| self.plan.host_number(node));
                if !places.is_empty() {
                    self.actions.push(Action::Send(to, ToNode::Places(places)));
                }
                self.hand_over_what_was_printed(to, &order);
                self.actions.push(Action::Send(to, ToNode::Resume(Box::new(order))));
            }
            leader::Action::Recovered { version, .. } => {
                if let Some(recovery) = &mut self.recovery {
                    self.steps.done = recovery.steps();
                    self.actions.push(Action::Say(recovery.settle(now, version)));
                }
                let running = self.roster.living().into_iter();
                let running = running.filter(|node| self.roster[*node].stage >= Stage::Running);
                running.collect::<Vec<_>>().into_iter().for_each(|node| self.tell_losses(node));
                self.go_on_with_requests();
            }
            leader::Action::Release(nodes) => self.release(now + self.went.unwrap_or_default(), nodes),
            leader::Action::GiveUp(lost) => {
                let why = self.recovery.as_ref().map(|recovery| recovery.give_up(&lost)).unwrap_or_default();
                self.verdict.on_loss(why);
                self.stop(now + self.went.unwrap_or_default(), Some(GRACE_AFTER_LOSS));
            }
        }
    }

    /// Whoever takes up another node's part may say its lines again, and next to a launcher that does not know them: the other one, which
    /// knew that they are printed, is lost or about to leave.
    fn hand_over_what_was_printed(&mut self, to: u32, order: &Order) {
        let Some(recovery) = self.recovery.as_ref() else { return };
        for node in order.restore.iter().copied().filter(|node| *node != to) {
            let seen = |(version, piece)| Action::Send(to, ToNode::LinesSeen { version, node, piece });
            self.actions.extend(recovery.printed.of(node).map(seen));
        }
    }

    /// Whoever leads next has it of the nodes which losses the job has had.
    pub(super) fn tell_losses(&mut self, node: u32) {
        let told = &mut self.roster[node].losses_told;
        let from = *told as u32;
        let (losses, settled) = match (&self.recovery, &self.logging) {
            (Some(recovery), _) => (recovery.losses_after(*told), recovery.settled_losses()),
            (None, Some(logging)) => (logging.losses_after(*told), logging.settled_losses()),
            (None, None) => return,
        };
        *told = settled;
        if !losses.is_empty() {
            self.actions.push(Action::Send(node, ToNode::Losses { from, losses }));
        }
    }

    pub(super) fn print_the_rest(&mut self) {
        let rest = self.recovery.as_mut().map(|recovery| recovery.printed.end()).unwrap_or_default();
        rest.into_iter().for_each(|(node, lines)| self.print(node, None, lines));
    }

    fn print(&mut self, node: u32, piece: Option<Piece>, lines: Vec<String>) {
        if !lines.is_empty() {
            self.actions.push(Action::Print { node, piece, lines });
        }
    }
}
