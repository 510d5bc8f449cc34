//! What happens in a job that logs, event by event.

use std::cell::Cell;
use std::sync::Arc;

use super::Logged;
use super::post::Mail;
use crate::messages::flights::Flight;
use crate::messages::{Arrived, Cluster, Rules, What, accept, cores};
use talisman_base::clock::{Clock, Simulated};
use talisman_base::ids::PeId;
use talisman_core::leftovers::LeftoversOnPe;
use talisman_core::logging::image::Image;
use talisman_core::logging::letter::Letter;
use talisman_core::logging::mark::Differs;
use talisman_core::logging::member::{Member, Numbered, Taken};
use talisman_core::logging::replay::{Replayed, may_run, step};
use talisman_core::logging::words::{Out, Said};
use talisman_core::services::SERVICES;
use talisman_ft::NodeId;
use talisman_ft::action::Action;
use talisman_ft::event::Event;
use talisman_ft::logging::{LogId, Order};
use talisman_ft::protocol::Protocol;
use talisman_job::Output;
use talisman_job::job::{End, Job};
use talisman_kernel::node::Node;
use talisman_kernel::panics::caught;
use talisman_kernel::pe::input_log::{Frame, InputLog};
use talisman_kernel::pe::recorder::Recorder;
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{Outbox, Parcel, Port, Sent};
use talisman_kernel::witness::Why;

