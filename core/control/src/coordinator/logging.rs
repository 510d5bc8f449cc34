//! What the launcher does about losses of a job that logs its messages (`--ft logging`): only what is lost goes back.
//!
//! ```text
//! a node is lost ─► Start ─(Hello)─► Task ─(Ready)─► Book ─(Linked)─► Go ─► Restore ─(AtHorizon)─► GoLive
//!                └─► Ask ─(Held, of all others)──────────────┴─► Announce ─(Announced)─┘
//! ```
//!
//! The others run all the while. What becomes of whom is decided by `talisman_ft::logging::Leader`.

use std::collections::VecDeque;
use std::time::Duration;

use talisman_ft::logging::{LogId, Loss, Order};

use super::arriving::COMES_WITHIN;
use super::{Action, Back, Coordinator, GRACE_AFTER_FAILURE, GRACE_AFTER_LOSS};
use crate::exit_cause::{How, KillReason};
use crate::logging::fragments::{WordPiece, pieces_of};
use crate::logging::messages::{FromMember, Said, ToMember};
use crate::logging::succession::piece_of;
use crate::logging::{Begin, Logging};
use crate::members::Stage;
use crate::protocol::{NodeReport, Place, Stop, ToNode};
use crate::recovery::{Loss as LostNode, Unnoticed, detected_by};
use talisman_job::Failure;
use talisman_observe::sometimes::sometimes;

impl Coordinator {
    /// Whether a node that is lost now is restored, and nobody else goes back.
    pub(super) fn logs(&self) -> bool {
        self.logging.is_some() && self.went.is_some() && !self.verdict.is_over()
    }

    /// A process of such a job has ended.
    pub(super) fn on_ended_logged(&mut self, now: Duration, node: u32, how: How, out_of_memory: bool) {
        let why = self.fate(node, how, out_of_memory).in_short();
        if self.has_gone_released(now, node) || self.has_gone_before_it_came(now, node, &why) {
            return;
        }
        let doom = self.roster[node].doom.as_ref();
        let is_own_doing = matches!(how, How::Exited(_)) && doom.is_none();
        let is_own_fault = doom.is_none() && (how.is_own_fault() || out_of_memory);
        let (fate, detected) = (self.fate(node, how, out_of_memory), detected_by(doom));
        let (message, what) = (fate.message(), fate.in_short());
        if is_own_doing && !self.is_arriving(node) {
            self.roster[node].stage = Stage::Gone;
            return self.lose(now, message);
        }
        let steps = self.steps.done;
        let is_loop =
            is_own_fault && self.logging.as_mut().is_some_and(|logging| logging.is_crash_loop(steps));
        if is_loop {
            sometimes("a job that logs ended since it would have been lost again and again");
            self.roster[node].stage = Stage::Gone;
            let why = "as its processes have ended by faults of their own several times, and the job came no further";
            return self.lose(now, format!("{what}; the job ends, {why}"));
        }
        let lost = self.loss(now, node, what, detected);
        self.go_on_logged(now, node, lost);
    }

    /// Whether a node that is lost now had nothing left to do: the job has come to its end, and all that the node had to say is known.
    pub(super) fn had_finished(&self, node: u32) -> bool {
        let has_said_all = self.roster[node].report.is_some();
        self.logging.is_some() && self.verdict.is_success() && has_said_all
    }

    /// Such a node is gone.
    pub(super) fn go_on_without_finished(&mut self, now: Duration, node: u32, what: &str) {
        self.roster[node].stage = Stage::Gone;
        self.let_go_on();
        self.actions
            .push(Action::Warn(format!("{what}; the job had come to its end, and nothing is missing")));
        self.let_leave(now);
    }

    /// A node's host is out of reach.
    pub(super) fn on_lost_logged(&mut self, now: Duration, node: u32, why: String) {
        if self.has_gone_released(now, node) || self.has_gone_before_it_came(now, node, &why) {
            return;
        }
        let lost = self.loss(now, node, why, "host");
        self.go_on_logged(now, node, lost);
    }

    /// No process could be started for a node.
    pub(super) fn on_not_started_logged(&mut self, now: Duration, node: u32, why: &str) {
        if self.has_gone_before_it_came(now, node, why) {
            return;
        }
        let lost = self.loss(now, node, format!("node {node} could not be started again: {why}"), "exit");
        self.go_on_logged(now, node, lost);
    }

    /// A node has no process any more, and gets another one.
    fn go_on_logged(&mut self, now: Duration, node: u32, lost: LostNode) {
        let was_to_end = self.logging.as_mut().is_some_and(|logging| logging.take_wanted(node));
        self.roster[node].stage = Stage::Gone;
        self.expected.remove(&node);
        self.let_go_on();
        if was_to_end {
            return self.start_logged(now, node);
        }
        sometimes("a node of a job that logs was lost");
        let failure = failure(node, &lost, self.running_for(now));
        let Some(logging) = &mut self.logging else { return };
        let orders = logging.lose(failure, node);
        if logging.is_hopeless(node) {
            let why = format!(
                "{}; node {node} cannot be replaced: its last processes were lost as well",
                lost.what
            );
            return self.lose(now, why);
        }
        self.actions.push(Action::Warn(format!("{}; it alone goes back", lost.what)));
        self.carry_out_logged(now, orders);
        self.lead_on(now);
    }

