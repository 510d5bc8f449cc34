//! What happens in a job that logs, event by event.

use std::cell::Cell;

use super::Logged;
use super::cuts::FromNode;
use super::post::Mail;
use super::shadow::Made;
use crate::messages::flights::Flight;
use crate::messages::{Arrived, Cluster, Rules, What};
use talisman_base::ids::PeId;
use talisman_core::logging::letter::Letter;
use talisman_core::logging::line_door::LineDoor;
use talisman_core::logging::mark::Differs;
use talisman_core::logging::member::{Member, Numbered, Taken};
use talisman_core::logging::replay::{Replayed, may_run, step};
use talisman_core::logging::words::{Out, Said};
use talisman_ft::event::Event;
use talisman_ft::logging::{Incarnation, LogId};
use talisman_ft::{NodeId, Version};
use talisman_job::checkpoints::FaultTolerance;
use talisman_job::job::{End, Job};
use talisman_kernel::pe::input_log::Frame;
use talisman_kernel::port::{Parcel, Sent};

/// Steps of a PE that runs again, from one look at the rest of the world to the next, at most.
const STEPS: u64 = 16;
/// What they take, in nanoseconds.
const STEPS_NS: u64 = 2_000;
/// Something is seen by another PE of the node after so long at most, in nanoseconds.
const WITHIN_NODE_NS: u64 = 1_000;
/// The exit status of a job of which too much is lost.
pub(super) const UNRECOVERABLE: i32 = 3;

impl Cluster {
    /// The time of a node's turn has come.
    pub(in crate::messages) fn turn_of_logged(
        &mut self,
        job: &Job,
        pe: PeId,
        at: u64,
        rules: &mut impl Rules,
    ) {
        let node = self.shape.node_of(pe);
        let logged = self.logged_mut();
        let is_over = logged.ending.is_some() || logged.leading.told.contains_key(&node);
        let stage = logged.member(node).map(|member| (member.is_live(), member.is_guided()));
        match stage {
            // It has one already, and is woken when that is over.
            _ if self.logged().overlaps.is_out(pe) => self.put_off_turn(pe, at),
            Some((true, _)) if !is_over => {
                self.ask_in_turn(pe, at, rules);
                self.hand_out(pe);
                rules.turn(self, pe, at);
                self.end_handing();
                self.see_to_cut(job, node);
            }
            // None is planned for who is not there.
            _ if !self.takes_turn(pe, at) => {}
            Some((_, true)) => self.replay(job, pe, rules),
            _ => {}
        }
        self.end_if_all_is_printed(job);
    }

    /// A PE that runs again does some of what it did.
    fn replay(&mut self, job: &Job, pe: PeId, rules: &mut impl Rules) {
        let now = self.clock.get();
        let steps = 1 + self.logged_mut().post.below(STEPS);
        let (mut goes_on, mut took) = (true, 0);
        for _ in 0..steps {
            match self.replay_step(pe, now) {
                Ok((Replayed::Did, step)) => {
                    took += step;
                    self.hand_out(pe);
                }
                Ok((Replayed::Waits | Replayed::AtHorizon, _)) => goes_on = false,
                Err(why) => job.end(1, Some(why)),
            }
            rules.collect(self, pe);
            self.end_handing();
            if !goes_on || job.is_over() || self.logged().overlaps.is_out(pe) {
                break;
            }
        }
        self.clock.set(now);
        self.trace.note(now, 3, pe, steps);
        self.logged_mut().went_back.redone_ns += took;
        if goes_on {
            let until = now + took + STEPS_NS;
            self.states[pe as usize].busy_until = until;
            self.wake(pe, until);
        }
    }

    /// What came of it, and how long that took.
    fn replay_step(&mut self, id: PeId, now: u64) -> Result<(Replayed, u64), String> {
        let (node, rank) = self.place(id);
        let (pe, clock) = (&self.pes[id as usize], &self.clock);
        let logged = self.logged.as_mut().expect("a job that logs");
        let Some(member) = logged.member(node) else { return Ok((Replayed::Waits, 0)) };
        let since = Cell::new(member.record(rank).time().unwrap_or(now));
        clock.set(since.get());
        let set_clock = |time| {
            clock.set(time);
            since.set(time);
        };
        let done = step(member, rank, pe, set_clock)?;
        logged.went_back.steps += u64::from(done == Replayed::Did);
        Ok((done, clock.get().saturating_sub(since.get())))
    }

