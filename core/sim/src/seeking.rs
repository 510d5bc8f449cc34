//! How the nodes of a simulated job find the one that takes their launcher's place. Each goes from door to door by itself, with the real
//! search; whoever has found no lower one alive waits for all others, with the real list of those that are missing.
//!
//! A door is open from when a process knows what it is until it is no more. Behind it nobody answers before its node leads: whoever has been
//! there waits, is told when that one is dead, and kills it if it says nothing for too long.

use std::collections::BTreeMap;

use super::process::Process;
use super::trace::Who;
use super::world::{Event, TICK_NS, World};
use talisman_cluster::takeover::missing::Missing;
use talisman_control::follower::{Follower, Followers};
use talisman_control::protocol::ToNode;
use talisman_control::search::{Patience, Search};
use talisman_observe::sometimes::sometimes;

/// What it takes to go to a door, or for a word from there to come: between these, in nanoseconds.
const DOOR_NS: (u64, u64) = (10_000, 300_000);
/// After so long whoever found an open door closed looks whether that one is dead.
const AGAIN_NS: u64 = TICK_NS / 50;
/// How often it is looked whether those that have not come are dead.
const LOOK_NS: u64 = 10_000_000;

/// A node's search.
pub(super) struct Seeking {
    search: Search,
    /// What it says of itself, as it was when it began.
    follower: Follower,
    /// At whose door it is.
    at: Option<u32>,
    /// It was let in there, and has heard so.
    is_in: bool,
    /// Its next step; what was planned before has been overtaken.
    turn: u32,
}

/// A node that is to lead, and waits for those that are left.
pub(super) struct Gathering {
    own: u32,
    followers: Followers,
    missing: Missing<Named>,
}

/// A process: its node, and which one of that it is.
type Named = (u32, u32);

impl World {
    /// A node looks for another launcher, from the beginning.
    pub(super) fn begin_search(&self, process: &Process) {
        let ticks = self.plan.silence.as_nanos().div_ceil(u128::from(TICK_NS));
        let search = Search::new(process.number, u32::try_from(ticks).unwrap_or(u32::MAX));
        let turn = process.seeking.borrow().as_ref().map_or(0, |seeking| seeking.turn);
        let (follower, at, is_in) = (self.follower(process), None, false);
        *process.seeking.borrow_mut() = Some(Seeking { search, follower, at, is_in, turn });
        self.seek_again(process, self.between(DOOR_NS));
    }

    /// Its next step comes after so long, and none that was to come before.
    fn seek_again(&self, process: &Process, after_ns: u64) {
        let mut seeking = process.seeking.borrow_mut();
        let Some(seeking) = seeking.as_mut() else { return };
        seeking.turn += 1;
        self.plan(self.now() + after_ns, Event::Seek(process.number, seeking.turn));
    }

    /// The next step of a node's search.
    pub(super) fn seek(&self, number: u32, turn: u32) {
        let process = &self.nodes[number as usize];
        let (candidate, at) = match process.seeking.borrow().as_ref() {
            Some(Seeking { turn: next, search, at, is_in: false, .. }) if *next == turn => {
                (search.candidate(), *at)
            }
            _ => return,
        };
        if !process.is_up() {
            return;
        }
        match at {
            Some(at) => self.wait_at_door(process, at),
            None if self.nodes[candidate as usize].crowded_until.get() > self.now() => {
                self.wait_for_room(process, candidate)
            }
            None if candidate == number => self.gather(process),
            None if self.has_open_door(candidate) => self.reach(process, candidate),
            None => {
                self.with_search(process, Search::on_dead);
                self.seek_again(process, self.between(DOOR_NS));
            }
        }
    }

    /// Before a door there is no room.
    fn wait_for_room(&self, process: &Process, at: u32) {
        sometimes("a node that looked for a launcher waited until strangers had gone");
        let until = self.nodes[at as usize].crowded_until.get();
        self.seek_again(process, until - self.now() + self.between(DOOR_NS));
    }

    fn with_search<R>(&self, process: &Process, f: impl FnOnce(&mut Search) -> R) -> Option<R> {
        process.seeking.borrow_mut().as_mut().map(|seeking| f(&mut seeking.search))
    }

    fn has_open_door(&self, number: u32) -> bool {
        let process = &self.nodes[number as usize];
        process.is_up() && process.identity.borrow().is_some()
    }

    /// It is at this one's door, and says who it is.
    fn reach(&self, process: &Process, at: u32) {
        process.seeking.borrow_mut().iter_mut().for_each(|seeking| seeking.at = Some(at));
        if self.gathers(at) {
            self.plan(self.now() + self.between(DOOR_NS), Event::Come(process.number, at));
        }
        self.seek_again(process, TICK_NS);
    }

    fn gathers(&self, number: u32) -> bool {
        self.gathering.borrow().as_ref().is_some_and(|gathering| gathering.own == number)
    }

    /// A tick went by, and nothing was said.
    fn wait_at_door(&self, process: &Process, at: u32) {
        if self.with_search(process, Search::on_tick) == Some(Patience::Fence) {
            sometimes("a node that was to lead said nothing, and was killed");
            self.say(Who::Node(process.number), format_args!("kills node {at}, which says nothing"));
            self.kill(at);
        } else {
            self.seek_again(process, TICK_NS);
        }
    }

