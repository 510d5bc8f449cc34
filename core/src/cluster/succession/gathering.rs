//! Who is left of a job whose launcher is gone, as the process finds out that takes its place.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::TcpListener;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::super::control::{ToLauncher, ToNode, VERSION};
use super::super::heartbeat::{Heartbeat, TICK};
use super::super::local::{Event, Events};
use super::super::printer::Lines;
use super::super::remote::host::{Attached, RemoteHost};
use super::super::remote::message::ToAgent;
use super::super::sites::AttachedHost;
use super::super::takeover::follower::{Follower, Followers};
use super::door::{Newcomer, Newcomers, Pass, Reached, reach};
use super::estate::{Site, Will};
use super::quorum::{Register, Roll};
use super::rolls::Rolls;

/// Those that are left.
pub(super) struct Gathered {
    pub(super) followers: Followers,
    /// Their hosts.
    pub(super) hosts: Vec<AttachedHost>,
    /// What happens to nodes, from what each has said of itself on.
    pub(super) events: Events,
    pub(super) happened: mpsc::UnboundedReceiver<(u32, Event)>,
}

/// Why nobody leads the job.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Alone {
    /// All hosts are there, and the program has begun on none.
    #[error("nothing has begun")]
    NothingHasBegun,
    /// Something else.
    #[error("{0}")]
    Other(String),
}

/// Waits for the agents of all hosts that may be left, and for what their nodes say of themselves; or why the job cannot go on.
///
/// # Errors
/// The system gives no descriptors.
pub(super) async fn gather(
    door: TcpListener,
    will: &Will,
    lines: &Lines,
) -> io::Result<Result<Gathered, Alone>> {
    let pass = Pass::new(&will.estate).map_err(io::Error::other)?;
    let mut newcomers = Newcomers::at(door, pass.clone())?;
    let mut coming = Coming::all(will, &pass, &mut newcomers).await;
    tokio::spawn(turn_away(newcomers));
    if let Err(alone) = coming.may_go_on() {
        for agent in coming.come.values_mut() {
            agent.tell(&ToAgent::Out);
        }
        return Ok(Err(alone));
    }
    Ok(coming.follow(will, pass, lines).await)
}

/// Whoever comes later has been lost.
async fn turn_away(mut newcomers: Newcomers) {
    loop {
        newcomers.next().await.tell(&ToAgent::Out);
    }
}

/// Agents that come.
struct Coming {
    own: u32,
    come: BTreeMap<u32, Newcomer>,
    /// Those whose hosts say that nobody listens there any more.
    dead: BTreeSet<u32>,
    /// The last one that any of them knows.
    roll: Roll,
}

impl Coming {
    async fn all(will: &Will, pass: &Pass, newcomers: &mut Newcomers) -> Self {
        let (own, silence) = (will.estate.rank, will.estate.silence);
        let roll = will.roll.clone();
        let mut coming = Coming { own, come: BTreeMap::new(), dead: BTreeSet::new(), roll };
        // Some may notice the loss so much later, and wait so long for others that are not there.
        let mut patience = Heartbeat::new(silence * 2 + TICK * 8);
        let (proved, mut proofs) = mpsc::unbounded_channel();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !coming.missing().is_empty() {
            tokio::select! {
                newcomer = newcomers.next() => coming.on_come(newcomer),
                Some(rank) = proofs.recv() => drop(coming.dead.insert(rank)),
                _ = ticks.tick() => {
                    coming.come.retain(|_, agent| agent.tell(&ToAgent::Ping));
                    coming.look(pass, &proved);
                    if patience.tick() {
                        break;
                    }
                }
            }
        }
        coming
    }

    fn on_come(&mut self, mut newcomer: Newcomer) {
        if newcomer.orphan.roll.number > self.roll.number {
            self.roll = newcomer.orphan.roll.clone();
        }
        if newcomer.tell(&ToAgent::Ping) {
            self.come.insert(newcomer.orphan.rank, newcomer);
        }
    }

    /// Those that may still come.
    fn missing(&self) -> BTreeSet<u32> {
        let is_missing = |rank: &&u32| !self.come.contains_key(*rank) && !self.dead.contains(*rank);
        self.roll.members.iter().chain([&self.own]).filter(is_missing).copied().collect()
    }

    /// Nobody waits for the dead.
    fn look(&self, pass: &Pass, proved: &mpsc::UnboundedSender<u32>) {
        for rank in self.missing().into_iter().filter(|rank| *rank != self.own) {
            let Some(door) = self.roll.door(rank) else { continue };
            let (pass, proved) = (pass.clone(), proved.clone());
            tokio::spawn(async move {
                if matches!(reach(door, &pass).await, Reached::Dead) {
                    let _ = proved.send(rank);
                }
            });
        }
    }

    fn here(&self) -> BTreeSet<u32> {
        self.come.keys().copied().chain([self.own]).collect()
    }

    /// Whether the program has begun anywhere, as far as that is known: of whoever is not here, nothing is.
    fn has_begun(&self) -> bool {
        let is_here = |rank: &u32| self.come.contains_key(rank);
        !self.roll.members.iter().all(is_here) || self.come.values().any(|agent| agent.orphan.has_begun)
    }

