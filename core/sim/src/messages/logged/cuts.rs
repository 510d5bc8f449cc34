//! How nodes come from one line to the next, as in processes (`core/node/src/logged/driver/lines.rs`): all PEs of a node have taken their
//! parts of a cut, these are held twice, and when whoever leads has heard that of all, each makes its PEs anew from them.

use super::{EVENTS_MAX, Logged};
use crate::messages::{Cluster, Rules};
use talisman_base::ids::PeId;
use talisman_core::checkpoint::cut::CutOnPe;
use talisman_core::logging::image::{Beginning, Image};
use talisman_core::logging::letter::Letter;
use talisman_core::logging::member::Member;
use talisman_core::logging::words::Word;
use talisman_ft::action::Action;
use talisman_ft::logging::{Incarnation, Membership, Order};
use talisman_ft::{NodeId, Version};
use talisman_job::job::Job;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::turn::Command;
use talisman_pup::Packed;

/// What another node has sent.
pub(super) enum FromNode {
    /// On the lane of this rank.
    Letter(NodeId, u32, Letter),
    /// Beside it.
    Word(NodeId, (Incarnation, Incarnation), Word),
}

impl Cluster {
    /// Somebody outside wants a cut. If the first PE is lost before it knows of that, or with what it knows, it is asked again.
    pub(super) fn want_cut(&mut self) {
        self.logged_mut().wants_cut = true;
        self.ask_for_cut_if_wanted();
    }

    /// The same, and the job goes on until the cut has come so far from this line, or all have begun the next one.
    pub(super) fn cut_until(
        &mut self,
        job: &Job,
        rules: &mut impl Rules,
        has_come: impl Fn(&Cluster, Version) -> bool,
    ) {
        let (line, most) = (self.logged().votes.line(), self.trace.events + EVENTS_MAX);
        self.want_cut();
        self.go_on(job, rules, |cluster| {
            has_come(cluster, line) || cluster.is_after(line) || cluster.trace.events >= most
        });
    }

    /// The first PE is asked in its next turn.
    pub(super) fn ask_for_cut_if_wanted(&mut self) {
        let (first, now) = (self.first, self.present());
        if self.logged().wants_cut {
            self.logged_mut().asks_for_cut = true;
            self.wake(first, now);
        }
    }

    /// A PE has its turn: the first one may be asked for a cut.
    pub(super) fn ask_in_turn(&mut self, pe: PeId, at: u64, rules: &mut impl Rules) {
        let is_asked = pe == self.first && self.states[pe as usize].planned == Some(at);
        if is_asked && std::mem::take(&mut self.logged_mut().asks_for_cut) {
            self.command(pe, Command::Checkpoint { asked: None, leaving: Vec::new() });
            // As in a process: what it has sent is in the rings before anything is that it takes in next.
            rules.collect(self, pe);
        }
        let (node, rank) = self.place(pe);
        let without_room = if rank == 0 { self.logged_mut().without_room.remove(&node) } else { None };
        let incarnation = self.logged().newest[node as usize];
        if let Some((_, version)) = without_room.filter(|(of, _)| *of == incarnation) {
            self.command(pe, Command::CannotKeep(version));
            rules.collect(self, pe);
        }
    }

    /// A node was asked whether it has memory for the part of another.
    pub(super) fn answer_room(&mut self, node: NodeId, of: NodeId, version: Version) {
        let refused = &mut self.logged_mut().rooms_refused;
        let has_room = *refused == 0;
        *refused = refused.saturating_sub(1);
        self.logged_mut().member(node).into_iter().for_each(|member| member.has_room(of, version, has_room));
        self.carry(node);
    }

    /// All nodes are live, in a line after this one.
    pub(super) fn is_after(&self, line: Version) -> bool {
        let logged = self.logged();
        logged.is_at_rest() && logged.members.iter().flatten().all(|member| member.line() > line)
    }

    /// One of them is.
    pub(super) fn is_any_after(&self, line: Version) -> bool {
        self.logged().members.iter().flatten().any(|member| member.line() > line)
    }

    /// Something has happened on a node: what follows from it about a cut is done.
    pub(super) fn see_to_cut(&mut self, job: &Job, node: NodeId) {
        let given_up = self.pes_of(node).iter().map(|pe| pe.given_up_cut().0).max().unwrap_or(0);
        let live = self.logged_mut().member(node).filter(|member| member.is_live());
        live.into_iter().for_each(|member| member.give_up(given_up));
        let Some(version) = self.cut_of(node).filter(|_| self.logged().ending.is_none()) else { return };
        let is_new = |member: &mut Member| member.next_version() != Some(version);
        if self.logged_mut().member(node).is_some_and(is_new) {
            match self.image_of_cut(node, version) {
                Ok(image) => {
                    self.logged_mut().member(node).into_iter().for_each(|member| member.hold(image.clone()))
                }
                Err(why) => return job.end(1, Some(why)),
            }
        }
        self.logged_mut().member(node).into_iter().for_each(Member::see_to_next);
        self.carry(node);
    }

