//! How long what may take: silence, the end, and the kills of whoever takes longer.

use std::time::Duration;

use super::{Action, Coordinator};
use crate::exit_cause::{How, KillReason};
use crate::members::Stage;
use crate::protocol::ToNode;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// A process that is killed ends within milliseconds, or seconds if it has much memory.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

impl Coordinator {
    /// Everybody is to stop, and who has not after `grace` is killed; later calls can only bring that nearer.
    pub(super) fn stop(&mut self, now: Duration, grace: Option<Duration>) {
        if self.deadline.is_none() && !mutated("stop-not-sent") {
            self.send_all(&ToNode::Stop(self.verdict.stop()));
        }
        self.keep_nodes("the job ends");
        match self.verdict.is_success() {
            true => self.give_up_growing(now, "the job ends"),
            false => self.refuse_requests(now, "the job ends"),
        }
        let by = grace.map_or(Duration::MAX, |grace| now + grace);
        if self.deadline.is_some_and(|deadline| by < deadline) {
            sometimes("the nodes were left less time to stop than they had been");
        }
        self.deadline = Some(self.deadline.map_or(by, |deadline| deadline.min(by)));
        self.let_leave(now);
    }

    pub(super) fn look_for_silence(&mut self, now: Duration) {
        let mut silent = self.roster.look();
        if mutated("silence-ignored") {
            silent.clear();
        }
        for node in silent {
            self.on_silence(now, node);
        }
    }

    pub(super) fn on_silence(&mut self, now: Duration, node: u32) {
        sometimes("a node was silent for too long");
        if self.survives() && mutated("silent-counts-as-dead") {
            return self.on_lost(now, node, format!("node {node} was silent"));
        }
        self.kill(now, node, KillReason::Silent(self.plan.silence));
        if self.survives() || self.logs() || self.roster[node].stage == Stage::Done {
            // What is not proved dead might go on: its end will be the loss, unless it has said all.
            return;
        }
        let fate = self.fate(node, How::Signalled(9), false);
        let (message, in_short) = (fate.message(), fate.in_short());
        self.note_early_loss(&in_short);
        self.lose(now, message);
    }

    pub(super) fn on_deadlines(&mut self, now: Duration) {
        let stop_by = self.deadline.unwrap_or(Duration::MAX);
        for node in self.roster.living() {
            if now >= stop_by.min(self.roster[node].leave_by) && !mutated("stragglers-live") {
                self.kill(now, node, KillReason::Straggler);
            }
        }
    }

    /// Kills a node; why it was done first is what counts.
    pub(super) fn kill(&mut self, now: Duration, node: u32, doom: KillReason) {
        let member = &mut self.roster[node];
        if member.doom.is_none() {
            match doom {
                KillReason::Straggler if member.stage == Stage::Done => {
                    sometimes("a node was killed that had said all and did not end");
                }
                KillReason::Straggler => sometimes("a node was killed that did not stop in time"),
                _ => {}
            }
            (member.doom, member.doomed_at, member.remind_at) = (Some(doom), now, now + ENDS_WITHIN);
            self.actions.push(Action::Kill(node));
        }
    }

    /// The end of a process that is killed is waited for, as what is not proved dead could go on. The system may keep one for long that
    /// waits for a disk: people are told, after ten seconds and then each time after twice as long.
    pub(super) fn tell_who_does_not_end(&mut self, now: Duration) {
        for node in self.roster.living() {
            let member = &mut self.roster[node];
            if now < member.remind_at {
                continue;
            }
            let since = now.saturating_sub(member.doomed_at);
            member.remind_at = now + since;
            let (whom, seconds) = (self.roster.name(node), since.as_secs());
            sometimes("a node that was killed did not end for long");
            self.actions.push(Action::Warn(format!(
                "{whom} was killed {seconds} s ago and has not ended, which is waited for: does it wait for a disk, or a \
                 network file system?"
            )));
        }
    }

    pub(super) fn send_all(&mut self, message: &ToNode) {
        let living = self.roster.living();
        self.actions.extend(living.into_iter().map(|node| Action::Send(node, message.clone())));
    }
}
