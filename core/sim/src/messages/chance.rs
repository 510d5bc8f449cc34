//! Every choice made by a seed.
//!
//! A PE works as on a thread: it takes in what has arrived, from one sender after the other, runs a batch of messages,
//! and looks again. Now and then it stands still for as long as many messages take, as a thread does that is interrupted
//! or runs a long entry; what arrives meanwhile meets in its queue, in orders that even turns would never lead to.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::flights::Stage;
use super::{Arrived, Cluster, Rules, accept};
use talisman_base::ids::PeId;
use talisman_base::rng::Rng;
use talisman_kernel::panics::caught;
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};
use talisman_node::in_turn::in_turn;

/// What a message takes to run: between these, in nanoseconds.
const RUN_NS: (u64, u64) = (200, 2_000);
/// What a message takes to another PE of its node.
const WITHIN_NODE_NS: (u64, u64) = (100, 1_000);
/// What a message takes to another node.
const BETWEEN_NODES_NS: (u64, u64) = (2_000, 50_000);

/// What an interrupted PE stands still.
const PAUSE_NS: (u64, u64) = (5_000, 500_000);
/// Turns between two interruptions, about; a seed takes one of these. None at all is likely enough in a short job.
const TURNS_TO_PAUSE: [u64; 4] = [8, 64, 512, 1 << 20];
/// Messages run before a PE looks at what has arrived; a seed takes one of these.
const BATCHES: [u32; 3] = [1, 4, 64];

pub(super) struct Chance {
    rng: Rng,
    turns_to_pause: u64,
    batch: u32,
    /// When the last message between two PEs arrives: none overtakes another on its way.
    channels: HashMap<(PeId, PeId), u64, FxBuildHasher>,
}

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        Chance {
            turns_to_pause: TURNS_TO_PAUSE[rng.below(TURNS_TO_PAUSE.len() as u64) as usize],
            batch: BATCHES[rng.below(BATCHES.len() as u64) as usize],
            rng,
            channels: HashMap::default(),
        }
    }

    /// What a PE takes in, if it is time to look.
    fn look(&mut self, cluster: &mut Cluster, id: PeId) -> Vec<Arrived> {
        let state = &mut cluster.states[id as usize];
        state.batch_left = state.batch_left.saturating_sub(1);
        let mut arrived = cluster.look(id, self.batch, cluster.clock.get());
        if cluster.logged.is_none() {
            // What one PE sent stays in order. Where it is logged, it is in the order of sources already.
            arrived.sort_by_key(|arrived| arrived.from);
        }
        arrived
    }

    /// How long a PE stands still for no reason: mostly not at all.
    fn pause(&mut self) -> u64 {
        if self.rng.below(self.turns_to_pause) == 0 { self.between(PAUSE_NS) } else { 0 }
    }

    fn between(&mut self, (low, high): (u64, u64)) -> u64 {
        low + self.rng.below(high - low)
    }
}

/// A turn: what has arrived, and one message.
struct Round<'a> {
    arrived: &'a mut Vec<Arrived>,
}

impl Feed for Round<'_> {
    fn take_in(&mut self, pe: &Pe) -> bool {
        let any = !self.arrived.is_empty();
        for Arrived { from, parcel, .. } in self.arrived.drain(..) {
            caught(pe, || accept(pe, from, parcel));
        }
        any
    }

    fn most(&self) -> usize {
        1
    }

    fn looks_at_timers(&self) -> bool {
        true
    }

    fn may_rest(&self, _: &Pe) -> bool {
        true
    }
}

impl Rules for Chance {
    fn turn(&mut self, cluster: &mut Cluster, id: PeId, at: u64) {
        if !cluster.takes_turn(id, at) {
            return;
        }
        cluster.note_idle(id, at);
        let mut arrived = self.look(cluster, id);
        let mut worked = !arrived.is_empty();
        let pe = &cluster.pes[id as usize];
        let here = Here::enter(pe);
        in_turn(pe, || caught(pe, || worked = pe.turn(Round { arrived: &mut arrived })));
        drop(here);
        cluster.spare_arrived = arrived;
        cluster.trace.note(at, 0, id, pe.stats.run.get());
        self.collect(cluster, id);
        if worked {
            let until = cluster.clock.get() + self.between(RUN_NS) + self.pause();
            cluster.states[id as usize].busy_until = until;
            cluster.wake(id, until);
        } else {
            cluster.states[id as usize].busy_until = at;
            cluster.wake_later(id, at);
        }
    }

    fn advance(&mut self, cluster: &mut Cluster, flight: u32, at: u64) {
        let flight = cluster.flights.take(flight);
        let to = flight.to;
        cluster.arrive(flight, at);
        // A PE that sleeps may take its time to wake up.
        let late = if cluster.states[to as usize].planned.is_none() { self.pause() } else { 0 };
        cluster.wake(to, at + late);
    }

    fn collect(&mut self, cluster: &mut Cluster, from: PeId) {
        let mut all = cluster.take_sent(from);
        for sent in all.drain(..) {
            let near = cluster.shape.node_of(from) == cluster.shape.node_of(sent.to);
            let takes = self.between(if near { WITHIN_NODE_NS } else { BETWEEN_NODES_NS });
            let last = self.channels.entry((from, sent.to)).or_default();
            let at = (sent.at + takes).max(*last + 1);
            *last = at;
            cluster.depart(from, sent, Stage::Arrives, at);
        }
        cluster.spare_sent = all;
    }
}
