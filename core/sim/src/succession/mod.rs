//! A simulated job on several hosts goes on without its launcher: the agents of all hosts look for another by the real search, at doors
//! with the real places and proofs, and the one that takes its place waits for them, counts them and begins with the real code
//! ([`talisman_cluster::succession`]). The world starts processes, carries words between hosts, and loses them.
//!
//! A host has the number of its rank: the launcher's is the first. Whatever leads, or is about to, has an *era* of its own; an agent hears, and
//! is heard by, the one that it follows.
//!
//! | file | is |
//! |---|---|
//! | [`agent`] | what an agent does when its launcher is gone, and about those that come to it |
//! | [`doors`] | how one comes in at another's door, and how strangers do not |
//! | [`successor`] | the process that takes the launcher's place |
//! | [`judge`] | what only the world can see to be wrong |

mod agent;
mod doors;
mod judge;
mod successor;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use agent::Heir;
use doors::Leg;
use doors::Visit;
use successor::Successor;

use super::control_messages::Letter;
use super::trace::Who;
use super::world::{Event, START_NS, TICK_NS, World};
use talisman_control::event;
use talisman_control::protocol::ToNode;
use talisman_control::succession::quorum::{Register, Roll};

/// An agent, or another's launcher, sees that a connection has ended: after between so many nanoseconds.
const END_NS: (u64, u64) = (10_000, 200_000);
/// About what a word is long.
const BYTES: usize = 200;
/// So long it may take to find out whether a host that was lost is dead.
const PROBE_NS: u64 = 1_000_000_000;

/// What happens between hosts.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The agent of a host says where it listens.
    Listens(u32),
    /// An agent sees that the connection with the launcher of an era has ended.
    Unheard(u32, u32),
    /// The next step of an agent's search, by its number.
    Search(u32, u32),
    /// Somebody is so far at a door.
    Visit(u64, Leg),
    /// A stranger comes to the door of a host.
    Stranger(u32),
    /// A tick of the process on a host that is to lead in an era.
    Election(u32, u32),
    /// It finds out that a host is dead.
    Dead(u32, u32, u32),
    /// The launcher of an era has found out whether a host that it has lost is dead.
    Probed(u32, u32, bool),
    /// A tick of that launcher's conversation with a host.
    Beat(u32, u32),
}

impl Step {
    /// Whether it is something that a launcher does.
    pub(super) fn is_of_launcher(&self) -> bool {
        matches!(self, Step::Probed(..) | Step::Beat(..))
    }
}

/// What a world with several hosts has for the case that its launcher is lost.
#[derive(Default)]
pub(super) struct Succession {
    /// The last era that anybody has begun.
    last_era: u32,
    /// On which host whatever leads in it is.
    acting: BTreeMap<u32, u32>,
    /// What the launcher knows of its hosts.
    register: Option<Register>,
    heirs: BTreeMap<u32, Heir>,
    successors: BTreeMap<u32, Successor>,
    visits: BTreeMap<u64, Visit>,
    last_visit: u64,
}

/// Where the agent of a host listens.
fn door(host: u32) -> SocketAddr {
    ([127, 0, 0, 1], host as u16 + 1).into()
}

/// The host of which that is the door.
fn host_at(door: SocketAddr) -> u32 {
    u32::from(door.port()) - 1
}

impl World {
    /// What agents know beforehand.
    pub(super) fn begin_succession(&self) {
        let hosts = self.plan.hosts.len() as u32;
        let heirs = (0..hosts).map(|host| (host, Heir::new(self.plan.silence))).collect();
        let register = Some(Register::new(0, hosts));
        *self.succession.borrow_mut() = Succession { register, heirs, ..Succession::default() };
        for host in 0..hosts {
            self.plan(self.between(START_NS), Event::Hosts(Box::new(Step::Listens(host))));
        }
    }

    pub(super) fn plan_step(&self, at: u64, step: Step) {
        self.plan(at, Event::Hosts(Box::new(step)));
    }

    pub(super) fn on_step(&self, step: Step) {
        match step {
            Step::Listens(host) => self.post(Letter::Listening(host)),
            Step::Unheard(host, era) => self.on_unheard(host, era),
            Step::Search(host, turn) => self.search(host, turn),
            Step::Visit(visit, leg) => self.on_visit(visit, leg),
            Step::Stranger(host) => self.on_door_stranger(host),
            Step::Election(host, era) => self.on_muster(host, era),
            Step::Dead(host, era, rank) => self.on_proved_dead(host, era, rank),
            Step::Probed(era, host, is_dead) => self.on_probed(era, host, is_dead),
            Step::Beat(era, host) => self.on_beat_of(era, host),
        }
    }

