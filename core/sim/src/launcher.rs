//! The launcher of a simulated job: the real coordinator, and the system's part around it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::control_messages::Letter;
use super::fault::Asked;
use talisman_control::agent_watch::Watch;
use talisman_control::coordinator::{Action, Coordinator};
use talisman_control::event::Event;
use talisman_control::outcome::Ended;
use talisman_control::placing::{Room, place_for};
use talisman_control::plan::Plan;
use talisman_job::asking::Request;

/// The process that was started first.
pub(super) struct Launcher {
    coordinator: Coordinator,
    /// Those that have an agent: all but the first, on which the launcher is, or all if the job can do without it.
    hosts: BTreeMap<u32, Host>,
    /// How many processes each host takes.
    slots: Vec<u32>,
    /// The hosts of processes, by their numbers: of those that there are, and of those that a node had last.
    places: BTreeMap<u32, u32>,
    /// Processes that waited, and the nodes that they are by now.
    used: BTreeMap<u32, u32>,
    /// How often it was asked for something.
    asked: u64,
    /// It is no more: killed, or done.
    pub(super) gone: bool,
    /// When it first heard how the job ended.
    pub(super) over_at: Option<Duration>,
}

impl From<Asked> for Request {
    fn from(asked: Asked) -> Self {
        match asked {
            Asked::Checkpoint => Request::Checkpoint,
            Asked::Balance => Request::Balance,
            Asked::Shrink(node) => Request::Shrink(vec![node]),
            Asked::Grow => Request::Grow(None),
        }
    }
}

/// Another host, as the launcher sees it.
struct Host {
    watch: Watch,
    lost: bool,
}

/// What comes of something: letters to send, and lines for people.
#[derive(Default)]
pub(super) struct Deeds {
    pub(super) letters: Vec<Letter>,
    pub(super) said: Vec<String>,
    /// The program's own lines, to standard output.
    pub(super) printed: Vec<String>,
    /// Hosts that are lost.
    pub(super) lost: Vec<u32>,
}

impl Host {
    /// Of this name, with these nodes at the start, and processes that wait.
    fn new(name: &str, nodes: &[u32], spares: Vec<u32>, silence: Duration) -> Self {
        let named = nodes.first().map_or(0..0, |first| *first..first + nodes.len() as u32);
        let left = named.clone().chain(spares);
        Host { watch: Watch::with(name, named, left, silence), lost: false }
    }
}

impl Launcher {
    /// Of a plan whose hosts take so many processes; without a word, as many as they have at the start.
    pub(super) fn new(plan: &Plan, slots: &[u32], coordinator: Coordinator) -> Self {
        let spares = || (plan.nodes..).zip(plan.spare_hosts.iter().copied());
        let host = |(number, nodes): (u32, &Vec<u32>)| {
            let name = plan.names[number as usize].as_deref().unwrap_or("?");
            let waiting = spares().filter(|(_, host)| *host == number).map(|(spare, _)| spare);
            (number, Host::new(name, nodes, waiting.collect(), plan.silence))
        };
        let hosts = (0..).zip(&plan.hosts).skip(1).map(host).collect();
        let nodes = (0..).zip(&plan.hosts);
        let nodes = nodes.flat_map(|(host, nodes)| nodes.iter().map(move |node| (*node, host)));
        let places: BTreeMap<u32, u32> = nodes.chain(spares()).collect();
        let at_start = |host| places.values().filter(|place| **place == host).count() as u32;
        let slots = (0..)
            .zip(&plan.hosts)
            .map(|(host, _)| slots.get(host as usize).copied().unwrap_or(at_start(host)));
        let slots = slots.collect();
        let used = BTreeMap::new();
        Launcher { coordinator, hosts, slots, places, used, asked: 0, gone: false, over_at: None }
    }

    /// The same, with an agent on its own host.
    pub(super) fn with_own_agent(mut self, plan: &Plan) -> Self {
        if let Some(nodes) = plan.hosts.first() {
            let spares = (plan.nodes..).zip(plan.spare_hosts.iter().copied());
            let waiting = spares.filter(|(_, host)| *host == 0).map(|(spare, _)| spare);
            self.hosts.insert(0, Host::new("host0", nodes, waiting.collect(), plan.silence));
        }
        self
    }

    /// One that has taken another's place, with these nodes on the hosts that are left.
    pub(super) fn attached(
        plan: &Plan,
        slots: &[u32],
        coordinator: Coordinator,
        left: &BTreeMap<u32, Vec<u32>>,
    ) -> Self {
        let mut launcher = Launcher::new(plan, slots, coordinator);
        let host = |(number, nodes): (u32, &Vec<u32>)| {
            let there = left.get(&number);
            let named = nodes.first().map_or(0..0, |first| *first..first + nodes.len() as u32);
            let watch = Watch::with(
                &format!("host{number}"),
                named,
                there.into_iter().flatten().copied(),
                plan.silence,
            );
            (number, Host { watch, lost: there.is_none() })
        };
        launcher.hosts = (0..).zip(&plan.hosts).map(host).collect();
        let at =
            |(host, nodes): (&u32, &Vec<u32>)| nodes.iter().map(|node| (*node, *host)).collect::<Vec<_>>();
        launcher.places.extend(left.iter().flat_map(at));
        launcher
    }

    /// Processes that wait, and that nobody needs when all nodes are gone.
    pub(super) fn waiting(&self) -> Vec<u32> {
        self.coordinator.waiting()
    }

    /// Whether all nodes are gone, as far as it knows.
    pub(super) fn is_over(&self) -> bool {
        self.coordinator.is_over()
    }

    /// The exit status, if it is known how the job ends.
    pub(super) fn status(&self) -> Option<i32> {
        self.coordinator.ending().map(|stop| stop.status)
    }