/// Steps of a PE that runs again, from one look at the rest of the world to the next, at most.
const STEPS: u64 = 16;
/// What they take, in nanoseconds.
const STEPS_NS: u64 = 2_000;
/// Something is seen by another PE of the node after so long at most, in nanoseconds.
const WITHIN_NODE_NS: u64 = 1_000;
/// The exit status of a job of which too much is lost.
const UNRECOVERABLE: i32 = 3;

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
        let is_over = logged.ending.is_some();
        let stage = logged.member(node).map(|member| (member.is_live(), member.is_guided()));
        match stage {
            Some((true, _)) if !is_over => rules.turn(self, pe, at),
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
                Ok((Replayed::Did, step)) => took += step,
                Ok((Replayed::Waits | Replayed::AtHorizon, _)) => goes_on = false,
                Err(why) => job.end(1, Some(why)),
            }
            rules.collect(self, pe);
            if !goes_on || job.is_over() {
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
        let letter = Letter::open(Frame { head, segments }).expect("sealed by the same code");
        let (from, (to, rank)) = (self.shape.node_of(from), self.place(to));
        if let Some(member) = self.logged_mut().member(to) {
            member.receive(from, rank, letter);
        }
    }

    /// Whether anything has come that a PE has not taken in.
    pub(in crate::messages) fn has_any_logged(&mut self, pe: PeId) -> bool {
        let (node, rank) = self.place(pe);
        self.logged_mut().member(node).is_some_and(|member| member.has_any_for(rank))
    }

    /// What a PE takes in now of what has come.
    pub(in crate::messages) fn look_logged(&mut self, pe: PeId, at: u64) -> Vec<Arrived> {
        let arrived = |Taken { from, parcel }| Arrived { from, at, bytes: 0, parcel };
        self.take_in(pe, |_| true, true).into_iter().map(arrived).collect()
    }

    fn take_in(&mut self, pe: PeId, is_asked_for: impl Fn(NodeId) -> bool, with_rings: bool) -> Vec<Taken> {
        let ((node, rank), now) = (self.place(pe), self.clock.get());
        let logged = self.logged_mut();
        let Some(member) = logged.member(node) else { return Vec::new() };
        match member.take(rank, now, is_asked_for, with_rings) {
            Ok((all, came)) => {
                came.into_iter().for_each(|came| logged.shadow.take(came.lane, came.number, came.frame));
                all
            }
            Err(why) => {
                self.pes[pe as usize].node.job.end(1, Some(why));
                Vec::new()
            }
        }
    }

    /// What a node has to put on its way after one of its PEs has done something, or somebody has told it something.
    pub(in crate::messages) fn sent_logged(&mut self, id: PeId, sent: Vec<Sent>) -> Vec<Sent> {
        let (node, rank) = self.place(id);
        let first = self.shape.first_pe(node);
        let (pes, logged) = (&self.pes, self.logged.as_mut().expect("a job that logs"));
        let pe = &pes[id as usize];
        let Some(Some(member)) = logged.members.get_mut(node as usize) else { return Vec::new() };
        member.absorb();
        let heard = logged.heard.entry(node).or_default();
        for line in pe.node.job.output.captured().into_iter().skip(heard.lines) {
            heard.lines += 1;
            member.say(rank, Said::Line(line));
        }
        if let Some(end) = pe.node.job.how_it_ended().filter(|_| !heard.end) {
            heard.end = true;
            member.say(rank, Said::End(end));
        }
        let mut wrong = None;
        for Sent { to, parcel, .. } in sent {
            let frame = Frame::of(&parcel);
            if let Some(Numbered { lane, number, is_taken: true }) = member.send(rank, to, parcel)
                && let Some(frame) = frame
            {
                wrong = wrong.or(logged.shadow.make_again(lane, number, &frame).err());
            }
        }
        member.release();
        if member.is_guided()
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
    fn carry(&mut self, node: NodeId) {
        let at = self.present();
        let Some(member) = self.logged_mut().member(node) else { return };
        let (outs, incarnation) = (member.take_out(), member.incarnation());
        for out in outs {
            match out {
                Out::Letter(rank, to, letter) => {
                    let (to, parcel) = (self.shape.first_pe(to) + rank, letter.seal().into_parcel());
                    let Parcel::Frame { head, .. } = &parcel else { continue };
                    let bytes = head.len() as u32;
                    let from = self.shape.first_pe(node) + rank;
                    let sent = Sent { to, at, bytes, parcel };
                    self.logged_mut().letters.entry(from).or_default().push(sent);
                }
                Out::Word(to, between, word) => self.post(Mail::Word { from: node, to, between, word }),
                Out::Report(event) => self.post(Mail::Report { from: node, incarnation, event }),
                Out::Say(rank, number, said) => {
                    let from = LogId { node, rank };
                    self.post(Mail::Say { from, incarnation, number, said });
                }
                Out::Wake(rank) => {
                    let soon = 1 + self.logged_mut().post.below(WITHIN_NODE_NS);
                    self.wake(self.shape.first_pe(node) + rank, at + soon);
                }
                Out::Begin(image) => self.logged_mut().begins.push((node, image)),
                Out::Differs(differs) => self.end_as_it_differs(node, &differs),
                // Cuts of simulated jobs come from elsewhere (`next_line`).
                Out::Holds(..) => {}
            }
        }
    }

    /// The event's time, or where a PE is by now in its turn. The clock of one that runs again says what it said.
    fn present(&self) -> u64 {
        self.clock.get().max(self.logged().now)
    }

    fn post(&mut self, mail: Mail) {
        let now = self.present();
        let (number, at) = self.logged_mut().post.put(mail, now);
        self.plan(at, What::Mail(number));
    }

    /// Something beside frames arrives.
    pub(in crate::messages) fn on_mail(&mut self, job: &Job, number: u32, rules: &mut impl Rules) {
        self.trace.note(self.clock.get(), 2, 0, number.into());
        let logged = self.logged_mut();
        match logged.post.take(number) {
            Mail::Word { from, to, between, word } => {
                if let Some(member) = logged.member(to) {
                    member.hear(from, between, word);
                    self.see_to(job, to, rules);
                }
            }
            Mail::Report { from, incarnation, event } => {
                if logged.is_newest(from, incarnation) {
                    self.lead(job, event);
                }
            }
            Mail::Say { from, incarnation, number, said } => {
                if logged.is_newest(from.node, incarnation) {
                    self.print(job, from, number, said);
                }
            }
            Mail::Printed { to, incarnation, before } => {
                let member = logged.member(to.node).filter(|member| member.incarnation() == incarnation);
                member.into_iter().for_each(|member| member.on_printed(to.rank, before));
            }
            Mail::Order { to, incarnation, order } => {
                if logged.is_newest(to, incarnation) {
                    self.obey(job, to, order, rules);
                }
            }
            Mail::Start { node, incarnation } => {
                if logged.newest[node as usize] == incarnation {
                    logged.members[node as usize] =
                        Some(Member::blank(node, logged.shape, incarnation).watched());
                    self.post(Mail::Report {
                        from: node,
                        incarnation,
                        event: Event::Arrived(node, incarnation),
                    });
                }
            }
            Mail::Flush { node, incarnation } => {
                logged.flushing.retain(|one, of| *one != node || *of != incarnation);
                let member = logged.member(node).filter(|member| member.incarnation() == incarnation);
                if let Some(member) = member {
                    member.flush();
                    self.see_to(job, node, rules);
                }
            }
        }
        self.end_if_all_is_printed(job);
    }

    /// Somebody has told a node something: what follows from it is done.
    fn see_to(&mut self, job: &Job, node: NodeId, rules: &mut impl Rules) {
        for pe in self.shape.first_pe(node)..self.shape.first_pe(node + 1) {
            rules.collect(self, pe);
        }
        for (node, image) in std::mem::take(&mut self.logged_mut().begins) {
            self.begin_again(job, node, &image, rules);
        }
        if self.logged_mut().member(node).is_some_and(|member| member.is_guided()) {
            self.wake_node(node);
        }
    }

    /// A restarted node breaks the rule: its program does something else than it did.
    fn end_as_it_differs(&self, node: NodeId, differs: &Differs) {
        let pe = &self.pes[self.shape.first_pe(node) as usize];
        pe.node.job.end(1, Some(format!("node {node}: {}", differs.message(&differs.frame.describe(pe)))));
    }

    fn wake_node(&mut self, node: NodeId) {
        let (first, now) = (self.shape.first_pe(node), self.clock.get());
        (first..first + self.shape.pes_per_node).for_each(|pe| self.wake(pe, now));
    }

    // Losses.

    /// These nodes are lost, with all that they have. What they had sent is on its way, and arrives until it is said that they are lost.
    pub(super) fn lose(&mut self, job: &Job, nodes: &[u32]) {
        if job.is_over() {
            return;
        }
        let now = self.clock.get();
        self.logged_mut().now = now;
        let actions = self.logged_mut().leader.on_event(Event::Lost(nodes.to_vec()));
        for node in 0..self.shape.nodes {
            // Whoever was not live yet begins once more, as another process.
            if self.logged().leader.is_lost(node) {
                self.end_process(node);
            }
        }
        self.carry_out(job, actions);
    }

    fn end_process(&mut self, node: NodeId) {
        let Some(mut member) = self.logged_mut().members[node as usize].take() else { return };
        self.discard_all(node, member.take_rings());
        let logged = self.logged_mut();
        *logged.went_back.lost.entry(node).or_default() += 1;
        logged.heard.remove(&node);
        self.make_pes(node);
        for pe in self.shape.first_pe(node)..self.shape.first_pe(node + 1) {
            self.states[pe as usize] = Default::default();
        }
    }

    /// What went between the PEs of a node is lost with it.
    fn discard_all(&self, node: NodeId, parcels: Vec<Parcel>) {
        let pe = &self.pes[self.shape.first_pe(node) as usize];
        let _here = Here::enter(pe);
        for parcel in parcels {
            if let Parcel::Message(envelope) = parcel {
                pe.discard(envelope, Why::Over);
            }
        }
    }

    /// The same at the end of the job, or at a cut.
    pub(super) fn discard_rings(&mut self) {
        for node in 0..self.shape.nodes {
            let parcels = self.logged_mut().member(node).map_or(Vec::new(), Member::take_rings);
            self.discard_all(node, parcels);
        }
    }

    fn lead(&mut self, job: &Job, event: Event) {
        let actions = self.logged_mut().leader.on_event(event);
        self.carry_out(job, actions);
    }

    fn carry_out(&mut self, job: &Job, actions: Vec<Action>) {
        for action in actions {
            let Action::Order(order) = action else { continue };
            let to = match &order {
                Order::Start { node, incarnation } => {
                    let (node, incarnation) = (*node, *incarnation);
                    self.logged_mut().newest[node as usize] = incarnation;
                    self.post(Mail::Start { node, incarnation });
                    continue;
                }
                Order::Ask { to, .. }
                | Order::Announce { to, .. }
                | Order::Restore { to, .. }
                | Order::GoLive { to, .. } => *to,
                Order::GiveUp(loss) => {
                    let why = format!("what was lost cannot be restored: {loss:?}");
                    job.end(UNRECOVERABLE, Some(why));
                    continue;
                }
                Order::Degraded(is_degraded) => {
                    self.logged_mut().note_recovery(*is_degraded);
                    continue;
                }
                Order::Forget { .. } => continue,
            };
            let incarnation = self.logged().newest[to as usize];
            self.post(Mail::Order { to, incarnation, order });
        }
    }

    fn obey(&mut self, job: &Job, node: NodeId, order: Order, rules: &mut impl Rules) {
        if let Order::Ask { lost, .. } = &order {
            self.read_to_the_end(node, lost, rules);
        }
        if let Some(member) = self.logged_mut().member(node) {
            member.absorb();
            member.obey(order);
            self.see_to(job, node, rules);
            self.wake_node(node);
        }
    }

    /// What has come from the lost is taken in.
    fn read_to_the_end(&mut self, node: NodeId, lost: &[NodeId], rules: &mut impl Rules) {
        for id in self.shape.first_pe(node)..self.shape.first_pe(node + 1) {
            let ((_, rank), mut goes_on) = (self.place(id), true);
            while goes_on {
                let all = self.take_in(id, |from| lost.contains(&from), false);
                let has_more = |member: &mut Member| member.has_mail(rank, |from| lost.contains(&from));
                goes_on = self.logged_mut().member(node).is_some_and(has_more);
                let pe = &self.pes[id as usize];
                let here = Here::enter(pe);
                caught(pe, || _ = pe.turn(FromTheLost(all)));
                drop(here);
                rules.collect(self, id);
            }
        }
    }

    /// PEs are made from their node's place in the line, and run again.
    fn begin_again(&mut self, job: &Job, node: NodeId, image: &Image, rules: &mut impl Rules) {
        let now = self.clock.get();
        self.clock.set(image.made_at);
        self.make_pes(node);
        *self.logged_mut().went_back.restored.entry(node).or_default() += 1;
        for pe in self.shape.first_pe(node)..self.shape.first_pe(node + 1) {
            let (_, rank) = self.place(pe);
            let Some(member) = self.logged_mut().member(node) else { return };
            member.record(rank).was_at(image.made_at);
            let recorder = member.record(rank).recorder();
            self.clock.set(image.made_at);
            self.begin_pe(job, pe, image, recorder, rules);
        }
        self.clock.set(now);
        if let Some(member) = self.logged_mut().member(node) {
            member.has_begun();
        }
    }

    /// A fresh PE begins with what an image has.
    pub(super) fn begin_pe(
        &mut self,
        job: &Job,
        id: PeId,
        image: &Image,
        recorder: Box<dyn Recorder>,
        rules: &mut impl Rules,
    ) {
        let (_, rank) = self.place(id);
        let pe = &mut self.pes[id as usize];
        pe.input_log = InputLog::Told(recorder);
        if let Err(why) = image.begin(pe, rank, |_| ()) {
            job.end(1, Some(why));
        }
        rules.collect(self, id);
    }

    /// Fresh PEs in the place of those of a node, which are dropped.
    fn make_pes(&mut self, number: NodeId) {
        let Logged { view, config, .. } = self.logged();
        let job = Job::new(Output::capture());
        let node = Node::in_view(view.clone(), Arc::default(), self.shape, number, config.clone(), job);
        for id in self.shape.first_pe(number)..self.shape.first_pe(number + 1) {
            let clock = Clock::Simulated(Simulated { now: self.clock.clone(), computed: cores::computed });
            let fresh = Pe::new(id, node.clone(), clock, Port::Simulated(Outbox::default()), SERVICES);
            self.pes[id as usize] = fresh;
        }
    }

    // What the program says.

    fn print(&mut self, job: &Job, log: LogId, number: u64, said: Said) {
        let logged = self.logged_mut();
        match logged.shadow.print(log, number, &said) {
            Err(why) => job.end(1, Some(why)),
            Ok(false) => {}
            Ok(true) => {
                match said {
                    Said::Line(line) => job.output.print(&line),
                    Said::End(end) => logged.hear_end(end),
                }
                logged.leader.on_printed(log, number + 1);
            }
        }
        let before = logged.leader.printed(log);
        let incarnation = logged.newest[log.node as usize];
        self.post(Mail::Printed { to: log, incarnation, before });
    }

    /// At a cut: all that has been said is printed.
    pub(super) fn print_all(&mut self, job: &Job) {
        for pe in 0..self.shape.pes() {
            let (node, rank) = self.place(pe);
            let said = self.logged_mut().member(node).map_or(Vec::new(), |member| member.all_said(rank));
            let log = LogId { node, rank };
            said.into_iter().for_each(|(number, said)| self.print(job, log, number, said));
        }
        if let Some(end) = self.logged_mut().ending.take() {
            job.end(end.status, end.message);
        }
    }

    fn end_if_all_is_printed(&mut self, job: &Job) {
        let logged = self.logged();
        if logged.ending.is_some() && logged.is_at_rest() && logged.is_all_printed() {
            let end = self.logged_mut().ending.take().expect("just seen");
            job.end(end.status, end.message);
        }
    }

    /// What the program has reported so far on all nodes is the job's.
    pub(super) fn take_results(&self, job: &Job) {
        for pe in self.pes.iter().filter(|pe| pe.id == pe.first_pe) {
            let results = pe.node.job.results();
            results.iter().for_each(|(name, value)| job.record(name, value.clone()));
            job.step_again(pe.node.job.progress().done);
        }
    }

    /// What nobody got on any node is told as the job's.
    pub(super) fn take_leftovers(&self, job: &Job) {
        self.pes.iter().for_each(Pe::tell_of_undelivered);
        let firsts = self.pes.iter().filter(|pe| pe.id == pe.first_pe);
        firsts.for_each(|pe| job.left_over(pe.node.job.leftovers()));
    }
}

impl Logged {
    /// The job ends. A failure is heard over an end in order.
    fn hear_end(&mut self, end: End) {
        let is_heard = self.ending.as_ref().is_none_or(|known| known.status == 0 && end.status != 0);
        if is_heard {
            self.ending = Some(end);
        }
    }

    /// A node was lost, or all are live again.
    fn note_recovery(&mut self, is_degraded: bool) {
        match is_degraded {
            true => _ = self.lost_at.get_or_insert(self.now),
            false => {
                let lost_at = self.lost_at.take();
                self.went_back.recovered_ns.extend(lost_at.map(|at| self.now - at));
            }
        }
    }

    fn is_newest(&self, node: NodeId, incarnation: u32) -> bool {
        let is_there = self.members[node as usize].is_some();
        is_there && self.newest[node as usize] == incarnation
    }
}

/// What had come from nodes that are lost.
struct FromTheLost(Vec<Taken>);

impl Feed for FromTheLost {
    fn take_in(&mut self, pe: &Pe) -> bool {
        let any = !self.0.is_empty();
        self.0.drain(..).for_each(|Taken { from, parcel }| accept(pe, from, parcel));
        any
    }
}