    /// The host of whatever leads in an era.
    pub(super) fn launcher_host(&self, era: u32) -> u32 {
        self.succession.borrow().acting.get(&era).copied().unwrap_or_default()
    }

    /// In which era a letter is sent.
    pub(super) fn era_of(&self, letter: &Letter) -> u32 {
        match letter.sender().filter(|_| self.plan.passes_on()) {
            Some(host) => self.follows(host).unwrap_or_else(|| self.era.get()),
            None => self.era.get(),
        }
    }

    /// The era of whatever the agent of a host follows.
    pub(super) fn follows(&self, host: u32) -> Option<u32> {
        self.succession.borrow().heirs.get(&host).and_then(|heir| heir.follows)
    }

    /// A letter comes that was sent in an era.
    pub(super) fn on_letter_between_hosts(&self, era: u32, letter: Letter) {
        let is_led = era == self.era.get() && !self.launcher.borrow().gone;
        match self.reader_of(&letter) {
            Some(host) if self.follows(host) == Some(era) && self.has_agent(host) => {
                self.on_letter_to_agent(host, letter);
            }
            // What it was told before may come a little later, where a word and a letter do not go the same way.
            Some(host) if self.has_agent(host) && self.waits_at(host, self.launcher_host(era)) => {
                self.plan(self.now() + END_NS.1, Event::Letter(era, Box::new(letter)));
            }
            Some(_) => {}
            None if is_led => self.on_letter_to_launcher(era, letter),
            None => self.on_letter_to_successor(era, letter),
        }
    }

    /// The host whose agent reads a letter; nobody if it is for whatever leads.
    fn reader_of(&self, letter: &Letter) -> Option<u32> {
        match letter {
            Letter::ToNode(node, _) | Letter::Kill(node) => Some(self.nodes[*node as usize].host),
            Letter::Start(_, host) | Letter::Ping(host) | Letter::HangUp(host) => Some(*host),
            Letter::Roll(host, _) | Letter::Out(host) | Letter::Here(host, _) => Some(*host),
            _ => None,
        }
    }

    fn on_letter_to_launcher(&self, era: u32, letter: Letter) {
        match letter {
            Letter::Listening(host) => {
                let first = self.with_register(|register| register.on_listening(host, door(host))).flatten();
                first.into_iter().for_each(|roll| self.tell_roll(era, &roll));
            }
            Letter::Enrolled(host, number) => {
                self.with_register(|register| register.on_enrolled(host, number));
            }
            Letter::AreYouThere(host, number) => self.post_in(era, Letter::Here(host, number)),
            _ => {}
        }
        self.on_letter(letter);
    }

    fn with_register<R>(&self, f: impl FnOnce(&mut Register) -> R) -> Option<R> {
        self.succession.borrow_mut().register.as_mut().map(f)
    }

    fn tell_roll(&self, era: u32, roll: &Roll) {
        let hosts: Vec<u32> = self.succession.borrow().heirs.keys().copied().collect();
        hosts.into_iter().for_each(|host| self.post_in(era, Letter::Roll(host, roll.clone())));
    }

    /// The launcher has lost a host: all others are told who is there, and it finds out whether that one is dead.
    pub(super) fn on_host_lost(&self, host: u32) {
        let era = self.era.get();
        let next = self.with_register(|register| register.on_lost(host)).flatten();
        next.into_iter().for_each(|roll| self.tell_roll(era, &roll));
        let there_and_back =
            self.there_and_back(self.launcher_host(era), host).filter(|_| !self.listens(host));
        let (at, is_dead) = (there_and_back.unwrap_or(self.now() + PROBE_NS), there_and_back.is_some());
        self.plan_step(at, Step::Probed(era, host, is_dead));
    }

    fn on_probed(&self, era: u32, host: u32, is_dead: bool) {
        if era != self.era.get() || self.launcher.borrow().gone {
            return;
        }
        let goes_on = self.with_register(|register| {
            if is_dead {
                register.on_dead(host);
            }
            register.goes_on()
        });
        if goes_on == Some(false) {
            self.say(Who::Launcher, "has too few hosts left");
            let hosts: Vec<u32> = self.succession.borrow().heirs.keys().copied().collect();
            hosts.into_iter().for_each(|host| self.post_in(era, Letter::Out(host)));
        }
    }

