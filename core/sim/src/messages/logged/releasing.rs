//! Nodes are released at a cut, as in processes (`core/control/src/coordinator/releasing.rs`): whoever leads says who is to be there in the next
//! line, and when that begins, the others go.

use super::Logged;
use super::post::Mail;
use crate::messages::{Cluster, Rules};
use talisman_core::logging::member::Member;
use talisman_ft::{NodeId, Version};

impl Cluster {
    /// Somebody outside wants to have these nodes released.
    pub(super) fn want_release(&mut self, nodes: &[u32]) {
        let Logged { votes, leader, leading, .. } = self.logged_mut();
        let present = leader.membership();
        let number = votes.coming().unwrap_or(present).number + 1;
        let next = present.releasing(number, nodes, |node| node).filter(|_| leading.gathering.is_none());
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