    /// Something has come to a PE: it waits there until that takes it in.
    pub(in crate::messages) fn arrive_logged(&mut self, flight: Flight) {
        let Flight { from, to, parcel, .. } = flight;
        let Parcel::Frame { head, segments } = parcel else { return };
        let (head, line) = head.split_last_chunk().expect("sealed by the same code");
        let line = Version::from_le_bytes(*line);
        let letter = Letter::open(head, segments).expect("sealed by the same code");
        let (from, (to, rank)) = (self.shape.node_of(from), self.place(to));
        self.logged_mut().come(to, line, FromNode::Letter(from, rank, letter));
    }

    /// Whether anything has come that a PE has not taken in.
    pub(in crate::messages) fn has_any_logged(&mut self, pe: PeId) -> bool {
        let (node, rank) = self.place(pe);
        self.logged_mut().member(node).is_some_and(|member| member.has_any_for(rank))
    }

    /// What a PE takes in now of what has come.
    pub(in crate::messages) fn look_logged(&mut self, pe: PeId, at: u64) -> Vec<Arrived> {
        let arrived = |Taken { from, parcel }| Arrived { from, at, bytes: 0, parcel };
        let taken = match self.logged().ft {
            FaultTolerance::LoggingTicket => self.take_in_order(pe),
            _ => self.take_in(pe, |_| true, true),
        };
        taken.into_iter().map(arrived).collect()
    }

    pub(super) fn take_in(
        &mut self,
        pe: PeId,
        is_asked_for: impl Fn(NodeId) -> bool,
        with_rings: bool,
    ) -> Vec<Taken> {
        let ((node, rank), now) = (self.place(pe), self.clock.get());
        let logged = self.logged_mut();
        let Some(member) = logged.member(node) else { return Vec::new() };
        let line = member.line();
        match member.take(rank, now, is_asked_for, with_rings) {
            Ok((all, came)) => {
                // As when it is handed to another thread.
                member.absorb();
                came.into_iter().for_each(|came| logged.shadow.take(line, came));
                all
            }
            Err(why) => {
                self.pes[pe as usize].node.job.end(1, Some(why));
                Vec::new()
            }
        }
    }

    /// The same where frames come in the order of tickets. The PE's clock says in this turn what the ticket does.
    fn take_in_order(&mut self, pe: PeId) -> Vec<Taken> {
        let ((node, rank), now, has_messages) =
            (self.place(pe), self.clock.get(), may_run(&self.pes[pe as usize]));
        let logged = self.logged_mut();
        let is_set = logged.draws_overlaps;
        let Some(member) = logged.member(node) else { return Vec::new() };
        match member.take_in_order(rank, now, has_messages) {
            Ok((all, time)) => {
                member.absorb();
                if is_set && time < now {
                    logged.behind = now - time;
                    self.clock.set(time);
                }
                all
            }
            Err(why) => {
                self.pes[pe as usize].node.job.end(1, Some(why));
                Vec::new()
            }
        }
    }

    /// Whether PEs are told that they were idle: an input, which processes do not give them either. Where frames come in the order of tickets
    /// nothing else is to be an input, if it need not be.
    pub(in crate::messages) fn tells_idleness(&self) -> bool {
        self.logged.as_ref().is_none_or(|logged| logged.ft != FaultTolerance::LoggingTicket)
    }

    /// The turn is over: the clock says again what it does for everybody.
    fn end_being_behind(&mut self) {
        let behind = std::mem::take(&mut self.logged_mut().behind);
        self.clock.set(self.clock.get() + behind);
    }

    /// What a node has to put on its way after one of its PEs has done something, or somebody has told it something.
    pub(in crate::messages) fn sent_logged(&mut self, id: PeId, sent: Vec<Sent>) -> Vec<Sent> {
        let (node, rank) = self.place(id);
        self.end_being_behind();
        let said = self.take_said(id);
        let Some((said, sent)) = self.held_or_back(id, said, sent) else { return Vec::new() };
        let is_any_out = self.is_any_out(node);
        let first = self.shape.first_pe(node);
        let (pes, logged) = (&self.pes, self.logged.as_mut().expect("a job that logs"));
        let pe = &pes[id as usize];
        let Some(Some(member)) = logged.members.get_mut(node as usize) else { return Vec::new() };
        said.into_iter().for_each(|said| member.say(rank, said));
        let mut wrong = None;
        for sent in sent {
            let (frame, is_determined) = (Frame::of(&sent.parcel), sent.is_determined);
            if let Some(Numbered { lane, number, is_taken: true }) = member.send(rank, sent)
                && let Some(frame) = frame
            {
                let made = Made { frame, is_determined };
                wrong = wrong.or(logged.shadow.make_again(member.line(), lane, number, &made).err());
            }
        }
        member.release();
        if member.is_guided()
            && !is_any_out
            && let Err(why) = member.tell_if_at_horizon(|rank| may_run(&pes[(first + rank) as usize]))
        {
            wrong = wrong.or(Some(why));
        }
        if let Some(why) = wrong {
            pe.node.job.end(1, Some(why.clone()));
            member.say(rank, Said::End(End { status: 1, message: Some(why) }));
        }
        self.flush_soon(node);
        self.carry(node);
        self.logged_mut().letters.remove(&id).unwrap_or_default()
    }