    fn start_logged(&mut self, now: Duration, node: u32) {
        self.expected.insert(node, now + COMES_WITHIN);
        self.start_another(now, node);
    }

    /// A process is there that has taken a lost node's place, and is linked with nobody.
    pub(super) fn on_arrived_logged(&mut self, now: Duration, node: u32) {
        let orders = self.logging.as_mut().map(|logging| logging.on_arrived(node)).unwrap_or_default();
        self.carry_out_logged(now, orders);
    }

    /// A piece of what a node says has come. What comes of a process after its end does not count: the next one says it again.
    pub(super) fn on_logging(&mut self, now: Duration, node: u32, piece: WordPiece) {
        let is_heard = !self.verdict.is_over() && self.roster[node].stage == Stage::Running;
        let Some(logging) = self.logging.as_mut().filter(|_| is_heard) else { return };
        match logging.joined(node).push(piece) {
            Ok(None) => {}
            Ok(Some(word)) => self.on_logged_word(now, node, word),
            Err(error) => self.on_garbled(now, node, &format!("says what cannot be understood: {error}")),
        }
    }

    fn on_logged_word(&mut self, now: Duration, node: u32, word: FromMember) {
        match word {
            FromMember::Standing { standing, end, took } => {
                self.on_standing(now, node, (*standing, end, took))
            }
            // It says it again when it is asked what it holds.
            _ if self.logging.as_ref().is_some_and(Logging::is_gathering) => {}
            FromMember::Said { rank, .. } if rank >= self.plan.pes => {
                self.on_garbled(now, node, &format!("speaks of its PE {rank}, which it does not have"));
            }
            FromMember::Said { rank, number, said } => {
                self.on_said_logged(now, LogId { node, rank }, number, said);
            }
            FromMember::Finished(results) => {
                // Nothing else of it would be missed.
                self.roster[node].report = Some(NodeReport { results, ..NodeReport::default() });
                self.logging.iter_mut().for_each(|logging| logging.on_finished(node));
                self.end_if_all_is_printed(now);
            }
            FromMember::Holds { version, session, membership, contents } => {
                let of = (session, membership);
                self.logging
                    .iter_mut()
                    .for_each(|logging| logging.on_holds(node, version, of, contents.clone()));
                self.begin_line_if_all_hold(now);
            }
            FromMember::Written { version, wrong } => self.on_written_logged(node, version, wrong),
            FromMember::Took(taken) => {
                self.logging.iter_mut().for_each(|logging| logging.on_took((*taken).clone()))
            }
            other => {
                let orders = self.logging.as_mut().map(|logging| logging.on_word(node, other));
                self.carry_out_logged(now, orders.unwrap_or_default());
            }
        }
    }

    /// The cut that all hold is committed by that, at one moment: whoever is lost from now on goes back to it.
    fn begin_line_if_all_hold(&mut self, now: Duration) {
        let Some((version, orders)) = self.logging.as_mut().and_then(Logging::begin_line) else { return };
        self.let_go_released(now);
        self.take_in_added();
        self.those_running().into_iter().for_each(|node| self.tell_line(node));
        self.write_line(version);
        self.ask_for_balance_again();
        self.carry_out_logged(now, orders);
        self.spread_keepers();
        self.ask_for_cut_to_spread();
    }

    /// A program has said something that no loss takes back. Restored nodes say it once more.
    fn on_said_logged(&mut self, now: Duration, log: LogId, number: u64, said: Said) {
        let node = log.node;
        let Some(logging) = &mut self.logging else { return };
        if logging.is_news(log, number) {
            match said {
                Said::Line(line) => {
                    let piece = piece_of(&self.plan, logging.line(), log, number);
                    self.actions.push(Action::Print { node, piece: Some(piece), lines: vec![line] });
                }
                Said::End(stop) => self.on_end_logged(now, stop),
            }
        } else {
            sometimes("a restored node said what had been printed");
        }
        self.tell_what_is_printed(log);
    }

    /// The program ends the job: all that has been said is printed first.
    pub(super) fn on_end_logged(&mut self, now: Duration, stop: Stop) {
        let by = (stop.status != 0).then_some(now + GRACE_AFTER_FAILURE);
        let is_first = self.logging.as_mut().is_some_and(|logging| logging.on_end(stop.clone(), by));
        if is_first {
            let word = ToMember::Finish(stop);
            self.those_running().into_iter().for_each(|node| self.tell_logged(node, &word));
        }
    }

    /// Also when time goes by: a failure is waited for only so long.
    pub(super) fn end_if_all_is_printed(&mut self, now: Duration) {
        let end = self.logging.as_mut().filter(|_| !self.verdict.is_over());
        if let Some(stop) = end.and_then(|logging| logging.take_end(now)) {
            self.on_word(now, stop);
        }
    }

    pub(super) fn those_running(&self) -> Vec<u32> {
        let mut running = self.roster.living();
        running.retain(|node| self.roster[*node].stage == Stage::Running);
        running
    }