    /// The version of which all PEs of a live node have taken their parts.
    fn cut_of(&mut self, node: NodeId) -> Option<Version> {
        self.logged_mut().member(node).filter(|member| member.is_live())?;
        if self.is_any_out(node) {
            return None;
        }
        let mut cuts = self.pes_of(node).iter().map(|pe| pe.has_cut().filter(|_| !pe.node.job.is_over()));
        let first = cuts.next()??;
        cuts.all(|cut| cut == Some(first)).then_some(first)
    }

    fn pes_of(&self, node: NodeId) -> &[Pe] {
        &self.pes[self.shape.first_pe(node) as usize..self.shape.first_pe(node + 1) as usize]
    }

    fn image_of_cut(&self, node: NodeId, version: Version) -> Result<Image, String> {
        let (pes, logged) = (self.pes_of(node), self.logged());
        let parts = pes.iter().map(|pe| pe.part_of_cut(version)).collect::<Result<Vec<Packed>, _>>();
        let parts =
            parts.map_err(|error| format!("a part of cut {version} of node {node} is gone: {error}"))?;
        pes[0].drop_cut(version);
        let states = parts.into_iter().map(Beginning::Parts).collect();
        let image = Image::first(node, logged.shape, self.present(), states);
        let image = image.taken_in(logged.view_of(node).of_nodes().clone());
        Ok(image.of_cut(version, pes[0].node.job.results()))
    }

    /// Whoever leads begins the next line once all hold their parts. A job that ends takes no more of them.
    pub(super) fn begin_line_if_all_hold(&mut self, job: &Job) {
        let Logged { votes, leader, ending, wants_cut, .. } = self.logged_mut();
        if ending.is_some() {
            return;
        }
        let Some((version, orders)) = votes.begin_line(leader) else { return };
        *wants_cut = false;
        self.take_up_membership();
        for to in 0..self.shape.nodes {
            self.tell_line(to, version);
        }
        for order in &orders {
            if let Order::Start { node, .. } = order {
                // Nobody has lost it, and it is restored.
                *self.logged_mut().went_back.lost.entry(*node).or_default() += 1;
            }
        }
        self.carry_out(job, orders.into_iter().map(Action::Order).collect());
        self.spread_keepers();
    }

    /// A node hears that the next line has begun: its PEs go, and others are made from its part.
    pub(super) fn begin_line(
        &mut self,
        job: &Job,
        node: NodeId,
        (version, membership): (Version, Membership),
        rules: &mut impl Rules,
    ) {
        self.gather(node, rules);
        if let Err(why) = self.compare_with_twin(node, version) {
            return job.end(1, Some(why));
        }
        let now = self.clock.get();
        let Some(mut member) = self.logged_mut().members[node as usize].take() else { return };
        self.discard_all(node, member.take_rings());
        self.pes_of(node).iter().for_each(|pe| pe.end_cut());
        let of_node = self.pes_of(node)[0].node.job.clone();
        if node == self.shape.node_of(self.first) {
            of_node.checkpoints().pop().into_iter().for_each(|taken| job.took_checkpoint(taken));
        }
        let image = match member.begin_line(version, membership) {
            Ok((member, image)) => {
                self.logged_mut().members[node as usize] = Some(member);
                image
            }
            Err(why) => return job.end(1, Some(format!("node {node}: {why}"))),
        };
        self.clock.set(image.made_at);
        image.reported().iter().for_each(|(name, value)| of_node.record(name, value.clone()));
        self.make_pes_of(node, of_node);
        self.enter(job, node, version, rules);
        for pe in self.shape.first_pe(node)..self.shape.first_pe(node + 1) {
            let (_, rank) = self.place(pe);
            let Some(member) = self.logged_mut().member(node) else { return };
            let recorder = member.record(rank).recorder();
            self.clock.set(image.made_at);
            self.begin_pe(job, pe, &image, recorder, rules);
        }
        self.clock.set(now);
        self.wake_node(node);
    }

    /// A node is in this line from now on: what others have sent in it already is taken.
    pub(super) fn enter(&mut self, job: &Job, node: NodeId, line: Version, rules: &mut impl Rules) {
        let later = self.logged_mut().doors[node as usize].enter(line);
        for came in later {
            self.logged_mut().take_in_of(node, came);
            self.see_to(job, node, rules);
        }
    }
}

impl Logged {
    /// Something has come to a node, of one that was in that line.
    pub(super) fn come(&mut self, to: NodeId, line: Version, came: FromNode) {
        let is_there = self.members[to as usize].is_some();
        let admitted = self.doors[to as usize].admit(line, came).filter(|_| is_there);
        admitted.into_iter().for_each(|came| self.take_in_of(to, came));
    }

    fn take_in_of(&mut self, to: NodeId, came: FromNode) {
        let now = self.now;
        let Some(member) = self.member(to) else { return };
        member.set_now(now);
        match came {
            FromNode::Letter(from, rank, letter) => member.receive(from, rank, letter),
            FromNode::Word(from, between, word) => member.hear(from, between, word),
        }
        let (line, came) = (member.line(), member.take_came());
        came.into_iter().for_each(|came| self.shadow.take(line, came));
    }
}