    /// What the program has said since this was last asked, on this PE.
    fn take_said(&mut self, id: PeId) -> Vec<Said> {
        let (node, _) = self.place(id);
        let (pes, logged) = (&self.pes, self.logged.as_mut().expect("a job that logs"));
        let job = &pes[id as usize].node.job;
        if logged.member(node).is_none() {
            return Vec::new();
        }
        let heard = logged.heard.entry(node).or_default();
        let lines = job.output.captured().split_off(heard.lines);
        heard.lines += lines.len();
        let end = job.how_it_ended().filter(|_| !heard.end);
        heard.end |= end.is_some();
        lines.into_iter().map(Said::Line).chain(end.map(Said::End)).collect()
    }

    fn flush_soon(&mut self, node: NodeId) {
        let logged = self.logged_mut();
        let wants = |member: &&mut Member| member.wants_flush();
        let Some(member) = logged.member(node).filter(wants) else { return };
        let incarnation = member.incarnation();
        if logged.flushing.insert(node, incarnation) != Some(incarnation) {
            self.post(Mail::Flush { node, incarnation });
        }
    }

    /// Carries away what a node has for others: what goes on lanes leaves with the PE of the lane's rank.
    pub(super) fn carry(&mut self, node: NodeId) {
        let at = self.present();
        let Some(member) = self.logged_mut().member(node) else { return };
        let (outs, incarnation, line) = (member.take_out(), member.incarnation(), member.line());
        for out in outs {
            match out {
                Out::Letter(rank, to, letter) => {
                    let mut head = Vec::new();
                    letter.write(&mut head);
                    let bytes = head.len() as u32;
                    head.extend(line.to_le_bytes());
                    let segments = letter.frame.segments.clone();
                    let parcel = Parcel::Frame { head: head.into(), segments };
                    let (from, to) = (self.shape.first_pe(node) + rank, self.shape.first_pe(to) + rank);
                    let sent = Sent { to, at, bytes, parcel, is_determined: true };
                    self.logged_mut().letters.entry(from).or_default().push(sent);
                }
                Out::Word(to, between, word) => self.post(Mail::Word { from: node, to, line, between, word }),
                Out::Report(event) => self.post(Mail::Report { from: node, incarnation, event }),
                Out::Say(rank, number, said) => {
                    let from = LogId { node, rank };
                    self.post(Mail::Say { from, incarnation, line, number, said });
                }
                Out::Wake(rank) => {
                    let soon = 1 + self.logged_mut().post.below(WITHIN_NODE_NS);
                    self.wake(self.shape.first_pe(node) + rank, at + soon);
                }
                Out::Begin(image) => self.logged_mut().begins.push((node, image)),
                Out::Unreadable(why) => {
                    let pe = &self.pes[self.shape.first_pe(node) as usize];
                    pe.node.job.end(1, Some(format!("node {node}: {why}")));
                }
                Out::Differs(differs) => self.end_as_it_differs(node, &differs),
                Out::AskRoom(of, version, _) => self.answer_room(node, of, version),
                Out::CannotKeep(version) => {
                    self.logged_mut().without_room.insert(node, (incarnation, version));
                    self.wake(self.shape.first_pe(node), at);
                }
                Out::Holds(version, session, membership) => {
                    let of = (session, membership);
                    self.post(Mail::Holds { from: node, incarnation, version, of });
                }
            }
        }
    }

    /// The event's time, or where a PE is by now in its turn. The clock of one that runs again says what it said.
    pub(super) fn present(&self) -> u64 {
        self.clock.get().max(self.logged().now)
    }

    pub(super) fn post(&mut self, mail: Mail) {
        let now = self.present();
        let (number, at) = self.logged_mut().post.put(mail, now);
        self.plan(at, What::Mail(number));
    }