    fn may_go_on(&self) -> Result<(), Alone> {
        let hosts = self.roll.members.difference(&self.dead).count();
        if !self.roll.lets_go_on(&self.here(), &self.dead) {
            return Err(Alone::Other(format!(
                "of {hosts} hosts {} can be reached, and the others may go on without them",
                self.here().len()
            )));
        }
        if self.has_begun() { Ok(()) } else { Err(Alone::NothingHasBegun) }
    }

    /// All nodes say what they are.
    async fn follow(self, will: &Will, pass: Pass, lines: &Lines) -> Result<Gathered, Alone> {
        let settled = self.come.values().find_map(|agent| agent.orphan.settled.clone());
        let unheard = self.come.values().map(|agent| agent.orphan.unheard).min();
        let here = self.here();
        let (register, first) = Register::going_on(self.own, here, self.dead, self.roll);
        let rolls = Rolls::new(register, pass);
        let (events, happened) = mpsc::unbounded_channel();
        let mut hosts = Vec::new();
        for (rank, agent) in self.come {
            let site = will
                .estate
                .sites
                .get(rank as usize)
                .cloned()
                .ok_or_else(|| Alone::Other("a host came that is none of the job's".into()))?;
            let left = agent.orphan.nodes.clone();
            let mut host = attach(agent, site.clone(), will.estate.silence, (rolls.clone(), rank));
            host.start(&events, lines);
            hosts.push(AttachedHost { host, site, left });
        }
        rolls.tell(&first);
        let mut following = Following::new(hosts, happened);
        following.all(will).await;
        let Following { mut followers, hosts, happened, kept, .. } = following;
        settled.into_iter().for_each(|results| followers.settle(results));
        unheard.into_iter().for_each(|unheard| followers.missed_by_hosts(unheard));
        if followers.is_empty() && followers.settled().is_none() {
            return Err(Alone::Other("no node is left".into()));
        }
        Ok(Gathered { followers, hosts, events, happened: after(kept, happened) })
    }
}

fn attach(agent: Newcomer, site: Site, silence: Duration, rolls: (Rolls, u32)) -> RemoteHost {
    let Newcomer { orphan, talk, decoder } = agent;
    RemoteHost::attached(Attached { site, nodes: orphan.nodes, silence, talk, decoder }, rolls)
}

/// Nodes that are asked.
struct Following {
    hosts: Vec<AttachedHost>,
    happened: mpsc::UnboundedReceiver<(u32, Event)>,
    missing: BTreeSet<u32>,
    followers: Followers,
    /// What has happened since to those that have answered.
    kept: Vec<(u32, Event)>,
}

impl Following {
    fn new(hosts: Vec<AttachedHost>, happened: mpsc::UnboundedReceiver<(u32, Event)>) -> Self {
        let missing = hosts.iter().flat_map(|host| host.left.iter().copied()).collect();
        Following { hosts, happened, missing, followers: Followers::default(), kept: Vec::new() }
    }

    /// Whoever does not answer within the time that nodes may be silent is killed.
    async fn all(&mut self, will: &Will) {
        self.each(|host, node| host.send(node, ToNode::Introduce));
        let silence = will.estate.silence;
        let (mut ticks, mut patience) = (interval(TICK), Heartbeat::new(silence));
        let mut last_patience = Heartbeat::new(silence * 2);
        while !self.missing.is_empty() {
            tokio::select! {
                Some((node, event)) = self.happened.recv() => self.on_event(node, event, will.estate.job),
                _ = ticks.tick() => {
                    if patience.tick() {
                        self.each(RemoteHost::kill);
                    }
                    if last_patience.tick() {
                        return;
                    }
                }
            }
        }
    }

    fn each(&self, tell: impl Fn(&RemoteHost, u32)) {
        for AttachedHost { host, left, .. } in &self.hosts {
            left.iter().filter(|node| self.missing.contains(node)).for_each(|node| tell(host, *node));
        }
    }

    fn on_event(&mut self, node: u32, event: Event, job: u64) {
        match event {
            Event::Said(ToLauncher::Follow(follower))
                if self.missing.contains(&node) && is_of(&follower, job, node) =>
            {
                self.missing.remove(&node);
                self.followers.add(*follower);
            }
            event if self.followers.has(node) => self.kept.push((node, event)),
            Event::Ended(_) | Event::Lost(_) | Event::NotStarted(_) => drop(self.missing.remove(&node)),
            // Said to the former launcher.
            _ => {}
        }
    }
}

/// Whether this is what a node of the job says of itself.
fn is_of(follower: &Follower, job: u64, node: u32) -> bool {
    follower.job == job && follower.version == VERSION && follower.node == node
}

/// What happens, after what has happened already.
fn after(
    kept: Vec<(u32, Event)>,
    mut happened: mpsc::UnboundedReceiver<(u32, Event)>,
) -> mpsc::UnboundedReceiver<(u32, Event)> {
    let (again, all) = mpsc::unbounded_channel();
    kept.into_iter().for_each(|event| drop(again.send(event)));
    tokio::spawn(async move {
        while let Some(event) = happened.recv().await {
            let _ = again.send(event);
        }
    });
    all
}
