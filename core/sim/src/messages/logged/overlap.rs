//! Turns of the PEs of a node that overlap, as on threads (`core/node/src/logged/task.rs`): while one has its turn, the node takes in other
//! things, others have theirs, frames leave, and only then it comes back what the PE was given, has sent and has said.
//!
//! Here the turn is over at once, and what came of it is held. Nobody sees a difference but by what the node does meanwhile.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Logged;
use super::post::Mail;
use crate::messages::{Cluster, Rules};
use talisman_base::ids::PeId;
use talisman_core::logging::member::Member;
use talisman_core::logging::recorder::Lent;
use talisman_core::logging::words::Said;
use talisman_ft::NodeId;
use talisman_kernel::port::{Parcel, Sent};

/// Of so many turns of a PE that is not its node's only one, one is over at once.
const AT_ONCE: u64 = 2;

/// Turns that have been handed out and are not back.
#[derive(Default)]
pub(super) struct Overlaps {
    out: BTreeMap<PeId, Out>,
    /// The PE that has its turn, if what comes of that is to be held; the one of which that comes back.
    handed: Option<PeId>,
    back: Option<PeId>,
    turns: u64,
}

/// What has come of a turn.
struct Out {
    turn: u64,
    record: Lent,
    said: Vec<Said>,
    sent: Vec<Sent>,
    /// The PE was to have another one meanwhile.
    is_wanted: bool,
}

impl Overlaps {
    /// A PE that is out is to have a turn, which comes later.
    pub(super) fn want_turn(&mut self, pe: PeId) {
        self.out.get_mut(&pe).into_iter().for_each(|out| out.is_wanted = true);
    }

    pub(super) fn is_out(&self, pe: PeId) -> bool {
        self.out.contains_key(&pe)
    }

    /// Whether any of these is.
    pub(super) fn are_any_out(&self, pes: Range<PeId>) -> bool {
        self.out.range(pes).next().is_some()
    }

    pub(super) fn is_all_back(&self) -> bool {
        self.out.is_empty()
    }
}

impl Cluster {
    fn pes_of_node(&self, node: NodeId) -> Range<PeId> {
        self.shape.first_pe(node)..self.shape.first_pe(node + 1)
    }

    pub(super) fn is_any_out(&self, node: NodeId) -> bool {
        self.logged().overlaps.are_any_out(self.pes_of_node(node))
    }

    /// A PE begins something; what comes of that may come back later.
    pub(super) fn hand_out(&mut self, pe: PeId) {
        let is_alone = self.shape.pes_per_node == 1;
        let logged = self.logged_mut();
        let overlaps = !is_alone && logged.draws_overlaps && logged.post.below(AT_ONCE) != 0;
        logged.overlaps.handed = overlaps.then_some(pe);
    }

    /// It is over.
    pub(super) fn end_handing(&mut self) {
        self.logged_mut().overlaps.handed = None;
    }

    /// Something has come of what a PE did: what is its node's now. Nothing as long as it is held.
    pub(super) fn held_or_back(
        &mut self,
        id: PeId,
        said: Vec<Said>,
        sent: Vec<Sent>,
    ) -> Option<(Vec<Said>, Vec<Sent>)> {
        let (node, rank) = self.place(id);
        let logged = self.logged_mut();
        if logged.overlaps.handed == Some(id) {
            let turn = logged.overlaps.turns;
            logged.overlaps.turns += 1;
            let Some(member) = logged.member(node) else { return Some((said, sent)) };
            let record = member.record(rank).lend();
            let held = logged.overlaps.out.insert(id, Out { turn, record, said, sent, is_wanted: false });
            assert!(held.is_none(), "PE {id} has two turns at once");
            self.post(Mail::TurnOver { pe: id, turn });
            return None;
        }
        let is_back = logged.overlaps.back == Some(id);
        let back = is_back.then(|| logged.overlaps.out.remove(&id)).flatten();
        match back {
            None => {
                logged.member(node).into_iter().for_each(Member::absorb);
                Some((said, sent))
            }
            Some(out) => {
                if let Some(member) = logged.member(node) {
                    member.take_back(rank, out.record);
                }
                Some((out.said, out.sent))
            }
        }
    }

    /// The time of a turn has come of a PE that is out: it comes later.
    pub(super) fn put_off_turn(&mut self, pe: PeId, at: u64) {
        if self.takes_turn(pe, at) {
            self.logged_mut().overlaps.want_turn(pe);
        }
    }

    /// A turn comes back, if it has not yet.
    pub(super) fn on_turn_over(&mut self, pe: PeId, turn: u64, rules: &mut impl Rules) {
        let out = self.logged().overlaps.out.get(&pe).filter(|out| out.turn == turn);
        if out.is_some() {
            self.bring_back(pe, rules);
        }
    }

    fn bring_back(&mut self, pe: PeId, rules: &mut impl Rules) {
        let is_wanted = self.logged().overlaps.out.get(&pe).is_some_and(|out| out.is_wanted);
        self.logged_mut().overlaps.back = Some(pe);
        rules.collect(self, pe);
        self.logged_mut().overlaps.back = None;
        if is_wanted {
            let now = self.clock.get();
            self.wake(pe, now);
        }
    }

    /// All that the PEs of a node are at comes back.
    pub(super) fn gather(&mut self, node: NodeId, rules: &mut impl Rules) {
        for pe in self.pes_of_node(node) {
            if self.logged().overlaps.is_out(pe) {
                self.bring_back(pe, rules);
            }
        }
    }

    /// What the PEs of a node that is lost were at is lost with it.
    pub(super) fn take_held(&mut self, node: NodeId) -> Vec<Parcel> {
        let pes = self.pes_of_node(node);
        let out = &mut self.logged_mut().overlaps.out;
        let all: Vec<_> = pes.filter_map(|pe| out.remove(&pe)).collect();
        all.into_iter().flat_map(|out| out.sent).map(|sent| sent.parcel).collect()
    }
}

impl Logged {
    /// Whether any PE of the job is at something.
    pub(super) fn is_any_at_something(&self) -> bool {
        !self.overlaps.is_all_back()
    }
}