    /// What the leader wants is done. Who is there already when it is to begin once more has arrived.
    pub(super) fn carry_out_logged(&mut self, now: Duration, orders: Vec<Order>) {
        let mut orders = VecDeque::from(orders);
        while let Some(order) = orders.pop_front() {
            match order {
                Order::Start { node, incarnation } => {
                    orders.extend(self.begin_logged(now, node, incarnation));
                }
                Order::Degraded(false) => self.settle_logged(now),
                Order::GiveUp(loss) => return self.give_up_logged(now, &loss),
                Order::Degraded(true) | Order::Forget { .. } => {}
                Order::Ask { to, .. } => {
                    self.tell_losses(to);
                    self.order_logged(to, order, Vec::new());
                }
                Order::Announce { to, .. } => self.order_where_all_are(to, order),
                Order::Restore { to, .. } => {
                    self.order_where_all_are(to, order);
                    self.tell_keeper_what_is_printed(to);
                }
                Order::GoLive { to, .. } => {
                    self.order_logged(to, order, Vec::new());
                    self.tell_coming_to(to);
                    self.write_line_again(to);
                    if let Some(stop) = self.logging.as_ref().and_then(Logging::ending) {
                        let word = ToMember::Finish(stop.clone());
                        self.tell_logged(to, &word);
                    }
                }
            }
        }
        self.end_if_all_is_printed(now);
    }

    fn begin_logged(&mut self, now: Duration, node: u32, incarnation: u32) -> Vec<Order> {
        let stage = self.roster[node].stage;
        let Some(logging) = &mut self.logging else { return Vec::new() };
        match logging.begin(node, incarnation, stage < Stage::Gone) {
            Begin::Start => self.start_logged(now, node),
            Begin::End => self.kill(now, node, KillReason::Straggler),
            Begin::Stay if stage == Stage::Running => return logging.on_arrived(node),
            Begin::Stay => {}
        }
        Vec::new()
    }

    fn order_where_all_are(&mut self, to: u32, order: Order) {
        let mut places = self.roster.places(|node| self.plan.host_number(node));
        places.retain(|place| !self.roster[place.node].released);
        self.order_logged(to, order, places);
    }

    fn order_logged(&mut self, to: u32, order: Order, places: Vec<Place>) {
        self.logging.iter_mut().for_each(|logging| logging.told(&order));
        let line = self.logging.as_ref().map_or(0, Logging::line);
        self.tell_logged(to, &ToMember::Order { order, places, line });
    }

    pub(super) fn tell_logged(&mut self, node: u32, word: &ToMember) {
        match pieces_of(word) {
            Ok(pieces) => {
                // Whoever begins again from what is written does not print again what was printed before; and who knows that something is
                // printed forgets it.
                let is_later = matches!(word, ToMember::Write { .. } | ToMember::Printed { .. });
                let how = if is_later { Action::SendWhenPrinted } else { Action::Send };
                let send = |piece| how(node, ToNode::Logging(piece));
                self.actions.extend(pieces.into_iter().map(send));
            }
            Err(error) => {
                self.actions.push(Action::Warn(format!("node {node} cannot be told what to do: {error}")));
            }
        }
    }

    fn settle_logged(&mut self, now: Duration) {
        let time = self.running_for(now);
        let line = self.logging.as_mut().and_then(|logging| logging.settle(time));
        self.actions.extend(line.map(Action::Say));
        self.answer_if_grown();
        self.spread_keepers();
        self.those_running().into_iter().for_each(|node| self.tell_losses(node));
        self.begin_line_if_all_hold(now);
        self.ask_for_checkpoints_again();
        self.ask_for_balance_again();
    }

    fn give_up_logged(&mut self, now: Duration, loss: &Loss) {
        sometimes("a job that logs lost more than can be restored");
        let what = self.logging.as_ref().and_then(Logging::last_loss).unwrap_or_default();
        let why = self.logging.as_ref().map(|logging| logging.given_up(&what, loss));
        let why = why.unwrap_or(what);
        self.back = self.what_is_on_disk();
        if let Some(Back { version, .. }) = &self.back {
            sometimes("a job that logs went back to a checkpoint on disk");
            let text = format!(
                "{why}; nothing was printed since checkpoint {version}, which is on disk: all go back to it"
            );
            self.actions.push(Action::Warn(text));
        }
        self.verdict.on_loss(why);
        self.stop(now, Some(GRACE_AFTER_LOSS));
    }
}

/// As the report has it.
fn failure(node: u32, lost: &LostNode, now: Duration) -> Failure {
    let noticed = match lost.unnoticed {
        Unnoticed::For(time) | Unnoticed::Within(time) => Some(time),
        Unnoticed::Nothing => None,
    };
    Failure {
        node: Some(node),
        what: lost.what.clone(),
        detected: lost.detected.into(),
        at_s: now.as_secs_f64(),
        detect_s: noticed.map(|time| time.as_secs_f64()),
        detect_exact: matches!(lost.unnoticed, Unnoticed::For(_)),
        ..Failure::default()
    }
}
