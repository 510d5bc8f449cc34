//! A launcher that has taken another's place, until all nodes that are left have said where they are
//! (`talisman_ft::logging::Gathering`).

use talisman_base::topology;
use talisman_ft::Version;
use talisman_ft::logging::{self, LogId, Order, Seen, Standing, Succession};
use talisman_job::lines::Piece;
use talisman_job::{CheckpointTaken, Failure};
use talisman_observe::mutations::mutated;

use super::Logging;
use crate::follower::Followers;
use crate::plan::Plan;
use crate::protocol::Stop;

/// What it knows by then.
pub(super) struct Gathering {
    left: logging::Gathering,
    /// What was printed last, whoever has heard of that.
    seen: Vec<Seen>,
    end: Option<Stop>,
}

/// How it goes on then.
pub struct Led {
    /// Nodes that have not heard of the line that the job is in.
    pub behind: Vec<u32>,
    /// Nodes that are not there in it, and have not heard of that.
    pub released: Vec<u32>,
    /// How the job ends, if that was said.
    pub end: Option<Stop>,
    /// What is to be done.
    pub orders: Vec<Order>,
}

impl Logging {
    /// Of a job whose launcher is gone, of which these are left: each is to say where it is. It has had these losses.
    pub fn taking_over(plan: &Plan, followers: &Followers, failures: Vec<Failure>) -> Self {
        let left = logging::Gathering::of((0..plan.nodes).filter(|node| followers.has(*node)));
        let seen = followers.seen().filter_map(|piece| seen(plan, piece)).collect();
        let gathering = Some(Gathering { left, seen, end: None });
        // How much was printed since a line that is on disk is not known.
        Logging { gathering, failures, on_disk: None, ..Logging::new(plan) }
    }

    /// Whether not all have said where they are.
    pub fn is_gathering(&self) -> bool {
        self.gathering.is_some()
    }

    /// A node says where it is, how it was told that the job ends, and what cuts had cost.
    pub fn on_standing(
        &mut self,
        node: u32,
        standing: Standing,
        end: Option<Stop>,
        took: Vec<CheckpointTaken>,
    ) {
        let Some(gathering) = &mut self.gathering else { return };
        gathering.left.on_standing(node, standing);
        let is_heard = gathering.end.as_ref().is_none_or(|known| known.status == 0);
        if is_heard && !mutated("end-is-not-asked-for") {
            gathering.end = end.or(gathering.end.take());
        }
        took.into_iter().for_each(|taken| self.on_took(taken));
    }

    /// One that is left is lost as well.
    pub(super) fn lose_while_gathering(&mut self, node: u32) -> bool {
        let Some(gathering) = &mut self.gathering else { return false };
        gathering.left.on_lost(node);
        true
    }

    /// Leads them, once all have.
    pub fn lead_on(&mut self) -> Option<Led> {
        let Gathering { left, seen, end } =
            self.gathering.take_if(|gathering| gathering.left.is_complete())?;
        let Succession { leader, votes, behind, released, unfinished, orders } =
            left.lead(self.leader.clone(), &seen);
        (self.leader, self.votes, self.restoring) = (leader, votes, unfinished.into_iter().collect());
        // Who was released is not lost.
        let view = self.leader.membership().view.clone();
        self.failures.retain(|failure| failure.node.is_none_or(|node| view.is_there(node)));
        Some(Led { behind, released, end, orders })
    }

    /// Somebody who is lost, and in whose place nobody is.
    pub fn missed(&self) -> Option<&Failure> {
        self.failures.iter().find(|failure| failure.node.is_some() && !failure.is_settled())
    }
}

/// What was printed of a PE, if it is one.
fn seen(plan: &Plan, (line, pe, number): Piece) -> Option<Seen> {
    let shape = topology::Shape { nodes: plan.nodes, pes_per_node: plan.pes };
    if pe >= shape.pes() {
        return None;
    }
    let node = shape.node_of(pe);
    Some((line, LogId { node, rank: pe - shape.first_pe(node) }, number))
}

/// What something that a PE says is called, when it is printed.
pub fn piece_of(plan: &Plan, line: Version, log: LogId, number: u64) -> Piece {
    (line, log.node * plan.pes + log.rank, number as u32)
}
