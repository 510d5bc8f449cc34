//! Nodes that are added to a running job (`talisman grow`): a node that was lost gets another process, which joins the others when all go
//! back to a checkpoint that is taken for that.
//!
//! It is linked with nobody before it is told so with its first order, as all others are: then each pair of them meets of which one is new
//! to the other, and all begin the epoch once they have their new links.

use std::sync::Arc;
use std::time::Duration;

use talisman_ft::double::Order;

use super::members::LIFE;
use super::process::Process;
use super::trace::Who;
use super::world::{Event, World};
use crate::cluster::control::Place;
use crate::launch::asking::Request;
use crate::net::Inbox;
use crate::run::linking::Streams;
use crate::run::turns;
use crate::transport::Peer;
use crate::transport::tcp::Stream;

/// How long a process takes to start: between these, in nanoseconds.
const START_NS: (u64, u64) = (200_000, 2_000_000);

impl World {
    /// Somebody asks for all nodes that can be added.
    pub(super) fn ask_to_grow(&self) {
        if !self.launcher.borrow().gone {
            self.lead(|launcher, now, deeds| launcher.on_request(now, Request::Grow(None), deeds));
        }
    }

    /// A node without a process gets another one.
    pub(super) fn start_again(&self, number: u32) {
        if !self.nodes[number as usize].is_gone() || !self.nodes.begin_next(number) {
            return self.flaw(format!("node {number} is to be started again, and cannot be"));
        }
        self.say(Who::Node(number), "is started again");
        self.plan(self.now() + self.between(START_NS), Event::Begin(number));
    }

    /// It has come so far that it can be told to halt with the others.
    pub(super) fn link_newcomer(&self, number: u32, inboxes: Vec<Arc<Inbox>>) {
        let process = &self.nodes[number as usize];
        let door = |lane| self.door(process, &inboxes, lane);
        let nets = turns::nets(self.shape(), &mut Streams::new(), door, self.plan.limits.unsent_bytes);
        *process.lives.nets.borrow_mut() = nets.expect("the system has no part in it");
        *process.lives.inboxes.borrow_mut() = inboxes;
    }

    /// A node is told which process each node is.
    pub(super) fn take_places(&self, number: u32, places: Vec<Place>) {
        *self.nodes[number as usize].lives.places.borrow_mut() = places;
    }

    /// A node is to go on like this, as soon as it is linked with those that are new to it.
    pub(super) fn meet(&self, number: u32, order: Order) {
        let process = &self.nodes[number as usize];
        let places = process.lives.places.take();
        let is_new = |place: &Place| {
            let is_other = place.node != number && order.view.is_there(place.node);
            is_other && process.met(place.node) != Some(place.life)
        };
        let new: Vec<Place> = places.into_iter().filter(is_new).collect();
        let peers = new.iter().flat_map(|place| self.lanes_of(place)).collect();
        *process.lives.ordered.borrow_mut() = Some((order, peers));
        new.iter().for_each(|place| self.expect(process, place));
        self.begin_if_met(number);
    }

    fn expect(&self, process: &Process, place: &Place) {
        let known = process.identity.borrow().clone().expect("it has been told its task");
        known.known.raise(place.node, LIFE + place.life);
        process.lives.inboxes.borrow().iter().for_each(|inbox| inbox.forget(place.node));
        // Of two, the one that came later dials.
        let dials = (process.life.get(), process.number) > (place.life, place.node);
        let peers = self.lanes_of(place).map(|(peer, _)| peer);
        let has_come = |peer| process.has_come(&(peer, place.life));
        let now = Duration::from_nanos(self.now());
        self.with_connecting(process.number, |connecting| connecting.on_new(now, peers, dials, has_come));
    }

    fn lanes_of(&self, place: &Place) -> impl Iterator<Item = (Peer, u64)> + use<> {
        let Place { node, life, .. } = *place;
        (0..self.plan.pes_per_node).map(move |lane| (Peer { node, lane }, life))
    }

    /// It begins the epoch that it is told to begin, if all have come that it has to be linked with first.
    pub(super) fn begin_if_met(&self, number: u32) {
        let process = &self.nodes[number as usize];
        let have_come = |peers: &[(Peer, u64)]| peers.iter().all(|one| process.has_come(one));
        let met = process.lives.ordered.borrow_mut().take_if(|(_, peers)| have_come(peers));
        let Some((order, peers)) = met.filter(|_| !process.job.is_over()) else { return };
        for (peer, life) in peers {
            let stream = process.lives.early.borrow_mut().remove(&peer).map(|(_, stream)| stream);
            process.lives.met.borrow_mut().insert(peer.node, life);
            let mut nets = process.lives.nets.borrow_mut();
            if let (Some(Some(net)), Some(stream)) = (nets.get_mut(peer.lane as usize), stream) {
                net.join(peer, stream).expect("the system has no part in it");
            }
        }
        self.begin_epoch(number, &order);
    }
}

impl Process {
    /// The life of a node that this one's links with it are with.
    pub(super) fn met(&self, node: u32) -> Option<u64> {
        // All that are there from the start are met then.
        self.lives.met.borrow().get(&node).copied().or((self.life.get() == 0).then_some(0))
    }

    /// Keeps a connection with a process that is new to this one, until all are to meet.
    pub(super) fn keep_early(&self, peer: Peer, life: u64, stream: Stream) {
        self.lives.early.borrow_mut().insert(peer, (life, stream));
    }

    fn has_come(&self, (peer, life): &(Peer, u64)) -> bool {
        self.lives.early.borrow().get(peer).is_some_and(|(of, _)| of == life)
    }
}