    /// How it ended.
    pub(super) fn into_end(self, now: Duration) -> Ended {
        let wall = self.coordinator.running_for(now);
        Ended { end: self.coordinator.into_end(), wall }
    }

    pub(super) fn on_letter(&mut self, now: Duration, letter: Letter, deeds: &mut Deeds) {
        match letter {
            Letter::Happened(host, node, event) => self.on_event(now, host, node, event),
            Letter::Alive(host)
            | Letter::Listening(host)
            | Letter::Enrolled(host, _)
            | Letter::AreYouThere(host, _) => {
                self.hosts.get_mut(&host).into_iter().for_each(|host| host.watch.heard())
            }
            Letter::Failed(host, why) => self.lose(now, host, &why, deeds),
            Letter::Asked(asked) => {
                self.asked += 1;
                self.coordinator.on_request(now, self.asked, asked.into());
            }
            _ => {}
        }
        self.carry_out(now, deeds);
    }

    /// It looks at deadlines, and whether somebody wants the job to end, with this status.
    pub(super) fn on_time(&mut self, now: Duration, interrupted: Option<i32>, deeds: &mut Deeds) {
        if let Some(status) = interrupted.filter(|_| !self.coordinator.is_ending()) {
            self.coordinator.on_interrupt(now, status);
        }
        self.coordinator.on_time(now);
        self.carry_out(now, deeds);
    }

    /// A tick of its conversation with another host.
    pub(super) fn on_beat(&mut self, now: Duration, number: u32, deeds: &mut Deeds) {
        let Some(host) = self.hosts.get_mut(&number).filter(|host| !host.lost) else { return };
        deeds.letters.push(Letter::Ping(number));
        if let Err(why) = host.watch.on_tick(now) {
            self.lose(now, number, &why, deeds);
        }
        self.carry_out(now, deeds);
    }

    fn on_event(&mut self, now: Duration, host: u32, node: u32, event: Event) {
        if let Some(host) = self.hosts.get_mut(&host) {
            let node = self.used.get(&node).copied().unwrap_or(node);
            host.watch.heard();
            // Nobody listens any more to a host that is lost, nor to a node that has ended.
            if !host.watch.has(node) {
                return;
            }
            if matches!(event, Event::Ended(_) | Event::NotStarted(_)) {
                host.watch.on_end(node);
            }
        }
        self.coordinator.on_event(now, node, event, || false);
    }

    /// Another host is out of reach for good: so are its nodes.
    fn lose(&mut self, now: Duration, number: u32, why: &str, deeds: &mut Deeds) {
        let Some(host) = self.hosts.get_mut(&number).filter(|host| !host.lost) else { return };
        host.lost = true;
        deeds.letters.push(Letter::HangUp(number));
        deeds.lost.push(number);
        let (message, lost) = host.watch.lose(why);
        for node in lost {
            self.coordinator.on_event(now, node, Event::Lost(message.clone()), || false);
        }
    }

    fn carry_out(&mut self, now: Duration, deeds: &mut Deeds) {
        let mut unstarted = Vec::new();
        for action in self.coordinator.take_actions() {
            match action {
                Action::Send(node, message) | Action::SendWhenPrinted(node, message) => {
                    deeds.letters.push(Letter::ToNode(node, message));
                }
                Action::Kill(node) => {
                    self.hosts.values_mut().for_each(|host| host.watch.on_kill(now, node));
                    deeds.letters.push(Letter::Kill(node));
                }
                Action::Start(node) => match self.place_for(node) {
                    Some(host) => {
                        self.places.insert(node, host);
                        self.hosts.get_mut(&host).into_iter().for_each(|host| host.watch.on_start(node));
                        deeds.letters.push(Letter::Start(node, host));
                        self.coordinator.on_placed(node, host);
                    }
                    None => unstarted.push(node),
                },
                Action::Use { spare, node } => {
                    self.use_spare(spare, node);
                    deeds.letters.push(Letter::Use { spare, node });
                }
                Action::Answer(number, answer) => {
                    deeds.said.push(format!("answers request {number}: {answer:?}"))
                }
                Action::Say(line) | Action::Warn(line) => deeds.said.push(line),
                Action::Show(_) => {}
                Action::Print { lines, .. } => deeds.printed.extend(lines),
            }
        }
        if self.coordinator.is_ending() && self.over_at.is_none() {
            self.over_at = Some(now);
        }
        for node in unstarted {
            let why = Event::NotStarted("all hosts of the job are lost".into());
            self.coordinator.on_event(now, node, why, || false);
            self.carry_out(now, deeds);
        }
    }

    /// Where another process of this node is to be started.
    fn place_for(&self, node: u32) -> Option<u32> {
        let is_lost = |host: u32| self.hosts.get(&host).is_some_and(|host| host.lost);
        let at = |host: u32| self.places.iter().filter(move |(_, place)| **place == host);
        let taken = |host| at(host).filter(|(number, _)| !self.used.contains_key(number)).count() as u32;
        let room = |(number, slots): (u32, &u32)| Room {
            number,
            slots: *slots,
            taken: taken(number),
            is_open: *slots > 0 && !is_lost(number),
        };
        let rooms: Vec<Room> = (0..).zip(&self.slots).map(room).collect();
        let former = self.places.get(&node).map(|host| *host as usize);
        place_for(&rooms, former).map(|host| host as u32)
    }

    /// A process that waits is this node from now on.
    fn use_spare(&mut self, spare: u32, node: u32) {
        let Some(host) = self.places.get(&spare).copied() else { return };
        self.places.insert(node, host);
        self.used.insert(spare, node);
        if let Some(host) = self.hosts.get_mut(&host) {
            host.watch.on_end(spare);
            host.watch.on_start(node);
        }
    }
}
