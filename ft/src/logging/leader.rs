//! Leads a job that logs through its losses: who is asked, told, restored, and live again. Nobody else stops.
//!
//! ```text
//!          a loss               all survivors have           all survivors know             each lost node
//!                               answered, all processes      the new incarnations           has reached its horizon,
//!                               are there                                                   and its copies are good
//! Running ───────► Asking ──────────────────► Announcing ──────────────────► Replaying ──────────────────────► Running
//!                    ▲                            │                              │
//!                    └── another loss: the union of those lost and those that are not live yet, next session
//! ```
//!
//! Survivors hear of the new incarnations, and of where the logs of the former ones end, before anything of the new
//! ones exists. So whatever they are told of these is either from before that end, or of the newer incarnation.
//!
//! A node that is lost before it is live again begins once more; nothing that it was told in an earlier session counts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::cuts::{Cut, Cuts};
use super::holdings::Holdings;
use super::ids::{Incarnation, LogId, Shape};
use super::lengths::Lengths;
use super::line::{Place, Places, alone, line};
use super::membership::Membership;
use super::plan::{Answers, Loss, Plan, Restore};
use super::position::Position;
use super::standing::Standing;
use crate::NodeId;
use crate::action::Action;
use crate::event::Event;
use crate::protocol::Protocol;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// A recovery, counted from 1: what belongs to an earlier one is void.
pub type Session = u32;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// A process is to take the node's place, which will be of this incarnation.
    Start {
        /// Whose place.
        node: NodeId,
        /// The number of the process.
        incarnation: Incarnation,
    },
    /// A survivor reads the links from the lost to their end, and says what it holds. It goes on meanwhile.
    Ask {
        /// Who.
        to: NodeId,
        /// For this recovery.
        session: Session,
        /// All that are not live.
        lost: Vec<NodeId>,
    },
    /// A survivor begins new links to these, and forgets what it knows of their logs beyond those ends.
    Announce {
        /// Who.
        to: NodeId,
        /// For this recovery.
        session: Session,
        /// The lost, with their logs' ends and new incarnations.
        restarted: Vec<(Cut, Incarnation)>,
    },
    /// A new process restores its image and is guided to its horizon.
    Restore {
        /// Who.
        to: NodeId,
        /// For this recovery.
        session: Session,
        /// The incarnations of all nodes.
        incarnations: Vec<Incarnation>,
        /// Where the logs of all former ones end.
        cuts: Cuts,
        /// How.
        restore: Restore,
    },
    /// A restored node goes on like all others.
    GoLive {
        /// Who.
        to: NodeId,
        /// For this recovery.
        session: Session,
    },
    /// Everybody may forget what is before these images, by node.
    Forget {
        /// To all that are there.
        kept: Vec<Position>,
    },
    /// Whether a loss could be one too many.
    Degraded(bool),
    /// The job cannot go on.
    GiveUp(Loss),
}

/// Leads a job through its losses.
#[derive(Clone, Debug)]
pub struct Leader {
    shape: Shape,
    /// That of the line. To numbers that no node has nobody sends anything, or waits for them.
    membership: Membership,
    /// Order is with senders and receivers alone: of two that are lost at once it is gone.
    one_at_a_time: bool,
    incarnations: Vec<Incarnation>,
    /// Nodes that are not live.
    lost: BTreeSet<NodeId>,
    /// Those of them that came with the line, and have not been live: nobody has taken anything of them.
    fresh: BTreeSet<NodeId>,
    session: Session,
    phase: Phase,
    cuts: Cuts,
    /// Committed images that may be gone back to, by node, oldest first.
    images: Vec<Vec<Position>>,
    /// Lines that were printed, by PE.
    printed: Lengths,
}

#[derive(Clone, Debug)]
enum Phase {
    Running,
    Asking {
        held: BTreeMap<NodeId, Holdings>,
        arrived: BTreeSet<NodeId>,
    },
    Announcing {
        plan: Plan,
        missing: BTreeSet<NodeId>,
    },
    /// `unkept`: nodes of which nobody keeps what they begin with, until their keepers say so.
    Replaying {
        at_horizon: BTreeSet<NodeId>,
        covered: BTreeSet<NodeId>,
        unkept: BTreeSet<NodeId>,
    },
    GaveUp,
}