    /// All before it are dead: it waits for those behind it.
    fn gather(&self, process: &Process) {
        let own = process.number;
        if let Some(other) = self.gathering.borrow().as_ref().map(|gathering| gathering.own) {
            return self.flaw(format!("node {own} is about to lead, and so is node {other}"));
        }
        if !self.launcher.borrow().gone {
            return self.flaw(format!("node {own} is about to lead, and the job has a launcher"));
        }
        let behind = (own + 1..self.tasks[0].nodes).filter(|node| self.has_open_door(*node));
        let is_crowded = |node: &u32| self.nodes[*node as usize].crowded_until.get() > self.now();
        if let Some(crowded) = behind.clone().find(is_crowded) {
            return self.wait_for_room(process, crowded);
        }
        let missing: BTreeMap<u32, Named> =
            behind.map(|node| (node, (node, self.nodes.life(node)))).collect();
        self.say(Who::Node(own), format_args!("waits for nodes {:?}", missing.keys()));
        let missing = Missing::new(missing, self.plan.silence);
        *self.gathering.borrow_mut() = Some(Gathering { own, followers: Followers::default(), missing });
        self.reach(process, own);
        for other in self.nodes.iter().filter(|other| other.number != own && is_at(other, own)) {
            self.plan(self.now() + self.between(DOOR_NS), Event::Come(other.number, own));
        }
        self.plan(self.now() + LOOK_NS, Event::Gather(own, false));
        self.plan(self.now() + TICK_NS, Event::Gather(own, true));
    }

    /// A node that is to lead hears who another one is, and lets it know.
    pub(super) fn on_come(&self, number: u32, at: u32) {
        let process = &self.nodes[number as usize];
        if !process.is_up() || !is_at(process, at) {
            return;
        }
        {
            let (mut gathering, mut seeking) = (self.gathering.borrow_mut(), process.seeking.borrow_mut());
            let gathering = gathering.as_mut().filter(|gathering| gathering.own == at);
            let (Some(gathering), Some(seeking)) = (gathering, seeking.as_mut()) else { return };
            seeking.is_in = true;
            gathering.missing.on_come(number);
            gathering.followers.add(seeking.follower.clone());
        }
        process.node_session.borrow_mut().on_successor();
        self.say(Who::Node(number), format_args!("is there for node {at}"));
        self.lead_if_all_are_there();
    }

    /// It is time for a node that is to lead to look who is dead, or to let those that have come know that it lives.
    pub(super) fn on_gather(&self, own: u32, is_tick: bool) {
        if !self.gathers(own) {
            return;
        }
        if is_tick {
            let numbers = |missing: &mut Missing<Named>| -> Vec<u32> {
                missing.on_tick().into_iter().map(|(node, _)| *node).collect()
            };
            let late = self.with_missing(numbers).unwrap_or_default();
            self.greet_those_that_came(own);
            for node in late {
                sometimes("a node that was missed by the one that was to lead was killed");
                self.say(Who::Node(own), format_args!("kills node {node}, which does not come"));
                self.kill(node);
            }
        } else {
            let has_ended = |_, (node, life): &Named| {
                self.nodes[*node as usize].is_gone() || self.nodes.life(*node) != *life
            };
            self.with_missing(|missing| missing.forget(has_ended));
        }
        self.plan(self.now() + if is_tick { TICK_NS } else { LOOK_NS }, Event::Gather(own, is_tick));
        self.lead_if_all_are_there();
    }

    fn with_missing<R>(&self, f: impl FnOnce(&mut Missing<Named>) -> R) -> Option<R> {
        self.gathering.borrow_mut().as_mut().map(|gathering| f(&mut gathering.missing))
    }

    fn lead_if_all_are_there(&self) {
        let is_complete = |gathering: &mut Gathering| {
            gathering.missing.is_nobody() && gathering.followers.has(gathering.own)
        };
        let complete = self.gathering.borrow_mut().take_if(is_complete);
        complete.into_iter().for_each(|Gathering { own, followers, .. }| self.lead_on(own, &followers));
    }

    /// A process is no more, and its door is closed: whoever waited there goes on, and whoever was let in looks for another launcher anew.
    pub(super) fn close_door(&self, number: u32) {
        let gathered = self.gathering.borrow_mut().take_if(|gathering| gathering.own == number);
        if gathered.is_some() {
            sometimes("a node that was to lead died before all had come");
        }
        for process in self.nodes.iter().filter(|process| !process.is_gone() && is_at(process, number)) {
            if is_in(process, number) {
                if gathered.is_none() {
                    continue;
                }
                self.plan(self.now() + self.between(DOOR_NS), Event::Orphaned(process.number));
            } else {
                process.seeking.borrow_mut().iter_mut().for_each(|seeking| seeking.at = None);
                self.seek_again(process, AGAIN_NS + self.between(DOOR_NS));
            }
        }
    }

    /// Whether a process does nothing but look for another launcher.
    pub(super) fn is_seeking(&self, process: &Process) -> bool {
        process.seeking.borrow().as_ref().is_some_and(|seeking| !seeking.is_in)
    }

    /// The node that is to lead, if one does and does not yet.
    pub(super) fn heir(&self) -> Option<u32> {
        self.gathering.borrow().as_ref().map(|gathering| gathering.own)
    }

    fn greet_those_that_came(&self, own: u32) {
        for process in self.nodes.iter().filter(|process| process.is_up() && is_in(process, own)) {
            let _ = process.node_session.borrow_mut().on_message(ToNode::Ping);
        }
    }
}

/// Whether a node is at this one's door.
fn is_at(process: &Process, at: u32) -> bool {
    process.seeking.borrow().as_ref().is_some_and(|seeking| seeking.at == Some(at))
}

/// The same, and whether it was let in.
fn is_in(process: &Process, at: u32) -> bool {
    let seeking = process.seeking.borrow();
    seeking.as_ref().is_some_and(|seeking| seeking.at == Some(at) && seeking.is_in)
}
