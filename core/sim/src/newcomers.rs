//! Nodes that get another process while the job runs: a new one of their number (`--respawn`), on the same host or elsewhere, or one that
//! has waited (`--spares`); or their first one (`--max-nodes`).
//!
//! Whoever lives on where nobody hears of it, on a host that was taken for lost, ends when another process takes its place: of a node there is one
//! at a time.
//!
//! A process that comes later is linked with nobody before its first order says who is there, as all others' do: then each pair of them
//! meets of which one is new to the other, and each begins the epoch once it has its new links.

use std::sync::Arc;

use talisman_ft::double::Order;

use super::lives::Lives;
use super::members::LIFE;
use super::process::{Death, Process, Stage};
use super::trace::Who;
use super::world::{Event, START_NS, TICK_NS, World};
use talisman_control::protocol::PeerInLife;
use talisman_control::protocol::Place;
use talisman_store::versions::Store;

impl World {
    /// A node that has no process any more, or none yet, is to get one on this host.
    pub(super) fn replace(&self, number: u32, host: u32) {
        let former = &self.nodes[number as usize];
        if !former.is_gone() && former.host == host {
            return self.flaw(format!("node {number} is to be started again, and is there"));
        }
        if !former.is_gone() {
            self.kill(number);
        }
        let store = Arc::<Store>::default();
        store.be_as_readable_as(&former.lives.store);
        let node_disk = self.node_disk_again(former, host, &store).transpose();
        let homeless = node_disk.as_ref().err().cloned();
        let lives = Lives::of(store, node_disk.ok().flatten());
        lives.homeless.replace(homeless);
        self.nodes.replace(former.successor(self.tasks[0].build, host, lives));
        self.network.borrow_mut().put(number, host);
        if !self.has_agent(host) {
            self.vanish(number, Death::Exited);
        }
    }

    /// A process that waits is this node from now on.
    pub(super) fn use_spare(&self, spare: u32, node: u32) {
        let waited = &self.nodes[spare as usize];
        self.replace(node, waited.host);
        let process = &self.nodes[node as usize];
        let stage = waited.stage.replace(Stage::Gone);
        if stage == Stage::Gone {
            // The launcher is about to hear of it.
            self.vanish(node, Death::Exited);
        }
        if process.is_gone() {
            return;
        }
        self.say(Who::Node(node), format_args!("is the process that waited as number {spare}"));
        process.stopped_until.set(waited.stopped_until.get());
        process.slow.set(waited.slow.get());
        match stage {
            Stage::Planned => self.plan(self.now() + self.between(START_NS), Event::Begin(node)),
            stage => {
                process.stage.set(stage);
                self.plan(self.now() + self.between((1, TICK_NS)), Event::Pulse(node));
            }
        }
    }

    /// There is a process again that waits under this number, on the host of whoever leads.
    pub(super) fn wait_again(&self, spare: u32) {
        self.replace(spare, 0);
        self.plan(self.now() + self.between(START_NS), Event::Begin(spare));
    }

    /// It is started, if anybody is there who can.
    pub(super) fn start_again(&self, number: u32, is_possible: bool) {
        if !is_possible {
            self.vanish(number, Death::Exited);
        } else if !self.nodes[number as usize].is_gone() {
            self.say(Who::Node(number), "is started again");
            self.plan(self.now() + self.between(START_NS), Event::Begin(number));
        }
    }

    /// A node is to go on like this, once it is linked with all that are new to it.
    pub(super) fn meet(&self, number: u32, order: Order) {
        let process = &self.nodes[number as usize];
        self.keep_to(process, &order);
        let mut places = process.lives.places.take();
        places.retain(|place| place.node != number && order.view.is_there(place.node));
        let new = process.met.borrow().new_ones(&places);
        if new.is_empty() && self.disk_hangs_until(number) <= self.now() {
            return self.begin_epoch(number, &order);
        }
        let peers = new.iter().flat_map(|place| self.lanes_of(*place)).collect();
        *process.lives.ordered.borrow_mut() = Some((order, peers));
        new.into_iter().for_each(|place| self.expect(process, place));
        self.plan(self.now(), Event::PeerIncarnations(number));
    }

    /// Whoever was released is there no more, though nobody was told that it is lost.
    fn keep_to(&self, process: &Process, order: &Order) {
        let lost = process.lives.lost.take();
        let is_released = |node: u32| !order.view.is_there(node) && !lost.contains(&node);
        if (0..order.view.nodes()).any(is_released) {
            self.with_connecting(process.number, |connecting| connecting.on_gone(is_released));
        }
    }

    fn expect(&self, process: &Process, place: Place) {
        let identity = process.identity.borrow().clone();
        identity.into_iter().for_each(|identity| identity.known.raise(place.node, LIFE + place.life));
        process.lives.inboxes.borrow().iter().for_each(|inbox| inbox.forget(place.node));
        let dials = place.is_dialled_by(process.number, process.life.get());
        let is_there = |peer| process.met.borrow().have_come(&[(peer, place.life)]);
        let (now, peers) = (self.duration(), self.lanes_of(place).map(|(peer, _)| peer));
        self.with_connecting(process.number, |connecting| connecting.on_new(now, peers, dials, is_there));
    }

    fn lanes_of(&self, place: Place) -> impl Iterator<Item = PeerInLife> + use<> {
        place.lanes(self.plan.pes_per_node)
    }

    /// It begins the epoch that it is told to begin, if all have come that it has to be linked with first.
    pub(super) fn begin_if_met(&self, number: u32) {
        let process = &self.nodes[number as usize];
        let have_come = |peers: &[PeerInLife]| process.met.borrow().have_come(peers);
        let ordered = process.lives.ordered.borrow_mut().take_if(|(_, peers)| have_come(peers));
        let Some((order, peers)) = ordered.filter(|_| !process.job.is_over()) else { return };
        let mut nets = process.lives.nets.borrow_mut();
        for (peer, stream) in process.met.borrow_mut().meet(&peers) {
            let net = nets.get_mut(peer.lane as usize).and_then(Option::as_mut);
            net.map_or(Ok(()), |net| net.join(peer, stream)).expect("the system has no part in it");
        }
        drop(nets);
        self.begin_epoch(number, &order);
    }
}
