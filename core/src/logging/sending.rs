//! What a node's PEs send: numbered, retained, and let go with what rides on it.

use super::letter::Letter;
use super::mark::{Differs, Mark};
use super::member::{Member, Numbered, Sent, Taken};
use super::words::Out;
use talisman_ft::NodeId;
use talisman_ft::logging::{Lane, Retained};
use talisman_kernel::pe::input_log::Frame;
use talisman_kernel::port::{self, Parcel};
use talisman_observe::mutations::mutated;

/// Bytes that a ride has room for from the start: mostly it has less.
const RIDE: usize = 128;

impl Member {
    /// The PE of this rank has sent something to another. What became of it if that is on another node.
    pub fn send(&mut self, rank: u32, sent: port::Sent) -> Option<Numbered> {
        let port::Sent { to, parcel, is_determined, .. } = sent;
        let (node, to) = (to / self.shape.pes_per_node, to % self.shape.pes_per_node);
        if node == self.node {
            let from = node * self.shape.pes_per_node + rank;
            self.pass((rank, to), Taken { from, parcel });
            return None;
        }
        let Parcel::Frame { head, segments } = parcel else { return None };
        let frame = Frame { head, segments };
        let beside: usize = frame.segments.iter().map(|segment| segment.bytes().len()).sum();
        let bytes = frame.head.len() + beside;
        let sent = Sent { to, frame, is_determined };
        let number = self.lane(node, rank).push(sent.clone(), bytes);
        self.ticketing.iter_mut().for_each(|ticketing| ticketing.log(node, rank, number));
        self.make_again(node, rank, number, &sent);
        let taken = self.up.get(&node).map(|(_, taken)| taken[rank as usize]);
        let is_taken = taken.is_some_and(|taken| number < taken);
        // Its ticket is wanted also of what is there.
        if taken.is_some() && (!is_taken || self.is_ticketed() || mutated("sent-again-though-taken")) {
            self.let_go(node, rank, number);
        }
        if mutated("frame-not-retained") && number % 4 == 3 {
            self.lane(node, rank).forget(number + 1);
        }
        Some(Numbered { lane: Lane { from: self.node, to: node, rank }, number, is_taken })
    }

    /// A frame is made that another process may have made before, and of which others have taken it: it is to be the same.
    pub(super) fn make_again(&mut self, to: NodeId, rank: u32, number: u64, sent: &Sent) {
        let Sent { frame, is_determined, .. } = sent;
        let before = self.to_make_again.get(&(to, rank)).and_then(|marks| marks.get(number as usize));
        let differs = |taken: &Mark| *taken != Mark::of(frame, *is_determined);
        let Some(taken) = before.copied().filter(differs) else { return };
        let (frame, is_determined) = (frame.clone(), *is_determined);
        self.put(Out::Differs(Box::new(Differs { to, number, taken, frame, is_determined })));
    }

    /// Something goes from one of its PEs to another.
    pub(super) fn pass(&mut self, ring: (u32, u32), taken: Taken) {
        self.rings.push(ring, taken);
        self.put(Out::Wake(ring.1));
    }

    fn lane(&mut self, to: NodeId, rank: u32) -> &mut Retained<Sent> {
        self.retained.entry((to, rank)).or_insert_with(|| Retained::starting_at(0))
    }

    /// A frame leaves, or waits for what the node was given until now to be stable.
    pub(super) fn let_go(&mut self, to: NodeId, rank: u32, number: u64) {
        if self.is_ticketed() && mutated("ticket-asked-before-the-log-is-stable") {
            return self.ask_for_tickets(vec![(to, rank, number)]);
        }
        match &mut self.gate {
            None => self.emit(to, rank, number),
            Some(gate) => gate.push((to, rank, number), self.spread.lengths()),
        }
    }

    /// What has waited for that, and need not any longer, leaves.
    pub(super) fn open_gate(&mut self) {
        let Some(gate) = &mut self.gate else { return };
        let leaving = gate.release(&self.spread.stable_lengths());
        match self.is_ticketed() {
            true => self.ask_for_tickets(leaving),
            false => leaving.into_iter().for_each(|(to, rank, number)| self.emit(to, rank, number)),
        }
    }

    /// A frame leaves, with what rides on it.
    pub(super) fn emit(&mut self, to: NodeId, rank: u32, number: u64) {
        let Some((incarnation, _)) = self.up.get(&to) else { return };
        let between = (self.incarnation, *incarnation);
        let mut ride = std::mem::take(&mut self.ride);
        ride.clear();
        ride.reserve(RIDE);
        self.ticketing.iter().for_each(|ticketing| ticketing.write(&mut ride, to, rank, number));
        match self.gate {
            Some(_) => self.spread.strict_ride().write(&mut ride, self.shape.pes_per_node),
            None => self.spread.write_ride(to, rank, &mut ride),
        }
        let sent = self.retained[&(to, rank)].get(number).expect("what is sent is retained").clone();
        let Sent { to: of, frame, is_determined } = sent;
        let letter = Letter { between, number, to: of, ride, frame, is_determined };
        self.put(Out::Letter(rank, to, letter));
    }
}