    /// When an answer comes from another host, if nothing is cut.
    fn there_and_back(&self, from: u32, to: u32) -> Option<u64> {
        let mut network = self.network.borrow_mut();
        let there = network.host_control(self.now(), from, to, BYTES)?;
        network.host_control(there, to, from, BYTES)
    }

    /// When a word arrives at another host, if nothing is cut.
    fn way_between(&self, from: u32, to: u32) -> Option<u64> {
        self.network.borrow_mut().host_control(self.now(), from, to, BYTES)
    }

    fn on_beat_of(&self, era: u32, host: u32) {
        let launcher = self.launcher.borrow();
        let is_over = era != self.era.get() || launcher.gone || launcher.is_over();
        drop(launcher);
        if !is_over {
            self.lead(|launcher, now, deeds| launcher.on_beat(now, host, deeds));
            self.plan_step(self.now() + TICK_NS, Step::Beat(era, host));
        }
    }

    /// The launcher is killed, or whatever has taken its place, or is about to.
    pub(super) fn kill_launcher(&self) {
        if self.launcher.borrow().gone {
            let hosts: Vec<u32> = self.succession.borrow().successors.keys().copied().collect();
            hosts.into_iter().for_each(|host| self.end_successor(host));
        } else if !self.launcher.borrow().is_over() {
            self.launcher_is_gone();
            self.hang_up(self.era.get());
        }
    }

    /// It is no more, and nobody has been told.
    pub(super) fn launcher_is_gone(&self) {
        self.launcher.borrow_mut().gone = true;
        self.launcher_stopped_until.set(0);
        self.is_unled();
    }

    /// The connections of agents with whatever led in an era end: they see it if the network lets them.
    fn hang_up(&self, era: u32) {
        let following: Vec<u32> = {
            let succession = self.succession.borrow();
            let of = succession.heirs.iter().filter(|(_, heir)| heir.follows == Some(era));
            of.map(|(host, _)| *host).collect()
        };
        following.into_iter().for_each(|host| self.hang_up_on(host, era));
    }

    /// The connection of one agent with it ends.
    fn hang_up_on(&self, host: u32, era: u32) {
        let launcher_host = self.launcher_host(era);
        let at = match host == launcher_host {
            true => Some(self.now() + self.between(END_NS)),
            false => self.way_between(launcher_host, host),
        };
        at.into_iter().for_each(|at| self.plan_step(at, Step::Unheard(host, era)));
    }

    /// Whether the process of an era is there, which leads or is to.
    fn has_process_of(&self, era: u32) -> bool {
        let is_to_lead = self.succession.borrow().successors.values().any(|successor| successor.era == era);
        is_to_lead || era == self.era.get() && !self.launcher.borrow().gone
    }

    /// A host has lost its power: nobody is told.
    pub(super) fn lose_host_of_succession(&self, host: u32) {
        let leads = self.launcher_host(self.era.get()) == host;
        {
            let mut succession = self.succession.borrow_mut();
            succession.successors.remove(&host);
            succession.visits.retain(|_, visit| visit.from != host);
            succession.heirs.get_mut(&host).into_iter().for_each(Heir::end);
        }
        if leads && !self.launcher.borrow().gone {
            self.launcher_is_gone();
        }
    }

    /// Whether a host knows how the job has ended, and looks for somebody who is to say so.
    pub(super) fn may_hear_the_end(&self) -> bool {
        self.launcher.borrow().gone
            && self.succession.borrow().heirs.values().any(|heir| heir.knows_the_end(self.era.get()))
    }

    /// What happens to a node goes to whatever its host's agent follows, or waits until there is something.
    pub(super) fn tell_of_host(&self, host: u32, node: u32, event: event::Event) {
        if matches!(event, event::Event::Ended(_)) {
            let mut succession = self.succession.borrow_mut();
            let Some(heir) = succession.heirs.get_mut(&host) else { return };
            if heir.on_end(node) {
                return;
            }
        }
        if self.follows(host).is_some() {
            self.post(Letter::Happened(host, node, event));
        }
    }

    /// Whether a node is told something by an agent, as the first of which its program begins.
    fn is_go(letter: &Letter) -> bool {
        matches!(letter, Letter::ToNode(_, ToNode::Go))
    }
}