    /// Something beside frames arrives.
    pub(in crate::messages) fn on_mail(&mut self, job: &Job, number: u32, rules: &mut impl Rules) {
        self.trace.note(self.clock.get(), 2, 0, number.into());
        let logged = self.logged_mut();
        // What was lost with whoever led does not come.
        let Some(mail) = logged.post.take(number) else { return };
        let is_gathering = logged.leading.gathering.is_some();
        match mail {
            Mail::Word { from, to, line, between, word } => {
                logged.come(to, line, FromNode::Word(from, between, word));
                self.see_to(job, to, rules);
            }
            // It is said again when whoever leads next asks what they hold.
            Mail::Report { .. } | Mail::Holds { .. } | Mail::Say { .. } if is_gathering => {}
            Mail::Report { from, incarnation, event } if logged.is_newest(from, incarnation) => {
                self.lead(job, event);
            }
            Mail::Holds { from, incarnation, version, of } if logged.is_newest(from, incarnation) => {
                logged.votes.on_holds(from, version, of, &logged.leader);
                self.begin_line_if_all_hold(job);
            }
            Mail::Say { from, incarnation, line, number, said }
                if logged.is_newest(from.node, incarnation) =>
            {
                self.print(job, from, line, number, said);
            }
            Mail::Printed { to, incarnation, line, log, before } if logged.is_newest(to, incarnation) => {
                logged.member(to).into_iter().for_each(|member| member.on_printed(line, log, before));
                self.see_to_cut(job, to);
            }
            Mail::Finish { to, incarnation, end } if logged.is_newest(to, incarnation) => {
                logged.leading.told.insert(to, end);
            }
            Mail::Introduce { to, incarnation } if logged.is_newest(to, incarnation) => {
                self.on_introduce(job, to, rules);
            }
            Mail::Standing { from, incarnation, standing, end } if logged.is_newest(from, incarnation) => {
                self.on_standing(job, from, *standing, end);
            }
            Mail::Order { to, incarnation, order, line } if logged.is_newest(to, incarnation) => {
                self.obey(job, to, order, line, rules);
            }
            Mail::Line { to, incarnation, version, membership } if logged.is_newest(to, incarnation) => {
                self.begin_line(job, to, (version, *membership), rules);
            }
            Mail::Expect { to, incarnation, membership } if logged.is_newest(to, incarnation) => {
                logged.member(to).into_iter().for_each(|member| member.expect((*membership).clone()));
                self.see_to_cut(job, to);
            }
            Mail::Leave { to, incarnation } if logged.is_newest(to, incarnation) => self.leave(to, rules),
            Mail::Start { node, incarnation } => self.start(node, incarnation),
            Mail::Flush { node, incarnation } => self.flush(job, node, incarnation, rules),
            Mail::TurnOver { pe, turn } => {
                self.on_turn_over(pe, turn, rules);
                self.see_to_cut(job, self.shape.node_of(pe));
            }
            // Of a process that is no more, or to it.
            _ => {}
        }
        self.end_if_all_is_printed(job);
    }

    /// A process is there, unless another one is wanted by now.
    fn start(&mut self, node: NodeId, incarnation: Incarnation) {
        let logged = self.logged_mut();
        if logged.newest[node as usize] == incarnation {
            logged.members[node as usize] = Some(logged.blank(node));
            logged.doors[node as usize] = LineDoor::default();
            let event = Event::Arrived(node, incarnation);
            self.post(Mail::Report { from: node, incarnation, event });
        }
    }

    fn flush(&mut self, job: &Job, node: NodeId, incarnation: Incarnation, rules: &mut impl Rules) {
        let logged = self.logged_mut();
        logged.flushing.retain(|one, of| *one != node || *of != incarnation);
        if logged.is_newest(node, incarnation) {
            logged.member(node).into_iter().for_each(Member::flush);
            self.see_to(job, node, rules);
        }
    }

    /// Somebody has told a node something: what follows from it is done.
    pub(super) fn see_to(&mut self, job: &Job, node: NodeId, rules: &mut impl Rules) {
        for pe in self.shape.first_pe(node)..self.shape.first_pe(node + 1) {
            rules.collect(self, pe);
        }
        for (node, image) in std::mem::take(&mut self.logged_mut().begins) {
            self.begin_again(job, node, &image, rules);
        }
        if self.logged_mut().member(node).is_some_and(|member| member.is_guided()) {
            self.wake_node(node);
        }
        self.see_to_cut(job, node);
    }

    /// A restarted node breaks the rule: its program does something else than it did.
    fn end_as_it_differs(&self, node: NodeId, differs: &Differs) {
        let pe = &self.pes[self.shape.first_pe(node) as usize];
        pe.node.job.end(1, Some(format!("node {node}: {}", differs.message(&differs.frame.describe(pe)))));
    }

    pub(super) fn wake_node(&mut self, node: NodeId) {
        let (first, now) = (self.shape.first_pe(node), self.clock.get());
        (first..first + self.shape.pes_per_node).for_each(|pe| self.wake(pe, now));
    }
}

impl Logged {
    fn is_newest(&self, node: NodeId, incarnation: Incarnation) -> bool {
        let is_there = self.members[node as usize].is_some();
        is_there && self.newest[node as usize] == incarnation
    }
}
