//! What happens at the program's steps: nodes are killed at some, and whoever has reported one waits for that.

use std::time::Duration;

use super::{Action, Coordinator, merge};
use crate::exit_cause::KillReason;
use crate::kills::Due;
use crate::members::Stage;
use crate::protocol::ToNode;
use talisman_job::progress::Steps;
use talisman_observe::sometimes::sometimes;

/// A node that goes on after this step once the others are gone.
pub(super) struct Waiting {
    node: u32,
    step: u64,
    killed: Vec<u32>,
}

impl Coordinator {
    pub(super) fn on_step(&mut self, now: Duration, node: u32, steps: Steps) {
        merge(&mut self.steps, steps);
        self.actions.push(Action::Show(self.steps));
        if self.plan.watched.iter().any(|watched| *watched <= steps.done) {
            let due = self.kills.on_step(steps.done);
            self.inject(now, due);
            let killed = self.roster.injured();
            if !killed.is_empty() {
                sometimes("a step waited until a node was gone");
            }
            self.waiting.push(Waiting { node, step: steps.done, killed });
            self.let_go_on();
        }
    }

    /// Kills nodes as an option asks, if they are still there.
    pub(super) fn inject(&mut self, now: Duration, due: Vec<Due>) {
        let living = self.roster.living();
        for due in due {
            if !living.contains(&due.node) {
                sometimes("a node that was to be killed was gone");
                self.kills.on_missed(due);
                continue;
            }
            let Due { node, option } = due;
            self.kill(now, node, KillReason::Injected(option));
        }
    }

    /// Those who wait at a step go on once the nodes that were to be killed there are gone.
    pub(super) fn let_go_on(&mut self) {
        let roster = &self.roster;
        self.waiting.retain(|waiting| roster[waiting.node].stage != Stage::Gone);
        let is_gone = |node: &u32| roster[*node].stage == Stage::Gone;
        for waiting in self.waiting.extract_if(.., |waiting| waiting.killed.iter().all(is_gone)) {
            self.actions.push(Action::Send(waiting.node, ToNode::StepSeen(waiting.step)));
        }
    }
}
