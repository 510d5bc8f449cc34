//! What becomes of nodes that are lost: others are asked and told, processes come in their places, and go back.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::Logged;
use super::driving::UNRECOVERABLE;
use super::post::Mail;
use crate::messages::{Cluster, Rules, accept, cores};
use talisman_base::clock::{Clock, Meter, Simulated};
use talisman_base::ids::PeId;
use talisman_core::logging::image::Image;
use talisman_core::logging::member::{Member, Taken};
use talisman_core::services::SERVICES;
use talisman_ft::action::Action;
use talisman_ft::event::Event;
use talisman_ft::logging::Order;
use talisman_ft::protocol::Protocol;
use talisman_ft::{NodeId, Version};
use talisman_job::Output;
use talisman_job::job::Job;
use talisman_kernel::node::{Config, Node};
use talisman_kernel::panics::caught;
use talisman_kernel::pe::input_log::InputLog;
use talisman_kernel::pe::recorder::Recorder;
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{Outbox, Parcel, Port};
use talisman_kernel::witness::Why;

impl Cluster {
    /// These nodes are lost, with all that they have. What they had sent is on its way, and arrives until it is said that they are lost.
    pub(super) fn lose(&mut self, job: &Job, nodes: &[u32]) {
        if job.is_over() || self.lose_while_gathering(job, nodes) {
            return;
        }
        let now = self.clock.get();
        self.logged_mut().now = now;
        self.logged_mut().votes.on_lost();
        let actions = self.logged_mut().leader.on_event(Event::Lost(nodes.to_vec()));
        for node in 0..self.shape.nodes {
            // Whoever was not live yet begins once more, as another process.
            if self.logged().leader.is_lost(node) {
                self.end_process(node);
            }
        }
        self.carry_out(job, actions);
    }

    pub(super) fn end_process(&mut self, node: NodeId) {
        let Some(mut member) = self.logged_mut().members[node as usize].take() else { return };
        self.discard_all(node, member.take_rings());
        let held = self.take_held(node);
        self.discard_all(node, held);
        *self.logged_mut().went_back.lost.entry(node).or_default() += 1;
        self.clear_away(node);
    }

    /// Nothing is left of a node's process.
    pub(super) fn clear_away(&mut self, node: NodeId) {
        let logged = self.logged_mut();
        logged.members[node as usize] = None;
        logged.heard.remove(&node);
        logged.leading.told.remove(&node);
        self.make_pes(node);
        for pe in self.shape.first_pe(node)..self.shape.first_pe(node + 1) {
            self.states[pe as usize] = Default::default();
        }
    }

    /// What went between the PEs of a node is lost with it.
    pub(super) fn discard_all(&self, node: NodeId, parcels: Vec<Parcel>) {
        let pe = &self.pes[self.shape.first_pe(node) as usize];
        let _here = Here::enter(pe);
        for parcel in parcels {
            if let Parcel::Message(envelope) = parcel {
                pe.discard(envelope, Why::Over);
            }
        }
    }

    /// The same of all nodes, at the end of the job.
    pub(super) fn discard_rings(&mut self) {
        for node in 0..self.shape.nodes {
            let parcels = self.logged_mut().member(node).map_or(Vec::new(), Member::take_rings);
            self.discard_all(node, parcels);
            let held = self.take_held(node);
            self.discard_all(node, held);
        }
    }

    pub(super) fn lead(&mut self, job: &Job, event: Event) {
        let actions = self.logged_mut().leader.on_event(event);
        self.carry_out(job, actions);
    }

    pub(super) fn carry_out(&mut self, job: &Job, actions: Vec<Action>) {
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
                    let is_degraded = *is_degraded;
                    self.logged_mut().note_recovery(is_degraded);
                    if !is_degraded {
                        self.spread_keepers();
                        self.begin_line_if_all_hold(job);
                        self.ask_for_cut_if_wanted();
                    }
                    continue;
                }
                Order::Forget { .. } => continue,
            };
            let incarnation = self.logged().newest[to as usize];
            let line = self.logged().votes.line();
            let (is_restored, is_live) =
                (matches!(order, Order::Restore { .. }), matches!(order, Order::GoLive { .. }));
            self.post(Mail::Order { to, incarnation, order, line });
            if is_restored {
                self.tell_keeper_what_is_printed(to);
            }
            if is_live {
                self.tell_end(to);
                self.tell_coming_to(to);
            }
        }
    }

    pub(super) fn obey(
        &mut self,
        job: &Job,
        node: NodeId,
        order: Order,
        line: Version,
        rules: &mut impl Rules,
    ) {
        self.gather(node, rules);
        match &order {
            Order::Ask { lost, .. } => self.read_to_the_end(node, lost, rules),
            Order::Restore { .. } => self.begin_process(job, node, line, rules),
            _ => {}
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

    /// A process that has nothing yet is told in which line the others are.
    fn begin_process(&mut self, job: &Job, node: NodeId, line: Version, rules: &mut impl Rules) {
        let logged = self.logged_mut();
        let blank = logged.blank(node).in_line(line);
        logged.members[node as usize] = Some(blank);
        self.enter(job, node, line, rules);
    }

    /// PEs are made from their node's place in the line, and run again.
    pub(super) fn begin_again(&mut self, job: &Job, node: NodeId, image: &Image, rules: &mut impl Rules) {
        let now = self.clock.get();
        self.clock.set(image.made_at);
        self.make_pes(node);
        self.take_back_results(node, image);
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

    /// What the program had reported on a node before its place in the line.
    fn take_back_results(&self, node: NodeId, image: &Image) {
        let job = &self.pes[self.shape.first_pe(node) as usize].node.job;
        image.reported().iter().for_each(|(name, value)| job.record(name, value.clone()));
    }

    /// Fresh PEs of another process in the place of those of a node, which are dropped.
    fn make_pes(&mut self, node: NodeId) {
        self.make_pes_of(node, Job::new(Output::capture()));
    }

    /// The same of the process that says what it says to this job.
    pub(super) fn make_pes_of(&mut self, number: NodeId, job: Arc<Job>) {
        let (config, meter) = (self.logged().config.clone(), self.logged().meter.clone());
        let fresh = self.fresh_pes(number, config, job, &self.clock, meter);
        (self.shape.first_pe(number)..).zip(fresh).for_each(|(id, pe)| self.pes[id as usize] = pe);
    }

    /// PEs of another process of a node, that have nothing yet.
    pub(super) fn fresh_pes(
        &self,
        number: NodeId,
        config: Config,
        job: Arc<Job>,
        clock: &Rc<Cell<u64>>,
        meter: Meter,
    ) -> Vec<Pe> {
        let (view, store) = (Arc::new(self.logged().view_of(number)), self.logged().fresh_store());
        let config = Config { is_simulated: true, ..config };
        let node = Node::in_view(view, store, self.shape, number, config, job);
        let fresh = |id| {
            let (now, meter) = (clock.clone(), meter.clone());
            let clock = Clock::Simulated(Simulated { now, computed: cores::computed, meter });
            Pe::new(id, node.clone(), clock, Port::Simulated(Outbox::default()), SERVICES)
        };
        (self.shape.first_pe(number)..self.shape.first_pe(number + 1)).map(fresh).collect()
    }
}

impl Logged {
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