impl Leader {
    /// Of a job that begins with these images, one of each node.
    #[must_use]
    pub fn new(shape: Shape, images: Vec<Position>) -> Self {
        Leader {
            shape,
            membership: Membership::around(shape.nodes),
            one_at_a_time: false,
            incarnations: vec![0; shape.nodes as usize],
            lost: BTreeSet::new(),
            fresh: BTreeSet::new(),
            session: 0,
            phase: Phase::Running,
            cuts: Cuts::default(),
            images: images.into_iter().map(|image| vec![image]).collect(),
            printed: Lengths::default(),
        }
    }

    /// The same where these are there, and keep the images and logs of nodes.
    #[must_use]
    pub fn among(self, membership: Membership) -> Self {
        Leader { membership, ..self }
    }

    /// Who is there in the line that the job is in.
    #[must_use]
    pub fn membership(&self) -> &Membership {
        &self.membership
    }

    /// The same where a second loss is one too many until the first node is live again, if so (`logging:ticket`).
    #[must_use]
    pub fn one_at_a_time(self, one_at_a_time: bool) -> Self {
        Leader { one_at_a_time, ..self }
    }

    /// The nodes that there are, lost or not, in increasing order.
    pub fn there(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.membership.view.there()
    }

    /// All nodes begin a new line with images that are kept by their keepers: nobody goes back behind it. To be told while all are live.
    /// Incarnations and sessions go on, what is said is counted anew; others may be there in it. Whoever was not there before is one that is lost
    /// when the line begins, and goes back to its beginning: what is to be done for that.
    #[must_use]
    pub fn begin_line(&mut self, membership: Option<Membership>) -> Vec<Order> {
        let next = membership.unwrap_or_else(|| self.membership.clone());
        let former = std::mem::replace(&mut self.membership, next);
        self.fresh = self.membership.newcomers(&former).collect();
        self.images =
            (0..self.shape.nodes).map(|node| vec![Position::at_beginning(node, self.shape)]).collect();
        self.cuts = Cuts::default();
        if !mutated("printed-counts-on-in-the-next-line") {
            self.printed = Lengths::default();
        }
        if self.fresh.is_empty() { Vec::new() } else { self.on_lost(self.fresh.clone()) }
    }

    /// A leader before this one is lost, and somebody says where it is, in the line that the job is in or in the one before.
    pub(super) fn hear_of(&mut self, standing: &Standing, is_in_line: bool) {
        if !mutated("sessions-begin-again") {
            self.session = self.session.max(standing.session);
        }
        for (known, heard) in self.incarnations.iter_mut().zip(&standing.incarnations) {
            *known = if mutated("incarnations-begin-again") { *known } else { *heard.max(known) };
        }
        let of_line = standing.cuts.iter().filter(|_| is_in_line && !mutated("cuts-are-not-asked-for"));
        of_line.for_each(|cut| self.cuts.add_new(cut));
    }

    /// The recovery that was the last to begin.
    #[must_use]
    pub fn session(&self) -> Session {
        self.session
    }

