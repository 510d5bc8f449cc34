//! Nodes of a job that logs its messages are released (`talisman shrink`): at a cut, from which the next line begins without them.
//!
//! ```text
//! Expect, to all ─► Checkpoint, to the first ─(Holds, of those that stay)─► Line, to these; Leave, to the others
//! ```
//!
//! Nobody goes back. What is lost before all hold goes back to the old line, with those that were there, and is told again. A cut that does not
//! come is not waited for without end: the nodes stay then.

use std::time::Duration;

use super::{Action, Coordinator};
use crate::logging::Logging;
use crate::logging::messages::ToMember;
use crate::members::Stage;
use crate::messages::nodes_in_words;
use talisman_job::asking::Request;
use talisman_observe::sometimes::sometimes;

/// The next line begins so soon, or with the nodes that there are. An entry may run for long, and nothing is lost if they are asked for again.
pub(super) const BEGINS_WITHIN: Duration = Duration::from_secs(60);

/// Nodes that are to go at the next cut.
pub(super) struct Releasing {
    /// The answer has this number.
    number: u64,
    nodes: Vec<u32>,
    by: Duration,
}

impl Coordinator {
    /// Why nodes of a job that logs can neither be released nor added now.
    pub(super) fn check_change_at_cut(&self) -> Result<(), String> {
        match () {
            () if self.plan.is_recorded => Err("a job that is recorded (--record) keeps its nodes".into()),
            () if self.requests.at_cut.is_some() => {
                Err("nodes are being released already: ask again when they are".into())
            }
            () if self.requests.growing.is_some() => {
                Err("other nodes are being added; ask again when they are there".into())
            }
            () if self.logging.as_ref().is_some_and(Logging::is_gathering) => {
                Err("the job has just lost its launcher: ask again".into())
            }
            () if self.logging.as_ref().is_some_and(Logging::is_ending) => Err("the job ends".into()),
            () => Ok(()),
        }
    }

    pub(super) fn begin_release_at_cut(&mut self, now: Duration, number: u64, nodes: Vec<u32>) {
        let plan = &self.plan;
        let is_to_be = self
            .logging
            .as_mut()
            .is_some_and(|logging| logging.release(&nodes, |node| plan.host_number(node)));
        if !is_to_be {
            let why = "a job that logs (--ft logging) needs two nodes, each of which keeps what the other was given";
            return self.actions.push(Action::Answer(number, Err(why.into())));
        }
        self.requests.at_cut = Some(Releasing { number, nodes, by: now + BEGINS_WITHIN });
        self.tell_coming();
        self.ask_for_cut_to_release();
    }

    /// Whoever was asked for the cut may have been lost.
    pub(super) fn ask_for_cut_to_release(&mut self) {
        if let Some(Releasing { nodes, .. }) = &self.requests.at_cut {
            self.ask_for_checkpoint(&Request::Shrink(nodes.clone()));
        }
    }

    /// All are told who is to be there in the next line, if these are others.
    pub(super) fn tell_coming(&mut self) {
        self.those_running().into_iter().for_each(|node| self.tell_coming_to(node));
    }

    pub(super) fn tell_coming_to(&mut self, node: u32) {
        if let Some(coming) = self.logging.as_ref().and_then(Logging::coming).cloned() {
            self.tell_logged(node, &ToMember::Expect(coming));
        }
    }

    /// A node is told that the line has begun that it is in.
    pub(super) fn tell_line(&mut self, node: u32) {
        let Some(logging) = &self.logging else { return };
        let (version, membership) = (logging.line(), logging.membership().clone());
        self.tell_logged(node, &ToMember::Line { version, membership });
    }

    /// The next line has begun: whoever is not there in it may go.
    pub(super) fn let_go_released(&mut self, now: Duration) {
        let Some(logging) = &self.logging else { return };
        let view = &logging.membership().view;
        let released = self.those_running().into_iter().filter(|node| !view.is_there(*node)).collect();
        self.release(now, released);
        if let Some(Releasing { number, nodes, .. }) = self.requests.at_cut.take() {
            let text = format!("the job goes on without {}", nodes_in_words(&nodes));
            self.actions.push(Action::Say(format!("{text}; nobody went back")));
            self.actions.push(Action::Answer(number, Ok(text)));
        }
    }

    /// Whether a process has ended whose node was released: nobody needs it.
    pub(super) fn has_gone_released(&mut self, now: Duration, node: u32) -> bool {
        let is_released = self.roster[node].released && self.roster[node].stage == Stage::Done;
        if is_released {
            self.roster[node].stage = Stage::Gone;
            self.start_added(now);
            self.let_leave(now);
        }
        is_released
    }

    /// A cut that does not come in time is not waited for any longer.
    pub(super) fn give_up_late_release(&mut self, now: Duration) {
        if self.requests.at_cut.as_ref().is_some_and(|releasing| releasing.by <= now) {
            sometimes("nodes were not released since there was no checkpoint in time");
            self.keep_nodes(&format!(
                "there was no checkpoint within {BEGINS_WITHIN:?} from which the others go on"
            ));
        }
    }

    /// Nodes that were to be released stay.
    pub(super) fn keep_nodes(&mut self, why: &str) {
        let Some(Releasing { number, .. }) = self.requests.at_cut.take() else { return };
        self.take_back_coming();
        self.actions.push(Action::Answer(number, Err(why.into())));
    }

    /// The next line is to have those that are there now.
    pub(super) fn take_back_coming(&mut self) {
        let plan = &self.plan;
        self.logging.iter_mut().for_each(|logging| logging.keep_nodes(|node| plan.host_number(node)));
        self.tell_coming();
    }
}
