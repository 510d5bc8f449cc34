//! The launcher of a simulated job: the real conductor, and the system's part around it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::fault::Asked;
use super::letters::Letter;
use crate::cluster::conductor::{Action, Conductor};
use crate::cluster::launcher::Ended;
use crate::cluster::local::Event;
use crate::cluster::plan::Plan;
use crate::cluster::remote::watch::Watch;
use crate::launch::asking::Request;

/// The process that was started first.
pub(super) struct Launcher {
    conductor: Conductor,
    /// The other hosts; the launcher is on host 0.
    hosts: BTreeMap<u32, Host>,
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
            Asked::Shrink(node) => Request::Shrink(vec![node]),
            Asked::Grow => Request::Grow(None),
        }
    }
}

/// Another host, as the launcher sees it.
struct Host {
    nodes: Vec<u32>,
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
}

impl Host {
    fn on_start(&mut self, node: u32) {
        if self.nodes.contains(&node) {
            self.watch.on_start(node);
        }
    }
}

impl Launcher {
    pub(super) fn new(plan: &Plan, conductor: Conductor) -> Self {
        let host = |(number, nodes): (u32, &Vec<u32>)| {
            let name = plan.names[number as usize].as_deref().unwrap_or("?");
            let (first, end) = (nodes[0], nodes[0] + nodes.len() as u32);
            let watch = Watch::new(name, first..end, plan.silence);
            (number, Host { nodes: nodes.clone(), watch, lost: false })
        };
        let hosts = (0..).zip(&plan.hosts).skip(1).map(host).collect();
        Launcher { conductor, hosts, asked: 0, gone: false, over_at: None }
    }

    /// Whether all nodes are gone, as far as it knows.
    pub(super) fn is_over(&self) -> bool {
        self.conductor.is_over()
    }

    /// The exit status, if it is known how the job ends.
    pub(super) fn status(&self) -> Option<i32> {
        self.conductor.ending().map(|stop| stop.status)
    }

    /// How it ended.
    pub(super) fn into_end(self, now: Duration) -> Ended {
        let wall = self.conductor.running_for(now);
        Ended { end: self.conductor.into_end(), wall }
    }

    pub(super) fn on_letter(&mut self, now: Duration, letter: Letter, deeds: &mut Deeds) {
        match letter {
            Letter::Happened(node, event) => self.on_event(now, node, event),
            Letter::Alive(host) => self.hosts.get_mut(&host).into_iter().for_each(|host| host.watch.heard()),
            Letter::Failed(host, why) => self.lose(now, host, &why, deeds),
            Letter::Asked(asked) => {
                self.asked += 1;
                self.conductor.on_request(now, self.asked, asked.into());
            }
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
        if let Err(why) = host.watch.on_tick(now) {
            self.lose(now, number, &why, deeds);
        }
        self.carry_out(now, deeds);
    }

    fn on_event(&mut self, now: Duration, node: u32, event: Event) {
        if let Some(host) = self.hosts.values_mut().find(|host| host.nodes.contains(&node)) {
            host.watch.heard();
            // Nobody listens any more to a host that is lost, nor to a node that has ended.
            if !host.watch.has(node) {
                return;
            }
            if matches!(event, Event::Ended(_) | Event::NotStarted(_)) {
                host.watch.on_end(node);
            }
        }
        self.conductor.on_event(now, node, event, || false);
    }

    /// Another host is out of reach for good: so are its nodes.
    fn lose(&mut self, now: Duration, number: u32, why: &str, deeds: &mut Deeds) {
        let Some(host) = self.hosts.get_mut(&number).filter(|host| !host.lost) else { return };
        host.lost = true;
        deeds.letters.push(Letter::HangUp(number));
        let (message, lost) = host.watch.lose(why);
        for node in lost {
            self.conductor.on_event(now, node, Event::Lost(message.clone()), || false);
        }
    }

    fn carry_out(&mut self, now: Duration, deeds: &mut Deeds) {
        let mut unstarted = Vec::new();
        for action in self.conductor.take_actions() {
            match action {
                Action::Send(node, message) => deeds.letters.push(Letter::ToNode(node, message)),
                Action::Kill(node) => {
                    self.hosts.values_mut().for_each(|host| host.watch.on_kill(now, node));
                    deeds.letters.push(Letter::Kill(node));
                }
                Action::Start(node) if self.can_start(node) => {
                    self.hosts.values_mut().for_each(|host| host.on_start(node));
                    deeds.letters.push(Letter::Start(node));
                }
                Action::Start(node) => unstarted.push(node),
                Action::Use { node, .. } => {
                    unreachable!(
                        "no simulated process waits for a node's place, and node {node} is to have one"
                    )
                }
                Action::Answer(number, answer) => {
                    deeds.said.push(format!("answers request {number}: {answer:?}"))
                }
                Action::Say(line) => deeds.said.push(line),
                Action::Show(_) => {}
                Action::Print(_, lines) => deeds.printed.extend(lines),
            }
        }
        if self.conductor.is_ending() && self.over_at.is_none() {
            self.over_at = Some(now);
        }
        for node in unstarted {
            let why = Event::NotStarted("its host is lost".into());
            self.conductor.on_event(now, node, why, || false);
            self.carry_out(now, deeds);
        }
    }

    /// Whether the host is there on which a node has its processes.
    fn can_start(&self, node: u32) -> bool {
        self.hosts.values().all(|host| !host.nodes.contains(&node) || !host.lost)
    }
}
