//! How letters travel: within a host at once, between hosts by the network, each kind in order.

use std::collections::{BTreeMap, VecDeque};

use super::control_messages::Letter;
use super::world::{Event, World};

/// What a letter takes within a host: between these, in nanoseconds.
const WITHIN_HOST_NS: (u64, u64) = (20_000, 200_000);
/// What waits for the network is tried again after so long.
const RETRY_NS: u64 = 10_000_000;
/// About what a letter is long.
const BYTES: usize = 200;

/// A letter, and for which process of its node it is: see [`World::life_of`].
struct Sent {
    letter: Letter,
    life: u32,
    era: u32,
}

/// Letters under way.
#[derive(Default)]
pub(super) struct Post {
    /// When the last one within a host arrives, by the node and whether it goes there.
    last: BTreeMap<(u32, bool), u64>,
    /// What waits until the network carries it, by the hosts from and to.
    held: BTreeMap<(u32, u32), VecDeque<Sent>>,
}

impl Post {
    /// When the last letter arrives that was sent to a node of the launcher's host.
    pub(super) fn last_to(&self, node: u32) -> u64 {
        self.last.get(&(node, false)).copied().unwrap_or_default()
    }
}

impl World {
    /// Sends a letter.
    pub(super) fn post(&self, letter: Letter) {
        self.post_in(self.era_of(&letter), letter);
    }

    /// The same to or from whatever leads in this era.
    pub(super) fn post_in(&self, era: u32, letter: Letter) {
        match letter {
            // What is said to the node from now on is for the process that is about to start.
            Letter::Start(node, host) => self.replace(node, host),
            Letter::Use { spare, node } => return self.use_spare(spare, node),
            _ => {}
        }
        match self.way(era, &letter) {
            (from, to) if from == to => self.post_here(era, letter),
            way => {
                let mut post = self.post.borrow_mut();
                let held = post.held.entry(way).or_default();
                let life = letter.process().map_or(0, |node| self.nodes.life(node));
                held.push_back(Sent { letter, life, era });
                if held.len() == 1 {
                    drop(post);
                    self.post_between(way);
                }
            }
        }
    }

    /// What waits for the network between two hosts goes on, if it can.
    pub(super) fn post_between(&self, way: (u32, u32)) {
        let mut post = self.post.borrow_mut();
        let Some(held) = post.held.get_mut(&way) else { return };
        while let Some(Sent { letter, life, era }) = held.pop_front() {
            match self.network.borrow_mut().host_control(self.now(), way.0, way.1, BYTES) {
                Some(at) => self.plan_for(at, Event::Letter(era, Box::new(letter)), life),
                None => {
                    held.push_front(Sent { letter, life, era });
                    return self.plan(self.now() + RETRY_NS, Event::Retry(way));
                }
            }
        }
    }

    fn post_here(&self, era: u32, letter: Letter) {
        let node = match letter {
            Letter::ToNode(node, _)
            | Letter::Kill(node)
            | Letter::Start(node, _)
            | Letter::Happened(_, node, _) => node,
            _ => u32::MAX,
        };
        let takes = self.between(WITHIN_HOST_NS);
        let mut post = self.post.borrow_mut();
        let last = post.last.entry((node, letter.is_for_launcher())).or_default();
        *last = (self.now() + takes).max(*last);
        self.plan(*last, Event::Letter(era, Box::new(letter)));
    }

    /// The hosts that a letter goes from and to, where the launcher of an era is on its own.
    fn way(&self, era: u32, letter: &Letter) -> (u32, u32) {
        let launcher_host = self.launcher_host(era);
        match letter {
            Letter::ToNode(node, _) | Letter::Kill(node) => (launcher_host, self.nodes[*node as usize].host),
            Letter::Asked(_) | Letter::Use { .. } => (launcher_host, launcher_host),
            Letter::Ping(host) | Letter::HangUp(host) | Letter::Start(_, host) => (launcher_host, *host),
            Letter::Roll(host, _) | Letter::Out(host) | Letter::Here(host, _) => (launcher_host, *host),
            Letter::Happened(host, ..) | Letter::Alive(host) | Letter::Failed(host, _) => {
                (*host, launcher_host)
            }
            Letter::Listening(host) | Letter::Enrolled(host, _) | Letter::AreYouThere(host, _) => {
                (*host, launcher_host)
            }
        }
    }
}
