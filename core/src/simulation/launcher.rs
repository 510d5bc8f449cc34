//! The launcher of a simulated job: the real conductor, and the system's part around it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::letters::Letter;
use crate::cluster::conductor::{Action, Conductor};
use crate::cluster::heartbeat::Heartbeat;
use crate::cluster::launcher::Ended;
use crate::cluster::local::Event;
use crate::cluster::plan::Plan;

/// So long a node of another host that was killed may take to be gone; otherwise its host is lost.
const KILL_LIMIT: Duration = Duration::from_millis(750);

/// The process that was started first.
pub(super) struct Launcher {
    conductor: Conductor,
    /// The other hosts; the launcher is on host 0.
    hosts: BTreeMap<u32, Host>,
    /// It is no more: killed, or done.
    pub(super) gone: bool,
    /// When it first heard how the job ended.
    pub(super) over_at: Option<Duration>,
}

/// Another host, as the launcher sees it.
struct Host {
    nodes: Vec<u32>,
    /// Nodes that have not ended.
    left: BTreeSet<u32>,
    /// When nodes that were killed have to be gone.
    dying: BTreeMap<u32, Duration>,
    heartbeat: Heartbeat,
    name: String,
    lost: bool,
}

/// What comes of something: letters to send, and lines for people.
#[derive(Default)]
pub(super) struct Deeds {
    pub(super) letters: Vec<Letter>,
    pub(super) said: Vec<String>,
}

impl Launcher {
    pub(super) fn new(plan: &Plan, conductor: Conductor) -> Self {
        let host = |(number, nodes): (u32, &Vec<u32>)| {
            let host = Host {
                nodes: nodes.clone(),
                left: nodes.iter().copied().collect(),
                dying: BTreeMap::new(),
                heartbeat: Heartbeat::new(plan.silence),
                name: format!("host {}", plan.names[number as usize].as_deref().unwrap_or("?")),
                lost: false,
            };
            (number, host)
        };
        let hosts = (0..).zip(&plan.hosts).skip(1).map(host).collect();
        Launcher { conductor, hosts, gone: false, over_at: None }
    }

    /// Whether all nodes are gone, as far as it knows.
    pub(super) fn is_over(&self) -> bool {
        self.conductor.is_over()
    }

    /// How it ended.
    pub(super) fn into_end(self, now: Duration) -> Ended {
        let wall = self.conductor.running_for(now);
        let (stop, reports, steps) = self.conductor.into_end();
        Ended { stop, reports, steps, wall }
    }

    pub(super) fn on_letter(&mut self, now: Duration, letter: Letter, deeds: &mut Deeds) {
        match letter {
            Letter::Happened(node, event) => self.on_event(now, node, event),
            Letter::Alive(host) => {
                self.hosts.get_mut(&host).into_iter().for_each(|host| host.heartbeat.heard())
            }
            Letter::HungUp(host) => self.lose(now, host, "the connection with it ended", deeds),
            _ => {}
        }
        self.carry_out(now, deeds);
    }

    /// It looks at deadlines, and whether somebody wants the job to end, with this status.
    pub(super) fn on_time(&mut self, now: Duration, interrupted: Option<i32>, deeds: &mut Deeds) {
        if let Some(status) = interrupted.filter(|_| !self.conductor.is_ending()) {
            self.conductor.on_interrupt(now, status);
        }
        self.conductor.on_time(now);
        self.carry_out(now, deeds);
    }

    /// A tick of its conversation with another host.
    pub(super) fn on_beat(&mut self, now: Duration, number: u32, deeds: &mut Deeds) {
        let Some(host) = self.hosts.get_mut(&number).filter(|host| !host.lost) else { return };
        deeds.letters.push(Letter::Ping(number));
        if host.heartbeat.tick() {
            self.lose(now, number, "it said nothing for too long", deeds);
        } else if host.dying.values().any(|by| *by <= now) {
            self.lose(now, number, "it does not kill its nodes when told to", deeds);
        }
        self.carry_out(now, deeds);
    }

    fn on_event(&mut self, now: Duration, node: u32, event: Event) {
        if let Some(host) = self.hosts.values_mut().find(|host| host.nodes.contains(&node)) {
            host.heartbeat.heard();
            // Nobody listens any more to a host that is lost, nor to a node that has ended.
            if !host.left.contains(&node) {
                return;
            }
            if matches!(event, Event::Ended(_) | Event::NotStarted(_)) {
                host.left.remove(&node);
                host.dying.remove(&node);
            }
        }
        self.conductor.on_event(now, node, event, || false);
    }

    /// Another host is out of reach for good: so are its nodes.
    fn lose(&mut self, now: Duration, number: u32, why: &str, deeds: &mut Deeds) {
        let Some(host) = self.hosts.get_mut(&number).filter(|host| !host.lost) else { return };
        host.lost = true;
        deeds.letters.push(Letter::HangUp(number));
        let why = format!("{}: {why}", host.name);
        for node in std::mem::take(&mut host.left) {
            self.conductor.on_event(now, node, Event::Lost(why.clone()), || false);
        }
    }

    fn carry_out(&mut self, now: Duration, deeds: &mut Deeds) {
        for action in self.conductor.take_actions() {
            match action {
                Action::Send(node, message) => deeds.letters.push(Letter::ToNode(node, message)),
                Action::Kill(node) => {
                    self.expect_end(now, node);
                    deeds.letters.push(Letter::Kill(node));
                }
                Action::Say(line) => deeds.said.push(line),
                Action::Show(_) => {}
            }
        }
        if self.conductor.is_ending() && self.over_at.is_none() {
            self.over_at = Some(now);
        }
    }

    fn expect_end(&mut self, now: Duration, node: u32) {
        if let Some(host) = self.hosts.values_mut().find(|host| host.left.contains(&node)) {
            host.dying.entry(node).or_insert(now + KILL_LIMIT);
        }
    }
}