    /// Whether all nodes are live.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running)
    }

    /// Whether a node is lost, or not live again yet.
    #[must_use]
    pub fn is_lost(&self, node: NodeId) -> bool {
        self.lost.contains(&node)
    }

    /// Lines of a PE were printed, so many in all.
    pub fn on_printed(&mut self, log: LogId, lines: u64) {
        self.printed.raise(log, lines);
    }

    /// How many lines of a PE were printed: those that come again are not.
    #[must_use]
    pub fn printed(&self, log: LogId) -> u64 {
        self.printed.get(log)
    }

    /// These nodes are lost: that is proved. Nobody may be, for a leader that has taken another's place.
    #[must_use]
    pub fn on_lost(&mut self, nodes: impl IntoIterator<Item = NodeId>) -> Vec<Order> {
        if matches!(self.phase, Phase::GaveUp) {
            return Vec::new();
        }
        if !self.is_running() {
            sometimes("a node was lost during a recovery");
        }
        if mutated("second-loss-forgets-first") {
            self.lost.clear();
        }
        let view = &self.membership.view;
        let is_node = |node: &NodeId| view.is_there(*node);
        self.lost.extend(nodes.into_iter().filter(is_node));
        self.session += 1;
        self.phase = Phase::Asking { held: self.of_absent(), arrived: BTreeSet::new() };
        if self.survivors().next().is_none() {
            return self.give_up(Loss::Everybody);
        }
        let away: Vec<_> = self.lost.difference(&self.fresh).copied().collect();
        if self.one_at_a_time && away.len() > 1 && !mutated("ticket-two-at-once") {
            return self.give_up(Loss::AtOnce(away));
        }
        self.lost.iter().for_each(|node| self.incarnations[*node as usize] += 1);
        let lost: Vec<_> = self.lost.iter().copied().collect();
        let start =
            |node: &NodeId| Order::Start { node: *node, incarnation: self.incarnations[*node as usize] };
        let ask = |to| Order::Ask { to, session: self.session, lost: lost.clone() };
        let orders = lost.iter().map(start).chain(self.survivors().map(ask));
        orders.chain([Order::Degraded(true)]).collect()
    }

    /// A process has taken a lost node's place.
    #[must_use]
    pub fn on_arrived(&mut self, node: NodeId, incarnation: Incarnation) -> Vec<Order> {
        let is_newest = self.incarnations.get(node as usize) == Some(&incarnation);
        if let Phase::Asking { arrived, .. } = &mut self.phase
            && is_newest
        {
            arrived.insert(node);
        }
        self.plan_if_all_have_answered()
    }

    /// A survivor says what it holds.
    #[must_use]
    pub fn on_held(&mut self, node: NodeId, session: Session, holdings: Holdings) -> Vec<Order> {
        if session != self.session || self.lost.contains(&node) {
            sometimes("a survivor answered for a recovery that was over");
            return Vec::new();
        }
        if let Phase::Asking { held, .. } = &mut self.phase {
            held.insert(node, holdings);
        }
        self.plan_if_all_have_answered()
    }

    /// Whoever is not there has sent nothing, and was sent nothing.
    fn of_absent(&self) -> BTreeMap<NodeId, Holdings> {
        let nothing = |node: &NodeId| {
            let present = Position::at_beginning(*node, self.shape);
            (*node, Holdings { present, ..Holdings::default() })
        };
        let absent = self.membership.absent();
        absent.iter().filter(|_| !mutated("absent-have-no-place")).map(nothing).collect()
    }

    fn plan_if_all_have_answered(&mut self) -> Vec<Order> {
        let Phase::Asking { held, arrived } = &self.phase else { return Vec::new() };
        if self.survivors().any(|node| !held.contains_key(&node)) || !self.lost.is_subset(arrived) {
            return Vec::new();
        }
        let ended = |node: &NodeId| (*node, self.incarnations[*node as usize] - 1);
        let lost = self.lost.iter().map(ended).collect();
        let answers = Answers { shape: self.shape, held, lost: &lost, printed: &self.printed };
        match Plan::of(&answers, alone) {
            Err(loss) => self.give_up(loss),
            Ok(plan) => {
                let images = self.lost.iter().map(|node| (*node, answers.image(*node, &plan))).collect();
                self.announce(plan, images)
            }
        }
    }

    fn announce(&mut self, plan: Plan, images: Vec<(NodeId, Option<Position>)>) -> Vec<Order> {
        for (node, image) in images {
            self.images[node as usize] = image.into_iter().collect();
        }
        plan.cuts.iter().for_each(|cut| self.cuts.add(cut.clone()));
        let restarted = |cut: &Cut| (cut.clone(), self.incarnations[cut.node as usize]);
        let restarted: Vec<_> = plan.cuts.iter().map(restarted).collect();
        let session = self.session;
        let announce = |to| Order::Announce { to, session, restarted: restarted.clone() };
        let orders = self.survivors().map(announce).collect();
        let missing = self.survivors().collect();
        self.phase = Phase::Announcing { plan, missing };
        orders
    }

    /// A survivor has heard of the new incarnations.
    #[must_use]
    pub fn on_announced(&mut self, node: NodeId, session: Session) -> Vec<Order> {
        let Phase::Announcing { plan, missing } = &mut self.phase else { return Vec::new() };
        if session != self.session {
            return Vec::new();
        }
        missing.remove(&node);
        if !missing.is_empty() {
            return Vec::new();
        }
        let restored = std::mem::take(&mut plan.restored);
        if self.lost.is_empty() {
            return self.go_on();
        }
        let (at_horizon, covered) = (BTreeSet::new(), BTreeSet::new());
        let unkept = restored.iter().filter(|(_, restore)| restore.is_new).map(|(node, _)| *node).collect();
        self.phase = Phase::Replaying { at_horizon, covered, unkept };
        let restore = |(to, restore)| Order::Restore {
            to,
            session,
            incarnations: self.incarnations.clone(),
            cuts: self.cuts.clone(),
            restore,
        };
        restored.into_iter().map(restore).collect()
    }

    /// A restored node has sent all that anybody took, and its keeper has its image and its log again.
    #[must_use]
    pub fn on_at_horizon(&mut self, node: NodeId, session: Session) -> Vec<Order> {
        if let Phase::Replaying { at_horizon, .. } = &mut self.phase
            && session == self.session
        {
            at_horizon.insert(node);
        }
        self.go_live_if_ready(node)
    }

    /// What a restored node had kept for this one is kept by it again, or what this one begins with, which is new.
    #[must_use]
    pub fn on_covered(&mut self, ward: NodeId, session: Session) -> Vec<Order> {
        if let Phase::Replaying { covered, .. } = &mut self.phase
            && session == self.session
        {
            covered.insert(ward);
        }
        let keeper = self.membership.keeper(ward);
        let orders = self.go_live_if_ready(keeper);
        orders.into_iter().chain(self.go_live_if_ready(ward)).collect()
    }

    fn go_live_if_ready(&mut self, node: NodeId) -> Vec<Order> {
        let Phase::Replaying { at_horizon, covered, unkept } = &self.phase else { return Vec::new() };
        let is_good = self.membership.keepers.wards(node).all(|ward| covered.contains(&ward));
        let is_good = is_good || mutated("not-remade-before-live");
        let is_kept = !unkept.contains(&node) || covered.contains(&node) || mutated("live-before-it-is-kept");
        if !self.lost.contains(&node) || !at_horizon.contains(&node) || !is_good || !is_kept {
            return Vec::new();
        }
        self.lost.remove(&node);
        self.fresh.remove(&node);
        let mut orders = vec![Order::GoLive { to: node, session: self.session }];
        if self.lost.is_empty() {
            orders.extend(self.go_on());
        }
        orders
    }

    /// All nodes are live.
    fn go_on(&mut self) -> Vec<Order> {
        self.phase = Phase::Running;
        [Order::Degraded(false)].into_iter().chain(self.collect()).collect()
    }

    /// A node's image is committed: its keeper has all of it.
    #[must_use]
    pub fn on_imaged(&mut self, node: NodeId, image: Position) -> Vec<Order> {
        let images = &mut self.images[node as usize];
        if images.last().is_some_and(|last| last.image >= image.image) {
            return Vec::new();
        }
        images.push(image);
        // Recoveries go by what survivors hold: nothing of it is to go meanwhile.
        if self.is_running() { self.collect().into_iter().collect() } else { Vec::new() }
    }

    /// What nobody is ever asked for again.
    fn collect(&mut self) -> Option<Order> {
        let places = |images: &Vec<Position>| Places { images: images.clone(), present: None };
        let nodes: Vec<_> = self.images.iter().map(places).collect();
        let line = line(self.shape, &nodes, |_| true, alone).ok()?;
        let mut any = false;
        for (images, place) in self.images.iter_mut().zip(line) {
            if let Place::Image(oldest) = place {
                any |= oldest > 0;
                images.drain(..oldest);
            }
        }
        let oldest = |images: &Vec<Position>| images.first().cloned();
        let kept = self.images.iter().map(oldest).collect::<Option<Vec<_>>>()?;
        any.then_some(Order::Forget { kept })
    }

    fn survivors(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.there().filter(|node| !self.lost.contains(node))
    }

    fn give_up(&mut self, loss: Loss) -> Vec<Order> {
        self.phase = Phase::GaveUp;
        vec![Order::GiveUp(loss)]
    }
}

impl Protocol for Leader {
    fn on_event(&mut self, event: Event) -> Vec<Action> {
        let orders = match event {
            Event::Lost(nodes) => self.on_lost(nodes),
            Event::Arrived(node, incarnation) => self.on_arrived(node, incarnation),
            Event::Held(node, session, holdings) => self.on_held(node, session, *holdings),
            Event::Announced(node, session) => self.on_announced(node, session),
            Event::AtHorizon(node, session) => self.on_at_horizon(node, session),
            Event::Covered(ward, session) => self.on_covered(ward, session),
            Event::Imaged(node, position) => self.on_imaged(node, *position),
            Event::Printed(log, lines) => {
                self.on_printed(log, lines);
                Vec::new()
            }
            _ => Vec::new(),
        };
        orders.into_iter().map(Action::Order).collect()
    }
}
