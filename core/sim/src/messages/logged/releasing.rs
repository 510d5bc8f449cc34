//! Nodes are released at a cut, or added, as in processes (`core/control/src/coordinator/releasing.rs`, `growing.rs`): whoever leads says who is to
//! be there in the next line, and when that begins, the others go, and processes of the new ones are there a while later.

use super::Logged;
use super::post::Mail;
use crate::messages::{Cluster, Rules};
use talisman_core::logging::member::Member;
use talisman_ft::logging::Membership;
use talisman_ft::{NodeId, Version};

impl Cluster {
    /// Somebody outside wants to have these nodes released.
    pub(super) fn want_release(&mut self, nodes: &[u32]) {
        self.want_others(|present, number| present.releasing(number, nodes, |node| node));
    }

    /// The same with these nodes as well, of those that are not there.
    pub(super) fn want_more(&mut self, nodes: &[u32]) {
        self.want_others(|present, number| Some(present.gaining(number, nodes, |node| node)));
    }

    /// All go on: from the next line on all are kept by the next ones around the ring on other hosts. Each new process is on the next host.
    pub(super) fn spread_keepers(&mut self) {
        let Logged { votes, leader, newest, ending, .. } = self.logged_mut();
        let host = |node: NodeId| (node + newest[node as usize]) % newest.len() as u32;
        let present = leader.membership();
        let expected = votes.coming().unwrap_or(present);
        let is_due = expected.view == present.view && leader.is_running() && ending.is_none();
        let next = expected.by_the_ring(expected.number + 1, host).filter(|_| is_due);
        if next.is_some() {
            votes.expect(next);
            self.tell_coming();
        }
    }

    fn want_others(&mut self, next: impl FnOnce(&Membership, u32) -> Option<Membership>) {
        let Logged { votes, leader, leading, .. } = self.logged_mut();
        let present = leader.membership();
        let number = votes.coming().unwrap_or(present).number + 1;
        let next = next(present, number).filter(|_| leading.gathering.is_none());
        if next.is_some() {
            votes.expect(next);
            self.tell_coming();
            self.want_cut();
        }
    }

    /// All are told who is to be there in the next line, if these are others.
    pub(super) fn tell_coming(&mut self) {
        let there: Vec<_> = self.logged().leader.there().collect();
        there.into_iter().for_each(|to| self.tell_coming_to(to));
    }

    pub(super) fn tell_coming_to(&mut self, to: NodeId) {
        let incarnation = self.logged().newest[to as usize];
        if let Some(membership) = self.logged().votes.coming().cloned() {
            self.post(Mail::Expect { to, incarnation, membership: Box::new(membership) });
        }
    }

    /// A line has begun, or whoever leads now knows who is there.
    pub(super) fn take_up_membership(&mut self) {
        let logged = self.logged_mut();
        logged.membership = logged.leader.membership().clone();
        self.first = self.logged().view().first();
    }

    /// A node is told that this line has begun: it is in it, or goes.
    pub(super) fn tell_line(&mut self, to: NodeId, version: Version) {
        let (incarnation, membership) = (self.logged().newest[to as usize], self.logged().membership.clone());
        self.post(match membership.view.is_there(to) {
            true => Mail::Line { to, incarnation, version, membership: Box::new(membership) },
            false => Mail::Leave { to, incarnation },
        });
    }

    /// A node goes that is not there in the line that has begun.
    pub(super) fn leave(&mut self, node: NodeId, rules: &mut impl Rules) {
        self.gather(node, rules);
        let parcels = self.logged_mut().member(node).map_or(Vec::new(), Member::take_rings);
        self.discard_all(node, parcels);
        self.clear_away(node);
    }
}
